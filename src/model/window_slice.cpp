#include "model/window_slice.hpp"

#include <algorithm>

namespace kalmia::model {

template <typename T>
WindowSlice<T>::WindowSlice(const WindowModel<T>& model, const WindowInput<T>& whole, int begin,
                            int end)
    : input_(whole) {
  const Architecture& arch = *model.architecture;
  const auto skip = [&](auto& panel, int rows) {
    if (panel != nullptr) panel += static_cast<std::ptrdiff_t>(begin) * rows * whole.lanes;
  };
  const int N = arch.state_dim(), M = arch.meas_dim();
  input_.steps = end - begin;
  skip(input_.input_fwd, arch.options.input_dim);
  skip(input_.input_bwd, arch.options.input_dim);
  for (const double** panel : {&input_.y, &input_.observed, &input_.weight}) skip(*panel, M);
  for (const double** panel : {&input_.centre, &input_.trust, &input_.prior_x}) skip(*panel, N);
  skip(input_.linearise, 2 * N);
  skip(input_.prior_P, N * N);
  for (const T** panel : {&input_.gain_offset, &input_.gain_square, &input_.gain_product})
    skip(*panel, arch.options.gains);
  for (const double** panel : {&input_.score, &input_.dt, &input_.lost}) skip(*panel, 1);
  skip(input_.u, model.map == nullptr ? 0 : model.map->input_dim());
  for (int lane = 0; lane < whole.lanes; ++lane) {
    const int length = whole.length == nullptr ? whole.steps : whole.length[lane];
    const bool fresh = whole.fresh == nullptr || whole.fresh[lane] != 0;
    length_.push_back(std::clamp(length - begin, 0, end - begin));
    fresh_.push_back(begin == 0 && fresh ? 1 : 0);
  }
  input_.length = length_.data();
  input_.fresh = fresh_.data();
}

WindowMoments moments_from(const WindowMoments& whole, int begin, int N, int lanes) {
  WindowMoments part;
  const auto from = [&](double* panel, int rows) {
    return panel == nullptr ? nullptr : panel + static_cast<std::ptrdiff_t>(begin) * rows * lanes;
  };
  part.x_pred = from(whole.x_pred, N);
  part.P_pred = from(whole.P_pred, N * N);
  part.x_filt = from(whole.x_filt, N);
  part.P_filt = from(whole.P_filt, N * N);
  part.F = from(whole.F, N * N);
  part.Q = from(whole.Q, N * N);
  part.nll = from(whole.nll, 1);
  return part;
}

template class WindowSlice<float>;
template class WindowSlice<double>;

}  // namespace kalmia::model
