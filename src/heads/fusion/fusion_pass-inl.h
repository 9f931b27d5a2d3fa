// What the future adds to a filter, for one line of lanes (8 sequences, in double).
//
// The filter's prediction N(x_pred, P_pred) of x[k] has seen y[<k]. An encoder that runs backwards
// in time has seen y[>k]; decoded, it is a virtual measurement of x[k],
//
//   z = x + N(0, (U U')^-1),   or   U' z = U' x + N(0, I),   z = c + e,
//
// about a centre c made of y[>k]. Fusing the two by the Kalman update gives the prediction of x[k]
// from all of y but y[k], and updating that with y[k] the smoothed state:
//
//   N(x_fuse, P_fuse) = update of N(x_pred, P_pred) with w = U' (z - x_pred), H = U', R = I
//   N(x, P)           = update of N(x_fuse, P_fuse) with y[k];   nll of y[k] under the fused one
//
// Nothing that predicts y[k] has seen it. The filter goes on from its own state, so nothing leaks
// from step to step. For a linear Gaussian system it can be exact: U U' is then the information
// that the future has of x[k].

#if defined(KALMIA_HEADS_FUSION_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_FUSION_PASS_INL_H_
#undef KALMIA_HEADS_FUSION_PASS_INL_H_
#else
#define KALMIA_HEADS_FUSION_PASS_INL_H_
#endif

#include <algorithm>

#include "heads/fusion/fusion.hpp"
#include "heads/state_line-inl.h"
#include "kalman/general_update-inl.h"
#include "kalman/step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

namespace step = kalman::HWY_NAMESPACE;

/// One line of lanes of a window. Holds no data of its own: views of the input and the workspace.
/// Steps have no memory but the encoder's, so backward computes them again.
template <typename T>
class FusionPass : private FusionLines {
 public:
  static constexpr int kLanes = kLineLanes<double>;
  using D = Line<double>;

  /// `first` is the first lane of the line.
  FusionPass(const FusionModel<T>& model, const FusionInput<T>& in, FusionWorkspace<T>& ws,
             int first)
      : model_(model),
        arch_(*model.architecture),
        in_(in),
        ws_(ws),
        line_{in, in, ws, first},
        N_(arch_.state_dim()),
        M_(arch_.meas_dim()),
        rows_(arch_, ws.training),
        taker_(ws.line_scratch.data()) {
    const int none = fusion_zeros(model);
    lay_out(taker_, N_, M_, none, model.parameters);
    for (int i = 0; i < none; ++i) store(zero<double>(), none_ + i * kLanes);
  }
  FusionPass(const FusionPass&) = delete;

  void begin_forward(const FusionCarry<T>&) { line_.clear_likelihood(); }
  void end_forward(FusionCarry<T>&) const {}
  void end_backward() const {}

  /// Steps begin..end-1.
  void forward(int begin, int end, const StateMoments& out) {
    D total = load(ws_.lane_nll.data() + line_.first);
    for (int k = begin; k < end; ++k) {
      const lanes::LaneBits failed = fuse(k);
      total = total + load(nll_);
      line_.note_failures(k, load(nll_), failed);
      line_.write_step(x_fuse_, N_, out.x_pred, k);
      line_.write_step(P_fuse_, N_ * N_, out.P_pred, k);
      line_.write_step(x_, N_, out.x_filt, k);
      line_.write_step(P_, N_ * N_, out.P_filt, k);
      line_.write_step(nll_, 1, out.nll, k);
    }
    store(total, ws_.lane_nll.data() + line_.first);
  }

  /// Adjoint of `forward` for scale * (sum of nll): leaves the adjoints of the decoder's output in
  /// the records. R and the filter's moments are given.
  void backward(int begin, int end, double scale) {
    alignas(kLineBytes) double ok[kLanes];
    for (int b = 0; b < kLanes; ++b)
      ok[b] = ws_.lane_ok[static_cast<std::size_t>(line_.first + b)] != 0 ? scale : 0.0;
    double* d_nll = nll_ + kLanes;
    double* no_loss = nll_ + 2 * kLanes;
    for (int k = end - 1; k >= begin; --k) {
      static_cast<void>(fuse(k));
      store(load(ok), d_nll);
      store(zero<double>(), no_loss);
      for (int i = 0; i < N_; ++i) store(zero<double>(), d_x_ + i * kLanes);
      for (int i = 0; i < N_ * N_; ++i) store(zero<double>(), d_P_ + i * kLanes);
      for (int i = 0; i < M_ * M_; ++i) store(zero<double>(), d_R_ + i * kLanes);
      general_update().backward(point(x_fuse_), y_, observed_, line_.read_weight(k, M_, weight_),
                                P_fuse_, P_, tape_, d_nll, d_x_, d_P_, d_x_pred_, d_P_pred_, d_R_,
                                d_theta_);
      // d_x_pred_ and d_P_pred_ are the adjoints of the fused prediction now.
      for (int i = 0; i < N_; ++i) store(load(d_x_pred_ + i * kLanes), d_x_ + i * kLanes);
      for (int i = 0; i < N_ * N_; ++i) store(load(d_P_pred_ + i * kLanes), d_P_ + i * kLanes);
      step::update_backward_call(virtual_emission(), nullptr, P_fuse_, virtual_tape_, no_loss, d_x_,
                                 d_P_, d_x_pred_, d_P_pred_, d_w_, d_U_t_, nullptr, scratch_);
      write_adjoints(k, nonzero(load(ok)));
    }
  }

 private:
  kalman::MapPoint point(const double* x) const {
    return {x, none_, none_, model_.theta};  // an emission reads neither step nor inputs
  }
  step::GeneralUpdate general_update() const {
    return {{model_.emission, model_.emission_map, model_.robust},
            general_lines_,
            ws_.map_scratch.data()};
  }
  step::LaneEmission<double> virtual_emission() const { return {N_, N_, U_t_, unit_, none_}; }

  // Computes step k. A lane whose series starts here (ends, in the user's time) has no future, and
  // one past its end nothing at all: U = 0. So has a state whose centre is not finite.
  lanes::LaneBits fuse(int k) {
    line_.read_panel(in_.prior_x + k * line_.panel(N_), N_, x_pred_);
    line_.read_panel(in_.prior_P + k * line_.panel(N_ * N_), N_ * N_, P_pred_);
    observed_ = line_.read_measurement(k, M_, y_, observed_lines_);
    read_virtual(k);
    const lanes::LaneBits first_failed =
        step::update_call(virtual_emission(), w_, static_cast<const double*>(nullptr), x_pred_,
                          P_pred_, x_fuse_, P_fuse_, nll_, virtual_tape_, scratch_);
    return first_failed | general_update().forward(point(x_fuse_), nullptr, y_, observed_,
                                                   line_.read_weight(k, M_, weight_), P_fuse_, x_,
                                                   P_, nll_, tape_);
  }

  // Sets known_, z_ - x_pred (in z_), U' and w = U' (z - x_pred).
  void read_virtual(int k) const {
    const T* record = line_.record(rows_, k);
    const T* out = record + line_.panel(rows_.out) + line_.first;
    const T* diag = record + line_.panel(rows_.positive) + line_.first;
    alignas(kLineBytes) double live[kLanes];
    for (int b = 0; b < kLanes; ++b) {
      const bool none =
          k >= in_.lane_length(line_.first + b) || (k == 0 && in_.lane_fresh(line_.first + b));
      live[b] = none ? 0.0 : 1.0;
    }
    const D infinity = broadcast(std::numeric_limits<double>::infinity());
    const D nothing = zero<double>();
    for (int i = 0; i < N_; ++i) {
      const D c = in_.centre == nullptr
                      ? nothing
                      : load(in_.centre + k * line_.panel(N_) + line_.panel(i) + line_.first);
      const LineMask<double> known = greater(infinity, abs(c));
      store(select(known, load(live), nothing), known_ + i * kLanes);
      const D z = c + load_as<double>(out + line_.panel(arch_.e_row() + i));
      const D difference = z - load(x_pred_ + i * kLanes);
      store(select(nonzero(load(known_ + i * kLanes)), difference, nothing), z_ + i * kLanes);
      for (int j = 0; j < N_; ++j) {
        D u = nothing;
        if (j < i)
          u = load_as<double>(out + line_.panel(arch_.L_row() + lanes::triangle_index(i, j)));
        else if (j == i)
          u = load_as<double>(diag + line_.panel(i));
        store(select(nonzero(load(known_ + i * kLanes)), u, nothing), U_t_ + (j * N_ + i) * kLanes);
        store(broadcast(i == j ? 1.0 : 0.0), unit_ + (i * N_ + j) * kLanes);
      }
    }
    step::ln::multiply_vec<lanes::Put::Set, double>(N_, N_, U_t_, z_, w_);
  }

  // From d_w and d_U' to the decoder's outputs: w = U' d, d = z - x_pred, so
  //   d_e = U d_w,   d_U = d_U_t' + d d_w'.
  void write_adjoints(int k, const LineMask<double>& ok) const {
    T* record = line_.record(rows_, k);
    T* out = record + line_.panel(rows_.out) + line_.first;
    const D nothing = zero<double>();
    const auto masked = [&](int i, const D& value) HWY_ATTR {
      return select(ok, select(nonzero(load(known_ + i * kLanes)), value, nothing), nothing);
    };
    for (int i = 0; i < N_; ++i) {
      D d_e = nothing;
      for (int j = 0; j < N_; ++j) {
        const D d_w = load(d_w_ + j * kLanes);
        d_e = fma(load(U_t_ + (j * N_ + i) * kLanes), d_w, d_e);
        if (j > i) continue;
        const D d_U = fma(load(z_ + i * kLanes), d_w, load(d_U_t_ + (j * N_ + i) * kLanes));
        T* to = j < i ? out + line_.panel(arch_.L_row() + lanes::triangle_index(i, j))
                      : record + line_.panel(rows_.positive + i) + line_.first;
        store_as(masked(i, d_U), to);
      }
      store_as(masked(i, d_e), out + line_.panel(arch_.e_row() + i));
    }
  }

  const FusionModel<T>& model_;
  const Architecture& arch_;
  const FusionInput<T>& in_;
  FusionWorkspace<T>& ws_;
  const StateLine<T> line_;
  const int N_, M_;
  const RecordRows rows_;
  lanes::LineTaker<double> taker_;    // of ws.line_scratch
  const double* observed_ = nullptr;  // null: all of y
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
