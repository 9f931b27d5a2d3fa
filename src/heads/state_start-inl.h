// Lanes that are no ordinary step: a series that starts has the initial state, one past its end
// keeps what it has. For one line of lanes.

#if defined(KALMIA_HEADS_STATE_START_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_STATE_START_INL_H_
#undef KALMIA_HEADS_STATE_START_INL_H_
#else
#define KALMIA_HEADS_STATE_START_INL_H_
#endif

#include "heads/state_line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

/// Which lanes of a line start their series at a step, and which are past their end.
struct LaneExceptions {
  bool any = false;
  LineMask<double> fresh;
  LineMask<double> ended;
};

template <typename T>
class StateStart {
 public:
  static constexpr int kLanes = kLineLanes<double>;
  using D = Line<double>;

  /// `has_start`: a series begins with the initial state.
  StateStart(const InitialState& initial, const engine::NetworkInput<T>& in, int first_lane,
             bool has_start)
      : initial_(initial), in_(in), first_(first_lane), has_start_(has_start) {}

  LaneExceptions exceptions_at(int k) const {
    LaneExceptions result;
    const bool first_step = k == 0;
    if (!first_step && in_.length == nullptr) return result;
    alignas(kLineBytes) double fresh[kLanes], ended[kLanes];
    for (int b = 0; b < kLanes; ++b) {
      const int lane = first_ + b;
      ended[b] = k >= in_.lane_length(lane) ? 1.0 : 0.0;
      fresh[b] = first_step && ended[b] == 0.0 && has_start_ && in_.lane_fresh(lane) ? 1.0 : 0.0;
      result.any = result.any || fresh[b] != 0 || ended[b] != 0;
    }
    result.fresh = nonzero(load(fresh));
    result.ended = nonzero(load(ended));
    return result;
  }

  /// Sets e (N lines) and L (packed) of a lane that starts to the initial state's, of one past its
  /// end to 0.
  void override_state(const LaneExceptions& except, int N, double* e, double* L) const {
    const D none = zero<double>();
    for (int i = 0; i < N; ++i) {
      const D started = select(except.fresh, broadcast(initial_.e[static_cast<std::size_t>(i)]),
                               load(e + i * kLanes));
      store(select(except.ended, none, started), e + i * kLanes);
    }
    for (int i = 0; i < lanes::triangle_size(N); ++i) {
      const D started = select(except.fresh, broadcast(initial_.L[static_cast<std::size_t>(i)]),
                               load(L + i * kLanes));
      store(select(except.ended, none, started), L + i * kLanes);
    }
  }
  /// Its adjoint: to the initial state (lanes that start; d_initial has lines of e, then of L) or
  /// nowhere (lanes past their end).
  void take_adjoints(const LaneExceptions& except, const LineMask<double>& lane_ok, int N,
                     double* d_e, double* d_L, double* d_initial) const {
    for (int i = 0; i < N; ++i) move(except, lane_ok, d_e + i * kLanes, d_initial + i * kLanes);
    for (int i = 0; i < lanes::triangle_size(N); ++i)
      move(except, lane_ok, d_L + i * kLanes, d_initial + (N + i) * kLanes);
  }
  /// Clears an adjoint of what was overridden.
  static void clear(const LaneExceptions& except, double* line) {
    const D none = zero<double>();
    store(select(except.fresh, none, select(except.ended, none, load(line))), line);
  }

 private:
  static void move(const LaneExceptions& except, const LineMask<double>& lane_ok, double* line,
                   double* sum) {
    const D none = zero<double>();
    store(load(sum) + select(lane_ok, select(except.fresh, load(line), none), none), sum);
    clear(except, line);
  }

  const InitialState& initial_;
  const engine::NetworkInput<T>& in_;
  const int first_;
  const bool has_start_;
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
