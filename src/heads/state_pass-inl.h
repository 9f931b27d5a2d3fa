// A window of states for one line of lanes (8 sequences, in double): from the decoder's output rows
// to the likelihood, and back.

#if defined(KALMIA_HEADS_STATE_PASS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_STATE_PASS_INL_H_
#undef KALMIA_HEADS_STATE_PASS_INL_H_
#else
#define KALMIA_HEADS_STATE_PASS_INL_H_
#endif

#include "engine/window-inl.h"
#include "heads/recursion/alternative-inl.h"
#include "heads/state_line-inl.h"
#include "heads/state_start-inl.h"
#include "kalman/general_update-inl.h"
#include "kalman/saturate-inl.h"
#include "kalman/step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

using kalman::UpdateTape;
namespace step = kalman::HWY_NAMESPACE;

/// One line of lanes of a window. Holds no data of its own: views of the input and the workspace.
/// TransitionOf (Transition, DirectTransition) reads F, e and Q of a step from the rows. With kN
/// and kM the class is made for these numbers of states and measurements, else for any.
template <typename T, typename TransitionOf, int kN = 0, int kM = 0>
class StatePass : private StateLines {
 public:
  static constexpr int kLanes = kLineLanes<double>;
  using D = Line<double>;

  /// `first` is the first lane of the line.
  StatePass(const StateModel<T>& model, const StateInput<T>& in, StateWorkspace<T>& ws, int first)
      : model_(model),
        in_(in),
        ws_(ws),
        line_{in, in, ws, first},
        n_(model.architecture->state_dim()),
        m_(model.architecture->meas_dim()),
        entries_(n_, m_),
        emission_(model.emission->view()),
        taker_(ws.line_scratch.data()),
        transition_(model, in, ws, line_, taker_) {
    lay_out(taker_, N(), M(), parameters());
    if constexpr (TransitionOf::kRecursive)
      if (alternative())
        alternative_lines_ = taker_.take(lanes::count_lines<AlternativeLines>(N(), M()));
    if (ws.training) adjoint_ = ws.line_adjoints.data() + first / kLanes * adjoint_lines() * kLanes;
  }
  StatePass(const StatePass&) = delete;  // the transition refers to the line

  /// Takes the state before the window from the carry (panels). A lane that starts here has none:
  /// what the carry holds for it may be that of a run that broke down.
  void begin_forward(const StateCarry<T>& carry) {
    line_.read_panel(carry.x.data(), N(), slot_at(0));
    line_.read_panel(carry.P.data(), N() * N(), P_of(slot_at(0)));
    for (int b = 0; b < kLanes; ++b)
      for (int i = 0; i < N() + N() * N() && in_.lane_fresh(line_.first + b); ++i)
        slot_at(0)[i * kLanes + b] = 0;
    line_.clear_likelihood();
  }

  /// The same from numbers, for a single sequence: every lane of the line gets them.
  void begin_forward_single(const double* x, const double* P) {
    for (int i = 0; i < N(); ++i) store(broadcast(x[i]), slot_at(0) + i * kLanes);
    for (int i = 0; i < N() * N(); ++i) store(broadcast(P[i]), P_of(slot_at(0)) + i * kLanes);
    line_.clear_likelihood();
  }

  /// Steps begin..end-1.
  void forward(int begin, int end, const StateMoments& out) {
    D total = load(ws_.lane_nll.data() + line_.first);
    for (int k = begin; k < end; ++k) {
      double* slot = slot_at(k);
      double* next = slot_at(k + 1);
      transition_.read(k, slot);
      if (predict(k, slot))
        step::saturate_transition<double>(N(), gain_, transition_.F, transition_.Q);
      const double* observed = line_.read_measurement(k, M(), y_, observed_);
      const lanes::LaneBits failed =
          general() ? update_generally(k, observed, slot, next, out) : update(observed, slot, next);
      if constexpr (TransitionOf::kRecursive)
        if (alternative())
          static_cast<void>(alternative_posterior(slot).forward(y_, observed, next, P_of(next)));
      hold_ended(k, slot, next);
      total = total + scored(k, load(nll_));
      line_.note_failures(k, load(nll_), failed);
      line_.write_step(x_pred_, N(), out.x_pred, k);
      line_.write_step(P_pred_, N() * N(), out.P_pred, k);
      line_.write_step(next, N(), out.x_filt, k);
      line_.write_step(P_of(next), N() * N(), out.P_filt, k);
      line_.write_step(transition_.F, N() * N(), out.F, k);
      line_.write_step(transition_.Q, N() * N(), out.Q, k);
      line_.write_step(nll_, 1, out.nll, k);
    }
    store(total, ws_.lane_nll.data() + line_.first);
  }

  /// Leaves the state after the window in the carry.
  void end_forward(StateCarry<T>& carry) const {
    line_.write_panel(slot_at(in_.steps), N(), carry.x.data());
    line_.write_panel(P_of(slot_at(in_.steps)), N() * N(), carry.P.data());
  }

  /// The first lane's state after the window, as numbers.
  void end_forward_single(double* x, double* P) const {
    double* slot = slot_at(in_.steps);
    for (int i = 0; i < N(); ++i) x[i] = slot[i * kLanes];
    for (int i = 0; i < N() * N(); ++i) P[i] = P_of(slot)[i * kLanes];
  }

  /// Adjoint of `forward` for scale * (sum of nll), last steps first: leaves the adjoints of the
  /// decoder's output in the records and adds to those of the initial state and of R.
  void backward(int begin, int end, double scale) {
    const LineMask<double> ok = line_.lanes_ok();
    double* d_nll = nll_ + kLanes;
    const D d_scored = select(ok, broadcast(scale), zero<double>());
    double* d_x = adjoint_;
    double* d_P = adjoint_ + N() * kLanes;
    double* d_R = d_P + N() * N() * kLanes;
    if (end == in_.steps)
      for (int i = 0; i < adjoint_lines(); ++i) store(zero<double>(), adjoint_ + i * kLanes);
    for (int k = end - 1; k >= begin; --k) {
      double* slot = slot_at(k);
      const double* observed = line_.read_measurement(k, M(), y_, observed_);
      store(scored(k, d_scored), d_nll);
      transition_.read(k, slot);
      bool done = false;
      if constexpr (TransitionOf::kRecursive) {
        done = alternative();
        if (done) alternative_backward(slot, observed, d_nll, d_x, d_P, d_R);
      }
      if (!done) {
        if (general())
          general_backward(k, observed, d_nll, d_x, d_P, d_R);
        else
          update_backward(observed, slot, d_nll, d_x, d_P, transition_.d_e, d_R);
        if (transition_.lost(k) != nullptr && predict(k, slot))
          step::saturate_backward<double>(N(), model_.climate.mean, model_.climate.spread, gain_,
                                          x_pred_, P_pred_, transition_.d_e, transition_.d_Q,
                                          scratch_);
        predict_backward(F_or_null(), slot, transition_.d_e, d_x, d_P);
      }
      transition_.write_adjoint(k, ok, slot, d_x, d_theta());
    }
  }

  /// Sets ws.d_x and ws.d_P, and adds to ws.d_R and ws.d_theta.
  void end_backward() {
    const LineMask<double> ok = line_.lanes_ok();
    for (int i = 0; i < adjoint_lines(); ++i)
      store(select(ok, load(adjoint_ + i * kLanes), zero<double>()), adjoint_ + i * kLanes);
    line_.write_panel(adjoint_, N(), ws_.d_x.data());
    line_.write_panel(adjoint_ + N() * kLanes, N() * N(), ws_.d_P.data());
    const double* d_R = adjoint_ + (N() + N() * N()) * kLanes;
    for (int i = 0; i < M() * M(); ++i)
      ws_.d_R[static_cast<std::size_t>(i)] += sum_lanes(load(d_R + i * kLanes));
    for (int i = 0; i < parameters(); ++i)
      ws_.d_theta[static_cast<std::size_t>(i)] += sum_lanes(load(d_theta() + i * kLanes));
  }

 private:
  // N and M; constants where the class was made for one size.
  int N() const { return kN > 0 ? kN : n_; }
  int M() const { return kM > 0 ? kM : m_; }
  int parameters() const { return transition_.parameters(); }
  kalman::EmissionView emission() const {
    kalman::EmissionView view = emission_;
    view.state_dim = N();
    view.meas_dim = M();
    return view;
  }
  const double* F_or_null() const { return transition_.F_or_null(); }

  // What counts of a step's likelihood, or of its adjoint.
  D scored(int k, const D& value) const {
    return in_.score == nullptr ? value
                                : value * load(in_.score + k * line_.panel(1) + line_.first);
  }

  // The kernels of a step: made for the sizes of this class, or calls where it has none.
  static constexpr bool kSized = kN > 0;
  HWY_INLINE lanes::LaneBits update(const double* observed, double* slot, double* next) {
    if constexpr (kSized)
      return step::update_forward<double>(emission(), y_, observed, x_pred_, P_pred_, next,
                                          P_of(next), nll_, update_tape(slot), scratch_);
    else
      return step::update_call(emission(), y_, observed, x_pred_, P_pred_, next, P_of(next), nll_,
                               update_tape(slot), scratch_);
  }
  HWY_INLINE void update_backward(const double* observed, double* slot, const double* d_nll,
                                  const double* d_x, const double* d_P, double* d_x_pred,
                                  double* d_R) {
    if constexpr (kSized)
      step::update_backward<double>(emission(), observed, update_tape(slot), d_nll, d_x, d_P,
                                    d_x_pred, transition_.d_Q, d_R, scratch_);
    else
      step::update_backward_call(emission(), observed, update_tape(slot), d_nll, d_x, d_P, d_x_pred,
                                 transition_.d_Q, d_R, scratch_);
  }
  HWY_INLINE void predict_moments(const double* F, double* slot) {
    if constexpr (kSized)
      step::predict_forward<double>(N(), F, transition_.e, transition_.Q, slot, P_of(slot), x_pred_,
                                    P_pred_, scratch_);
    else
      step::predict_call(N(), F, transition_.e, transition_.Q, slot, P_of(slot), x_pred_, P_pred_,
                         scratch_);
  }
  // The adjoint of P_pred is in transition_.d_Q.
  HWY_INLINE void predict_backward(const double* F, double* slot, const double* d_x_pred,
                                   double* d_x, double* d_P) {
    if constexpr (kSized)
      step::predict_backward<double>(N(), F, slot, P_of(slot), d_x_pred, transition_.d_Q,
                                     transition_.d_F, d_x, d_P, scratch_);
    else
      step::predict_backward_call(N(), F, slot, P_of(slot), d_x_pred, transition_.d_Q,
                                  transition_.d_F, d_x, d_P, scratch_);
  }

  // Sets x_pred_ and P_pred_ of step k from the state before and the transition. Returns whether
  // they saturate anywhere; gain_ then says how much.
  bool predict(int k, double* slot) {
    predict_moments(F_or_null(), slot);
    const double* lost = transition_.lost(k);
    if (lost == nullptr || alternative() ||
        !step::saturation<double>(N(), model_.climate.spread, nonzero(load(lost)), P_pred_, gain_))
      return false;
    step::saturate_forward<double>(N(), model_.climate.mean, gain_, x_pred_, P_pred_);
    return true;
  }
  // A lane past its end keeps its state, bit for bit. No adjoint comes back from there.
  void hold_ended(int k, double* slot, double* next) {
    const auto except = transition_.exceptions_at(k);
    if (!except.any) return;
    const auto hold = [&](const double* from, int lines, double* to) HWY_ATTR {
      for (int i = 0; i < lines * kLanes; i += kLanes)
        store(select(except.ended, load(from + i), load(to + i)), to + i);
    };
    for (double* x : {x_pred_, next}) hold(slot, N(), x);
    for (double* P : {P_pred_, P_of(next)}) hold(P_of(slot), N() * N(), P);
  }

  bool alternative() const {
    return model_.architecture->options.posterior == PosteriorRule::Alternative;
  }
  AlternativePosterior alternative_posterior(double* slot) const {
    return {*model_.emission, transition_.F, transition_.Q,
            P_of(slot),       x_pred_,       alternative_lines_};
  }
  // The step back: the likelihood's share through the prediction, the state's through the
  // alternative. d_x and d_P become those of the state before; sets d_F, d_Q and d_e.
  void alternative_backward(double* slot, const double* observed, const double* d_nll, double* d_x,
                            double* d_P, double* d_R) {
    const double* F = transition_.F;
    double* d_F = transition_.d_F;
    double* d_x_pred = transition_.d_e;
    double* no_x = spare_;
    double* no_P = spare_ + N() * kLanes;
    for (int i = 0; i < N() + N() * N(); ++i) store(zero<double>(), spare_ + i * kLanes);
    update_backward(observed, slot, d_nll, no_x, no_P, d_x_pred, d_R);
    predict_moments(F, slot);
    // What goes to P before through the prediction; then the alternative adds its own, and the
    // mean's share follows once all of d_x_pred is there.
    predict_backward(F, slot, d_x_pred, no_x, no_P);
    for (int i = 0; i < N(); ++i) store(zero<double>(), no_x + i * kLanes);
    double* x = P_pred_;  // free by now, and of the right size for a state and a covariance
    alternative_posterior(slot).backward(y_, observed, d_x, d_P, transition_.e, x, no_x, d_F,
                                         transition_.d_Q, no_P, d_R);
    // no_x is the alternative's share of d_x_pred: F and x before get theirs.
    for (int i = 0; i < N(); ++i) {
      const D share = load(no_x + i * kLanes);
      for (int j = 0; j < N(); ++j) {
        double* entry = d_F + (i * N() + j) * kLanes;
        store(fma(share, load(slot + j * kLanes), load(entry)), entry);
      }
      store(load(d_x_pred + i * kLanes) + share, d_x_pred + i * kLanes);
    }
    step::ln::multiply_vec_t<lanes::Put::Set, double>(N(), N(), F, d_x_pred, d_x);
    for (int i = 0; i < N() * N(); ++i) store(load(no_P + i * kLanes), d_P + i * kLanes);
  }

  // Whether the emission is more than a matrix that all lanes and steps share.
  bool general() const {
    return model_.emission_map != nullptr || model_.robust != nullptr || in_.weight != nullptr;
  }
  step::GeneralUpdate general_update() const {
    return {{model_.emission, model_.emission_map, model_.robust},
            general_lines_,
            ws_.map_scratch.data()};
  }
  // Where a nonlinear emission is linearised; null: at x_pred_. Past its end a lane stays there.
  const double* emission_point(int k) const {
    if (in_.linearise == nullptr) return nullptr;
    line_.read_panel(in_.linearise + k * line_.panel(2 * N()) + line_.panel(N()), N(), spare_);
    const auto except = transition_.exceptions_at(k);
    for (int n = 0; n < N() && except.any; ++n) {
      double* at = spare_ + n * kLanes;
      store(select(except.ended, load(x_pred_ + n * kLanes), load(at)), at);
    }
    return spare_;
  }
  lanes::LaneBits update_generally(int k, const double* observed, double* slot, double* next,
                                   const StateMoments& out) {
    step::GeneralUpdate update = general_update();
    const lanes::LaneBits failed = update.forward(
        transition_.point(x_pred_), emission_point(k), y_, observed,
        line_.read_weight(k, M(), weight_), P_pred_, next, P_of(next), nll_, update_tape(slot));
    line_.write_step(update.weights(), M(), out.weight, k);
    return failed;
  }
  // Sets the adjoints of the prediction, adds to d_R and the adjoint of theta. The prediction is
  // made again.
  void general_backward(int k, const double* observed, const double* d_nll, const double* d_x,
                        const double* d_P, double* d_R) {
    double* slot = slot_at(k);
    predict(k, slot);
    for (int i = 0; i < parameters(); ++i) store(zero<double>(), emission_d_theta_ + i * kLanes);
    general_update().backward(transition_.point(x_pred_), y_, observed,
                              line_.read_weight(k, M(), weight_), P_pred_, P_of(slot_at(k + 1)),
                              update_tape(slot), d_nll, d_x, d_P, transition_.d_e, transition_.d_Q,
                              d_R, emission_d_theta_);
    const auto except = transition_.exceptions_at(k);
    for (int i = 0; i < parameters(); ++i) {
      D value = load(emission_d_theta_ + i * kLanes);
      if (except.any) value = select(except.ended, zero<double>(), value);
      store(load(d_theta() + i * kLanes) + value, d_theta() + i * kLanes);
    }
    // Nothing has come to a lane past its end yet; its state may be where the emission has no
    // value.
    for (int i = 0; except.any && i < M() * M(); ++i)
      store(select(except.ended, zero<double>(), load(d_R + i * kLanes)), d_R + i * kLanes);
  }

  // Adjoints of x, P, R and theta, which go on from one call of backward to the next.
  int adjoint_lines() const { return N() + N() * N() + M() * M() + parameters(); }
  double* d_theta() const { return adjoint_ + (N() + N() * N() + M() * M()) * kLanes; }

  double* slot_at(int k) const {
    const std::ptrdiff_t slot = static_cast<std::ptrdiff_t>(entries_.total) * kLanes;
    // Without a tape two slots are enough: the state before the step and after it.
    const int line = line_.first / kLanes;
    const int index = ws_.training ? line * (in_.steps + 1) + k : line * 2 + k % 2;
    return ws_.slots.data() + index * slot;
  }
  double* P_of(double* slot) const { return slot + entries_.P * kLanes; }
  UpdateTape<double> update_tape(double* slot) const {
    return {slot + entries_.K * kLanes, slot + entries_.v * kLanes, slot + entries_.C * kLanes};
  }

  const StateModel<T>& model_;
  const StateInput<T>& in_;
  StateWorkspace<T>& ws_;
  const StateLine<T> line_;
  const int n_;
  const int m_;
  const SlotEntries entries_;
  const kalman::EmissionView emission_;
  lanes::LineTaker<double> taker_;  // of ws.line_scratch
  TransitionOf transition_;
  double* alternative_lines_ = nullptr;
  double* adjoint_ = nullptr;  // adjoint_lines() of them
};

/// One step of a single sequence (StateKernels::step).
template <typename Pass, typename T>
void single_step(const StateModel<T>& model, const StateInput<T>& in, const StateMoments& moments,
                 StateWorkspace<T>& ws, double* x, double* P) {
  Pass pass(model, in, ws, 0);
  pass.begin_forward_single(x, P);
  pass.forward(0, 1, moments);
  pass.end_forward_single(x, P);
}

/// The kernels of a head on this instruction set. Choice::with_line(model, task) calls task with
/// the type of the StatePass that suits a model.
template <typename T, typename Choice>
struct StateKernelsOf {
  struct Lines {
    template <typename Task>
    static HWY_INLINE void with_pass(const StateModel<T>& model, const Task& task) {
      Choice::with_line(model, [&](auto line) HWY_ATTR {
        task(std::type_identity<
             engine::HWY_NAMESPACE::EachLine<StateHead<T>, typename decltype(line)::type>>());
      });
    }
  };
  static void step(const StateModel<T>& model, const StateInput<T>& in, const StateMoments& moments,
                   StateWorkspace<T>& ws, double* x, double* P) {
    Choice::with_line(model, [&](auto line) HWY_ATTR {
      single_step<typename decltype(line)::type>(model, in, moments, ws, x, P);
    });
  }
  static const StateKernels<T>& get() {
    static const StateKernels<T> kernels{
        engine::HWY_NAMESPACE::window_kernels<StateHead<T>, Lines>(), &step};
    return kernels;
  }
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
