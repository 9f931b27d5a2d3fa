#include "engine/network_pass_head.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/network_pass_head.cpp"
#include <hwy/foreach_target.h>

#include <type_traits>

#include "engine/window-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

template <typename T>
struct RowPass {
  const RowInput<T>& in;
  RowWorkspace<T>& ws;
  const engine::NetworkLayout& layout;
  const engine::RecordRows rows;

  RowPass(const RowModel<T>& model, const RowInput<T>& input, RowWorkspace<T>& workspace)
      : in(input), ws(workspace), layout(*model.architecture), rows(layout, ws.training) {}

  int count() const { return layout.output_rows() + static_cast<int>(layout.rows.positive.size()); }
  // The positive rows follow the others on the record.
  T* row(int k, int index) const {
    return ws.records.data() +
           (static_cast<std::ptrdiff_t>(k) * rows.total + rows.out + index) * in.lanes;
  }
  T weight(int k, int index, int lane) const {
    // A row that is positive counts where the positive rows are.
    if (std::ranges::find(layout.rows.positive, index) != layout.rows.positive.end()) return T(0);
    const bool counts = k < in.lane_length(lane) && ws.lane_ok[static_cast<std::size_t>(lane)] != 0;
    return counts ? in.weight[(static_cast<std::ptrdiff_t>(k) * count() + index) * in.lanes + lane]
                  : T(0);
  }

  void begin_forward(const RowCarry<T>&) const {
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(in.lanes); ++lane) {
      ws.lane_nll[lane] = 0;
      ws.failed_step[lane] = -1;
      ws.lane_ok[lane] = 1;
    }
  }
  void forward(int begin, int end, const RowResults<T>& results) const {
    for (int k = begin; k < end; ++k)
      for (int i = 0; i < count(); ++i)
        for (int lane = 0; lane < in.lanes; ++lane) {
          const T value = row(k, i)[lane];
          ws.lane_nll[static_cast<std::size_t>(lane)] +=
              static_cast<double>(value) * static_cast<double>(weight(k, i, lane));
          if (results.rows != nullptr)
            results.rows[(static_cast<std::ptrdiff_t>(k) * count() + i) * in.lanes + lane] = value;
        }
  }
  void end_forward(RowCarry<T>&) const {}
  // A row that is positive takes its adjoint where the positive rows are.
  void backward(int begin, int end, double scale) const {
    for (int k = begin; k < end; ++k)
      for (int lane = 0; lane < in.lanes; ++lane) {
        for (std::size_t p = 0; p < layout.rows.positive.size(); ++p)
          row(k, layout.output_rows() + static_cast<int>(p))[lane] =
              static_cast<T>(scale) * weight(k, layout.output_rows() + static_cast<int>(p), lane);
        for (int i = 0; i < layout.output_rows(); ++i)
          if (std::ranges::find(layout.rows.positive, i) == layout.rows.positive.end())
            row(k, i)[lane] = static_cast<T>(scale) * weight(k, i, lane);
      }
  }
  void end_backward() const {}
};

template <typename T>
struct RowChoice {
  template <typename Task>
  static void with_pass(const RowModel<T>&, const Task& task) {
    task(std::type_identity<RowPass<T>>());
  }
};

const engine::WindowKernels<RowHead<float>>& rows_float() {
  return engine::HWY_NAMESPACE::window_kernels<RowHead<float>, RowChoice<float>>();
}
const engine::WindowKernels<RowHead<double>>& rows_double() {
  return engine::HWY_NAMESPACE::window_kernels<RowHead<double>, RowChoice<double>>();
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::test {

HWY_EXPORT(rows_float);
HWY_EXPORT(rows_double);

template <typename T>
const engine::WindowKernels<RowHead<T>>& RowHead<T>::kernels(const Model&) {
  if constexpr (sizeof(T) == sizeof(float))
    return HWY_DYNAMIC_DISPATCH(rows_float)();
  else
    return HWY_DYNAMIC_DISPATCH(rows_double)();
}

template struct RowHead<float>;
template struct RowHead<double>;

}  // namespace kalmia::test
#endif
