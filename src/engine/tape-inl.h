// What encoders and decoder share over a window: where things lie on the networks' tape, and the
// sums of their weight gradients.

#if defined(KALMIA_ENGINE_TAPE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_ENGINE_TAPE_INL_H_
#undef KALMIA_ENGINE_TAPE_INL_H_
#else
#define KALMIA_ENGINE_TAPE_INL_H_
#endif

#include <algorithm>

#include "engine/network_pass-inl.h"
#include "lanes/dense-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::engine::HWY_NAMESPACE {

/// Views of the records of a window (records.hpp) and of the sums of weight gradients.
template <typename T>
struct Tape {
  const NetworkLayout& layout;
  const PackedNetwork<T>& weights;
  const NetworkInput<T>& in;
  NetworkWorkspace<T>& ws;
  const RecordRows rows;
  const int units;            // hidden units of an encoder
  const std::ptrdiff_t step;  // from one record to the next

  Tape(const NetworkLayout& of, const PackedNetwork<T>& packed, const NetworkInput<T>& input,
       NetworkWorkspace<T>& workspace)
      : layout(of),
        weights(packed),
        in(input),
        ws(workspace),
        rows(layout, ws.training),
        units(layout.networks.hidden),
        step(static_cast<std::ptrdiff_t>(rows.total) * in.lanes) {}

  std::ptrdiff_t panel(int count) const { return static_cast<std::ptrdiff_t>(count) * in.lanes; }
  T* at(int k) const { return ws.records.data() + k * step; }

  /// Copies one lane of a panel of `count` rows from `from`, or clears it.
  void set_lane(T* to, int count, int lane, const T* from) const {
    for (int row = 0; row < count; ++row)
      to[panel(row) + lane] = from == nullptr ? T(0) : from[panel(row) + lane];
  }
  void add(const T* from, int count, T* to) const {
    for (std::ptrdiff_t i = 0; i < panel(count); i += kLineLanes<T>)
      store(load(to + i) + load(from + i), to + i);
  }

  // Where a parameter's gradient is summed: a line a number (narrow: input weights and biases), or
  // the matrix with its rows padded to lines (wide, which needs less room).
  T* sums(std::ptrdiff_t parameter) const { return ws.sums.data() + parameter * kLineLanes<T>; }

  /// Adds the sums to ws.gradient and clears them.
  void collect_narrow(std::ptrdiff_t parameter, std::ptrdiff_t count) const {
    sum_lines(sums(parameter), count, ws.gradient.data() + parameter);
  }
  void collect_wide(std::ptrdiff_t parameter, int height, int cols) const {
    const std::ptrdiff_t stride = lanes::padded_to_line<T>(cols);
    T* from = sums(parameter);
    T* to = ws.gradient.data() + parameter;
    for (int i = 0; i < height; ++i)
      for (int j = 0; j < cols; ++j) to[i * cols + j] += from[i * stride + j];
    std::fill_n(from, height * stride, T(0));
  }
  /// The same gradient for `count` numbers that enter as a sum with those at `parameter`.
  void share_gradient(std::ptrdiff_t parameter, int count, std::ptrdiff_t with) const {
    std::copy_n(ws.gradient.data() + parameter, count, ws.gradient.data() + with);
  }

  /// Panels of features, transposed, one after another.
  struct Transposed {
    T* first;
    std::ptrdiff_t stride;  // from one lane to the next
    std::ptrdiff_t step;    // from one time step to the next
  };
  Transposed transposed_place(int features) const {
    const std::ptrdiff_t stride = lanes::padded_to_line<T>(features);
    return {ws.transposed.data(), stride, stride * in.lanes};
  }
  void put_transposed(const T* from, int features, const Transposed& place, int index) const {
    transpose(from, features, in.lanes, place.first + index * place.step, place.stride);
  }
  /// d_W (height x cols) += a b' over `steps` steps.
  void wide_gradient(std::ptrdiff_t weight, const PanelSeries<T>& a, int height, const T* b_T,
                     const Transposed& place, int cols, int steps) const {
    outer_product_wide<T>(a, height, {b_T, place.step}, place.stride,
                          lanes::padded_to_line<T>(cols), steps, in.lanes, sums(weight));
  }
  /// d_W (height x cols) += a b' over up to kChunkSteps steps, for what an encoder reads:
  /// transposes b to ws.encoder_T first.
  void encoder_gradient(std::ptrdiff_t weight, const PanelSeries<T>& a, int height,
                        const PanelSeries<T>& b, int cols, int steps) const {
    const std::ptrdiff_t stride = lanes::padded_to_line<T>(cols);
    const Transposed place{ws.encoder_T.data(), stride, stride * in.lanes};
    for (int t = 0; t < steps; ++t) put_transposed(b.first + t * b.step, cols, place, t);
    wide_gradient(weight, a, height, place.first, place, cols, steps);
  }
};

/// One direction of the networks over a window: the order of its steps, its inputs and its lanes.
template <typename T>
struct Sweep {
  const NetworkInput<T>& in;
  const T* input;        // of step 0
  std::ptrdiff_t panel;  // from one step's input to the next
  bool backward;

  Sweep(const Tape<T>& tape, bool backward_in_time)
      : in(tape.in),
        input(backward_in_time ? in.input_bwd : in.input_fwd),
        panel(tape.panel(tape.layout.networks.input_dim)),
        backward(backward_in_time) {}

  const T* input_at(int k) const { return input + k * panel; }

  /// Step k is where the lane's sweep starts (or, backward, before that): its state is zero after
  /// it. Alg. 1 starts with h[0] = 0; h_bwd is zero at the last step of a lane.
  bool starts(int k, int lane) const {
    return backward ? k + 1 >= in.lane_length(lane) : k == 0 && in.lane_fresh(lane);
  }
  /// A lane past its end keeps its state.
  bool holds(int k, int lane) const { return !backward && k >= in.lane_length(lane); }
  /// Whether any lane may start or hold at step k.
  bool exceptional(int k) const {
    return in.length != nullptr || (backward ? k + 1 == in.steps : k == 0);
  }
  /// Which step of the sweep k is: 0 is the first.
  int position(int k) const { return backward ? in.steps - 1 - k : k; }
  /// Clears the lanes of a panel that start at step k.
  void clear_starting(const Tape<T>& tape, int k, T* to, int rows) const {
    for (int lane = 0; lane < in.lanes && exceptional(k); ++lane)
      if (starts(k, lane)) tape.set_lane(to, rows, lane, nullptr);
  }
};

}  // namespace kalmia::engine::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
