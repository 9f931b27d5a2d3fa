// The recursion over a window for one line of lanes (8 sequences, in double): from the decoder's
// output rows to the likelihood, and back.

#if defined(KALMIA_MODEL_WINDOW_RECURSION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_MODEL_WINDOW_RECURSION_INL_H_
#undef KALMIA_MODEL_WINDOW_RECURSION_INL_H_
#else
#define KALMIA_MODEL_WINDOW_RECURSION_INL_H_
#endif

#include <limits>
#include <type_traits>

#include "kalman/general_update-inl.h"
#include "kalman/step-inl.h"
#include "model/window_alternative-inl.h"
#include "model/window_network-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::model::HWY_NAMESPACE {

using kalman::UpdateTape;
namespace step = kalman::HWY_NAMESPACE;

/// One line of lanes of a window. Holds no data of its own: views of the input and the workspace.
/// With kN and kM the class is made for these numbers of states and measurements, else for any.
template <typename T, int kN = 0, int kM = 0>
class RecursionPass {
 public:
  static constexpr int kLanes = kLineLanes<double>;
  using D = Line<double>;

  /// `first` is the first lane of the line.
  RecursionPass(const WindowModel<T>& model, const WindowInput<T>& in, Workspace<T>& ws, int first)
      : model_(model),
        arch_(*model.architecture),
        in_(in),
        ws_(ws),
        first_(first),
        n_(arch_.state_dim()),
        m_(arch_.meas_dim()),
        recursive_(arch_.options.recursive),
        map_(recursive_ ? model.map : nullptr),
        inputs_(map_ == nullptr ? 0 : map_->input_dim()),
        map_parameters_(model.map == nullptr ? 0 : model.map->parameter_count()),
        rows_(arch_, ws.training),
        entries_(n_, m_),
        emission_(model.emission->view()) {
    double* p = ws.line_scratch.data();
    const auto take = [&](int lines) HWY_ATTR {
      double* here = p;
      p += static_cast<std::ptrdiff_t>(lines) * kLanes;
      return here;
    };
    F_ = take(N() * N());
    e_ = take(N());
    L_ = take(lanes::triangle_size(N()));
    x_pred_ = take(N());
    P_pred_ = take(N() * N());
    d_F_ = take(N() * N());
    d_L_ = take(lanes::triangle_size(N()));
    d_x_pred_ = take(N());
    d_P_pred_ = take(N() * N());
    centre_ = take(N());
    active_ = take(N() + 1);
    y_ = take(M());
    observed_ = take(M());
    nll_ = take(2);
    dt_ = take(1);
    dt_scale_ = take(1);
    u_ = take(inputs_);
    map_d_x_ = take(N());
    map_d_theta_ = take(map_parameters_);
    weight_ = take(M());
    linearise_ = take(N());
    general_lines_ = take(kalman::general_update_lines(N(), M()));
    alternative_lines_ = take(alternative_lines(N(), M()));
    spare_ = take(N() + N() * N());
    scratch_ = p;
    if (ws.training) adjoint_ = ws.line_adjoints.data() + first / kLanes * adjoint_lines() * kLanes;
  }

  /// Takes the state before the window from the carry (panels).
  void begin_forward(const double* carry_x, const double* carry_P) {
    read_panel(carry_x, N(), slot_at(0));
    read_panel(carry_P, N() * N(), slot_at(0) + entries_.P * kLanes);
    store(zero<double>(), ws_.lane_nll.data() + first_);
    std::fill_n(ws_.failed_step.data() + first_, kLanes, -1);
  }

  /// The same from numbers, for a single sequence: every lane of the line gets them.
  void begin_forward_single(const double* x, const double* P) {
    for (int i = 0; i < N(); ++i) store(broadcast(x[i]), slot_at(0) + i * kLanes);
    for (int i = 0; i < N() * N(); ++i)
      store(broadcast(P[i]), slot_at(0) + (entries_.P + i) * kLanes);
    store(zero<double>(), ws_.lane_nll.data() + first_);
    std::fill_n(ws_.failed_step.data() + first_, kLanes, -1);
  }

  /// Steps begin..end-1.
  void forward(int begin, int end, const WindowMoments& out) {
    D total = load(ws_.lane_nll.data() + first_);
    for (int k = begin; k < end; ++k) {
      double* slot = slot_at(k);
      double* next = slot_at(k + 1);
      read_transition(k, slot);
      step::predict_forward<double>(N(), recursive_ ? F_ : nullptr, e_, L_, slot,
                                    slot + entries_.P * kLanes, x_pred_, P_pred_, scratch_);
      if (!recursive_) hold_ended(k, slot);
      const double* observed = read_measurement(k);
      const lanes::LaneBits failed =
          general() ? update_generally(k, observed, slot, next, out)
                    : step::update_forward<double>(emission(), y_, observed, x_pred_, P_pred_, next,
                                                   next + entries_.P * kLanes, nll_,
                                                   update_tape(slot), scratch_);
      if (alternative())
        static_cast<void>(
            alternative_posterior(slot).forward(y_, observed, next, next + entries_.P * kLanes));
      total = total + load(nll_);
      const D infinity = broadcast(std::numeric_limits<double>::infinity());
      const lanes::LaneBits finite = bits_of(greater(infinity, abs(load(nll_))));
      if (finite != kAllLanes) note_failures(k, ~finite, failed);
      if (out.x_pred != nullptr) write_step(x_pred_, N(), out.x_pred, k);
      if (out.P_pred != nullptr) write_step(P_pred_, N() * N(), out.P_pred, k);
      if (out.x_filt != nullptr) write_step(next, N(), out.x_filt, k);
      if (out.P_filt != nullptr) write_step(next + entries_.P * kLanes, N() * N(), out.P_filt, k);
      if (out.F != nullptr) write_step(F_, N() * N(), out.F, k);
      if (out.nll != nullptr) write_step(nll_, 1, out.nll, k);
    }
    store(total, ws_.lane_nll.data() + first_);
  }

  /// Leaves the state after the window in the carry.
  void end_forward(double* carry_x, double* carry_P) const {
    write_panel(slot_at(in_.steps), N(), carry_x);
    write_panel(slot_at(in_.steps) + entries_.P * kLanes, N() * N(), carry_P);
  }

  /// The first lane's state after the window, as numbers.
  void end_forward_single(double* x, double* P) const {
    const double* slot = slot_at(in_.steps);
    for (int i = 0; i < N(); ++i) x[i] = slot[i * kLanes];
    for (int i = 0; i < N() * N(); ++i) P[i] = slot[(entries_.P + i) * kLanes];
  }

  /// Adjoint of `forward` for scale * (sum of nll), last steps first: leaves the adjoints of the
  /// decoder's output in the records and adds to those of the initial state and of R.
  void backward(int begin, int end, double scale) {
    const LineMask<double> ok = lanes_ok();
    double* d_nll = nll_ + kLanes;
    store(select(ok, broadcast(scale), zero<double>()), d_nll);
    double* d_x = adjoint_;
    double* d_P = adjoint_ + N() * kLanes;
    double* d_R = d_P + N() * N() * kLanes;
    if (end == in_.steps)
      for (int i = 0; i < adjoint_lines(); ++i) store(zero<double>(), adjoint_ + i * kLanes);
    for (int k = end - 1; k >= begin; --k) {
      double* slot = slot_at(k);
      const double* observed = read_measurement(k);
      if (general()) {
        read_transition(k, slot);
        general_backward(k, observed, d_nll, d_x, d_P, d_R);
      } else if (alternative()) {
        read_transition(k, slot);
        alternative_backward(slot, observed, d_nll, d_x, d_P, d_R);
        write_transition_adjoint(k, ok, slot, d_x);
        continue;
      } else {
        step::update_backward<double>(emission(), observed, update_tape(slot), d_nll, d_x, d_P,
                                      d_x_pred_, d_P_pred_, d_R, scratch_);
        read_transition(k, slot);
      }
      step::predict_backward<double>(N(), recursive_ ? F_ : nullptr, L_, slot,
                                     slot + entries_.P * kLanes, d_x_pred_, d_P_pred_, d_F_, d_L_,
                                     d_x, d_P, scratch_);
      write_transition_adjoint(k, ok, slot, d_x);
    }
  }

  /// Sets ws.d_x and ws.d_P, and adds to ws.d_R and ws.d_theta.
  void end_backward() {
    const LineMask<double> ok = lanes_ok();
    for (int i = 0; i < adjoint_lines(); ++i)
      store(select(ok, load(adjoint_ + i * kLanes), zero<double>()), adjoint_ + i * kLanes);
    write_panel(adjoint_, N(), ws_.d_x.data());
    write_panel(adjoint_ + N() * kLanes, N() * N(), ws_.d_P.data());
    const double* d_R = adjoint_ + (N() + N() * N()) * kLanes;
    for (int i = 0; i < M() * M(); ++i)
      ws_.d_R[static_cast<std::size_t>(i)] += sum_lanes(load(d_R + i * kLanes));
    for (int i = 0; i < map_parameters_; ++i)
      ws_.d_theta[static_cast<std::size_t>(i)] += sum_lanes(load(d_theta() + i * kLanes));
  }

 private:
  // N and M; constants where the class was made for one size.
  int N() const { return kN > 0 ? kN : n_; }
  int M() const { return kM > 0 ? kM : m_; }
  kalman::EmissionView emission() const {
    kalman::EmissionView view = emission_;
    view.state_dim = N();
    view.meas_dim = M();
    return view;
  }

  bool alternative() const { return arch_.options.alternative; }
  AlternativePosterior alternative_posterior(const double* slot) const {
    return {*model_.emission, F_, L_, slot + entries_.P * kLanes, x_pred_, alternative_lines_};
  }
  // The step back: the likelihood's share through the prediction, the state's through the
  // alternative. d_x and d_P become those of the state before; sets d_F_, d_L_ and d_x_pred_.
  void alternative_backward(double* slot, const double* observed, const double* d_nll, double* d_x,
                            double* d_P, double* d_R) {
    double* no_x = spare_;
    double* no_P = spare_ + N() * kLanes;
    for (int i = 0; i < N() + N() * N(); ++i) store(zero<double>(), spare_ + i * kLanes);
    step::update_backward<double>(emission(), observed, update_tape(slot), d_nll, no_x, no_P,
                                  d_x_pred_, d_P_pred_, d_R, scratch_);
    step::predict_forward<double>(N(), F_, e_, L_, slot, slot + entries_.P * kLanes, x_pred_,
                                  P_pred_, scratch_);
    // What goes to P before through the prediction; then the alternative adds its own, and the
    // mean's share follows once all of d_x_pred_ is there.
    step::predict_backward<double>(N(), F_, L_, slot, slot + entries_.P * kLanes, d_x_pred_,
                                   d_P_pred_, d_F_, d_L_, no_x, no_P, scratch_);
    for (int i = 0; i < N(); ++i) store(zero<double>(), no_x + i * kLanes);
    double* x = P_pred_;  // free by now, and of the right size for a state and a covariance
    alternative_posterior(slot).backward(y_, observed, d_x, d_P, e_, x, no_x, d_F_, d_L_, no_P,
                                         d_R);
    // no_x is the alternative's share of d_x_pred: F and x before get theirs.
    for (int i = 0; i < N(); ++i) {
      const D share = load(no_x + i * kLanes);
      for (int j = 0; j < N(); ++j) {
        double* d_F = d_F_ + (i * N() + j) * kLanes;
        store(fma(share, load(slot + j * kLanes), load(d_F)), d_F);
      }
      store(load(d_x_pred_ + i * kLanes) + share, d_x_pred_ + i * kLanes);
    }
    step::ln::multiply_vec_t<lanes::Put::Set, double>(N(), N(), F_, d_x_pred_, d_x);
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
  const double* read_weight(int k) const {
    if (in_.weight == nullptr) return nullptr;
    read_panel(in_.weight + k * panel(M()), M(), weight_);
    return weight_;
  }
  lanes::LaneBits update_generally(int k, const double* observed, double* slot, double* next,
                                   const WindowMoments& out) {
    step::GeneralUpdate update = general_update();
    const lanes::LaneBits failed =
        update.forward(map_point(x_pred_), y_, observed, read_weight(k), P_pred_, next,
                       next + entries_.P * kLanes, nll_, update_tape(slot));
    if (out.weight != nullptr) write_step(update.weights(), M(), out.weight, k);
    return failed;
  }
  // Sets d_x_pred_ and d_P_pred_, adds to d_R and the adjoint of theta. The prediction is made
  // again from F_, e_ and L_.
  void general_backward(int k, const double* observed, const double* d_nll, const double* d_x,
                        const double* d_P, double* d_R) {
    double* slot = slot_at(k);
    step::predict_forward<double>(N(), recursive_ ? F_ : nullptr, e_, L_, slot,
                                  slot + entries_.P * kLanes, x_pred_, P_pred_, scratch_);
    if (!recursive_) hold_ended(k, slot);
    for (int i = 0; i < map_parameters_; ++i) store(zero<double>(), map_d_theta_ + i * kLanes);
    general_update().backward(map_point(x_pred_), y_, observed, read_weight(k), P_pred_,
                              slot_at(k + 1) + entries_.P * kLanes, update_tape(slot), d_nll, d_x,
                              d_P, d_x_pred_, d_P_pred_, d_R, map_d_theta_);
    const Exceptions except = exceptions_at(k);
    for (int i = 0; i < map_parameters_; ++i) {
      D value = load(map_d_theta_ + i * kLanes);
      if (except.any) value = select(except.ended, zero<double>(), value);
      store(load(d_theta() + i * kLanes) + value, d_theta() + i * kLanes);
    }
  }

  // Adjoints of x, P, R and theta, which go on from one call of backward to the next.
  int adjoint_lines() const { return N() + N() * N() + M() * M() + map_parameters_; }
  double* d_theta() const { return adjoint_ + (N() + N() * N() + M() * M()) * kLanes; }

  std::ptrdiff_t panel(int rows) const { return static_cast<std::ptrdiff_t>(rows) * in_.lanes; }

  double* slot_at(int k) const {
    const std::ptrdiff_t slot = static_cast<std::ptrdiff_t>(entries_.total) * kLanes;
    // Without a tape two slots are enough: the state before the step and after it.
    const int line = first_ / kLanes;
    const int index = ws_.training ? line * (in_.steps + 1) + k : line * 2 + k % 2;
    return ws_.slots.data() + index * slot;
  }
  UpdateTape<double> update_tape(double* slot) const {
    return {slot + entries_.K * kLanes, slot + entries_.v * kLanes, slot + entries_.C * kLanes};
  }

  // Lanes that did not fail.
  LineMask<double> lanes_ok() const {
    alignas(kLineBytes) double ok[kLanes];
    for (int b = 0; b < kLanes; ++b)
      ok[b] = ws_.lane_ok[static_cast<std::size_t>(first_ + b)] != 0 ? 1.0 : 0.0;
    return nonzero(load(ok));
  }
  void read_panel(const double* from, int rows, double* to) const {
    for (int i = 0; i < rows; ++i) store(load(from + panel(i) + first_), to + i * kLanes);
  }
  void write_panel(const double* from, int rows, double* to) const {
    for (int i = 0; i < rows; ++i) store(load(from + i * kLanes), to + panel(i) + first_);
  }
  void write_step(const double* from, int rows, double* to, int k) const {
    write_panel(from, rows, to + k * panel(rows));
  }

  static constexpr lanes::LaneBits kAllLanes = (lanes::LaneBits{1} << kLanes) - 1;

  // Lanes whose likelihood is not finite at step k; `covariance`: because S was not positive
  // definite.
  void note_failures(int k, lanes::LaneBits lost, lanes::LaneBits covariance) {
    for (int b = 0; b < kLanes; ++b) {
      const auto lane = static_cast<std::size_t>(first_ + b);
      if (((lost >> b) & 1) == 0 || ws_.failed_step[lane] >= 0) continue;
      ws_.failed_step[lane] = k;
      ws_.failed_covariance[lane] = static_cast<std::uint8_t>((covariance >> b) & 1);
    }
  }

  // Which lanes of the line start their series at step k, and which are past their end.
  struct Exceptions {
    bool any = false;
    LineMask<double> fresh;
    LineMask<double> ended;
  };
  Exceptions exceptions_at(int k) const {
    Exceptions result;
    const bool first_step = k == 0;
    if (!first_step && in_.length == nullptr) return result;
    alignas(kLineBytes) double fresh[kLanes], ended[kLanes];
    for (int b = 0; b < kLanes; ++b) {
      ended[b] = k >= lane_length(in_, first_ + b) ? 1.0 : 0.0;
      fresh[b] =
          first_step && ended[b] == 0.0 && has_start() && lane_fresh(in_, first_ + b) ? 1.0 : 0.0;
      result.any = result.any || fresh[b] != 0 || ended[b] != 0;
    }
    result.fresh = nonzero(load(fresh));
    result.ended = nonzero(load(ended));
    return result;
  }

  // Sets y_ and, if anything is missing at step k, observed_; returns observed_ or null.
  const double* read_measurement(int k) const {
    read_panel(in_.y + k * panel(M()), M(), y_);
    bool ended = false;
    for (int b = 0; b < kLanes && in_.length != nullptr; ++b)
      ended = ended || k >= in_.length[first_ + b];
    if (in_.observed == nullptr && !ended) return nullptr;
    bool all = true;
    for (int i = 0; i < M(); ++i)
      for (int b = 0; b < kLanes; ++b) {
        const bool seen =
            k < lane_length(in_, first_ + b) &&
            (in_.observed == nullptr || in_.observed[k * panel(M()) + panel(i) + first_ + b] != 0);
        observed_[i * kLanes + b] = seen ? 1.0 : 0.0;
        all = all && seen;
      }
    return all ? nullptr : observed_;
  }

  // Sets F_, e_ and L_ of step k:
  //
  //   F = F_expert(x) + F_out,   e = e_expert(x) + e_out - F_out c,   x = x[k-1|<=k-1]
  //
  // where c is not finite the state's column of F_out is left out, and where no entry of c is,
  // e_out too. L = L_out sqrt(q dt[k] / dt). A lane that starts here has F = 0, e = initial.e, L =
  // initial.L instead (a two-sided recurrent model with a centre has the future to go by, and so no
  // start); one past its end has F = I, e = 0, L = 0, so that its state stays as it is.
  void read_transition(int k, const double* x) {
    const T* record = ws_.records.data() + static_cast<std::ptrdiff_t>(k) * panel(rows_.total);
    const T* out = record + panel(rows_.out) + first_;
    read_step(k);
    if (map_ != nullptr) {
      map_->forward(map_point(point_of(k, x)), F_, e_, ws_.map_scratch.data());
    } else {
      for (int i = 0; i < N(); ++i) store(zero<double>(), e_ + i * kLanes);
      for (int i = 0; i < N() * N(); ++i) store(zero<double>(), F_ + i * kLanes);
    }
    if (centred()) {
      read_centre(k);
      for (int i = 0; i < N(); ++i) {
        D e = fma(load_as<double>(out + panel(arch_.e_row() + i)), load(active_ + N() * kLanes),
                  load(e_ + i * kLanes));
        for (int j = 0; j < N(); ++j) {
          const D residual = load_as<double>(out + panel(i * N() + j));
          e = fnma(residual, load(centre_ + j * kLanes), e);
          double* F = F_ + (i * N() + j) * kLanes;
          store(fma(residual, load(active_ + j * kLanes), load(F)), F);
        }
        store(e, e_ + i * kLanes);
      }
    } else {
      for (int i = 0; i < N(); ++i) add_row(out, arch_.e_row() + i, e_ + i * kLanes);
      for (int i = 0; i < N() * N() && recursive_; ++i) add_row(out, i, F_ + i * kLanes);
    }
    const T* diag = record + panel(rows_.diag) + first_;
    for (int i = 0; i < N(); ++i) {
      for (int j = 0; j < i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        store(load_as<double>(out + panel(arch_.L_row() + entry)), L_ + entry * kLanes);
      }
      store(load_as<double>(diag + panel(i)), L_ + lanes::triangle_index(i, i) * kLanes);
    }
    if (scales_noise())
      for (int i = 0; i < lanes::triangle_size(N()); ++i)
        store(load(L_ + i * kLanes) * load(dt_scale_), L_ + i * kLanes);
    if (about_centre()) add_centre(k);
    const Exceptions except = exceptions_at(k);
    if (except.any) override_transition(except);
  }
  // A recurrent model's state is relative to the centre: e = c + e_out. A state whose c is not
  // finite has initial.e and the deviation of initial.L instead.
  void add_centre(int k) {
    read_centre(k);
    const PackedNetwork<T>& net = *model_.network;
    for (int i = 0; i < N(); ++i) {
      const LineMask<double> known = nonzero(load(active_ + i * kLanes));
      double* e = e_ + i * kLanes;
      store(select(known, load(e) + load(centre_ + i * kLanes),
                   broadcast(net.initial_e[static_cast<std::size_t>(i)])),
            e);
      for (int j = 0; j <= i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        const D initial =
            i == j ? broadcast(net.initial_L[static_cast<std::size_t>(entry)]) : zero<double>();
        store(select(known, load(L_ + entry * kLanes), initial), L_ + entry * kLanes);
      }
    }
  }
  bool scales_noise() const { return in_.dt != nullptr || model_.process_noise != 1; }
  // Sets dt_ and u_ to those of step k.
  void read_step(int k) {
    const D dt = in_.dt == nullptr ? broadcast(model_.dt) : load(in_.dt + k * panel(1) + first_);
    store(dt, dt_);
    if (scales_noise()) store(sqrt(dt * broadcast(model_.process_noise / model_.dt)), dt_scale_);
    if (inputs_ > 0) read_panel(in_.u + k * panel(inputs_), inputs_, u_);
  }
  // Where the expert map is linearised.
  const double* point_of(int k, const double* x) const {
    if (in_.linearise == nullptr) return x;
    read_panel(in_.linearise + k * panel(N()), N(), linearise_);
    return linearise_;
  }
  kalman::MapPoint map_point(const double* x) const { return {x, dt_, u_, model_.theta}; }
  bool centred() const { return recursive_ && in_.centre != nullptr; }
  bool about_centre() const { return !recursive_ && in_.centre != nullptr; }
  // Whether a series begins with the initial state.
  bool has_start() const { return !about_centre() || !arch_.options.two_sided; }
  // Sets active_ to 1 where the centre is finite, else 0, and centre_ to it or to 0. The last line
  // of active_ is 1 where any entry of the centre is finite.
  void read_centre(int k) {
    read_panel(in_.centre + k * panel(N()), N(), centre_);
    const D infinity = broadcast(std::numeric_limits<double>::infinity());
    D any = zero<double>();
    for (int i = 0; i < N(); ++i) {
      const D c = load(centre_ + i * kLanes);
      const LineMask<double> finite = greater(infinity, abs(c));
      store(select(finite, c, zero<double>()), centre_ + i * kLanes);
      store(select(finite, broadcast(1.0), zero<double>()), active_ + i * kLanes);
      any = select(finite, broadcast(1.0), any);
    }
    store(any, active_ + N() * kLanes);
  }
  void add_row(const T* out, int row, double* line) const {
    store(load(line) + load_as<double>(out + panel(row)), line);
  }

  // F = 0 cannot keep the state of a lane past its end, so it is copied. Nothing is observed there,
  // and no adjoint comes back.
  void hold_ended(int k, const double* slot) {
    const Exceptions except = exceptions_at(k);
    if (!except.any) return;
    const auto hold = [&](const double* from, int lines, double* to) HWY_ATTR {
      for (int i = 0; i < lines * kLanes; i += kLanes)
        store(select(except.ended, load(from + i), load(to + i)), to + i);
    };
    hold(slot, N(), x_pred_);
    hold(slot + entries_.P * kLanes, N() * N(), P_pred_);
  }

  void override_transition(const Exceptions& except) {
    const D none = zero<double>();
    const D one = broadcast(1.0);
    for (int i = 0; i < N() && recursive_; ++i)
      for (int j = 0; j < N(); ++j) {
        double* F = F_ + (i * N() + j) * kLanes;
        const D started = select(except.fresh, none, load(F));
        store(select(except.ended, i == j ? one : none, started), F);
      }
    const PackedNetwork<T>& net = *model_.network;
    for (int i = 0; i < N(); ++i) {
      double* e = e_ + i * kLanes;
      const D started =
          select(except.fresh, broadcast(net.initial_e[static_cast<std::size_t>(i)]), load(e));
      store(select(except.ended, none, started), e);
    }
    for (int i = 0; i < lanes::triangle_size(N()); ++i) {
      double* L = L_ + i * kLanes;
      const D started =
          select(except.fresh, broadcast(net.initial_L[static_cast<std::size_t>(i)]), load(L));
      store(select(except.ended, none, started), L);
    }
  }

  // Sends d_F_, d_x_pred_ (the adjoint of e) and d_L_ of step k to where read_transition took F, e
  // and L from, and adds the expert map's share to d_x.
  void write_transition_adjoint(int k, const LineMask<double>& lane_ok, const double* x,
                                double* d_x) {
    const Exceptions except = exceptions_at(k);
    if (except.any) take_overridden_adjoints(except, lane_ok);
    if (about_centre()) take_uncentred_adjoints(k, lane_ok);
    if (map_ != nullptr) add_map_adjoint(except, x, d_x);
    if (scales_noise())
      for (int i = 0; i < lanes::triangle_size(N()); ++i)
        store(load(d_L_ + i * kLanes) * load(dt_scale_), d_L_ + i * kLanes);
    const D none = zero<double>();
    T* record = ws_.records.data() + static_cast<std::ptrdiff_t>(k) * panel(rows_.total);
    T* out = record + panel(rows_.out) + first_;
    if (centred()) read_centre(k);
    for (int i = 0; i < N(); ++i) {
      const D d_e = load(d_x_pred_ + i * kLanes);
      for (int j = 0; j < N() && recursive_; ++j) {
        D d = load(d_F_ + (i * N() + j) * kLanes);
        if (centred()) d = fnma(d_e, load(centre_ + j * kLanes), d * load(active_ + j * kLanes));
        store_as(select(lane_ok, d, none), out + panel(i * N() + j));
      }
      const D d_e_out = centred() ? d_e * load(active_ + N() * kLanes) : d_e;
      store_as(select(lane_ok, d_e_out, none), out + panel(arch_.e_row() + i));
      for (int j = 0; j < i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        store_as(select(lane_ok, load(d_L_ + entry * kLanes), none),
                 out + panel(arch_.L_row() + entry));
      }
      store_as(select(lane_ok, load(d_L_ + lanes::triangle_index(i, i) * kLanes), none),
               record + panel(rows_.diag + i) + first_);
    }
  }

  // The expert map's share of d_x and d_theta; nothing where F and e were overridden, whatever the
  // map makes of the state there.
  void add_map_adjoint(const Exceptions& except, const double* x, double* d_x) {
    const D none = zero<double>();
    for (int i = 0; i < N(); ++i) store(none, map_d_x_ + i * kLanes);
    for (int i = 0; i < map_parameters_; ++i) store(none, map_d_theta_ + i * kLanes);
    map_->backward(map_point(x), d_F_, d_x_pred_, map_d_x_, map_d_theta_, ws_.map_scratch.data());
    const auto add = [&](const double* from, double* to) HWY_ATTR {
      D value = load(from);
      if (except.any) value = select(except.fresh, none, select(except.ended, none, value));
      store(load(to) + value, to);
    };
    for (int i = 0; i < N(); ++i) add(map_d_x_ + i * kLanes, d_x + i * kLanes);
    for (int i = 0; i < map_parameters_; ++i)
      add(map_d_theta_ + i * kLanes, d_theta() + i * kLanes);
  }

  // Where F, e and L were overridden, their adjoints go to the initial state (lanes that start) or
  // nowhere (lanes past their end).
  void take_overridden_adjoints(const Exceptions& except, const LineMask<double>& lane_ok) {
    const D none = zero<double>();
    const auto move = [&](double* line, double* sum) HWY_ATTR {
      const D value = load(line);
      if (sum != nullptr)
        store(load(sum) + select(lane_ok, select(except.fresh, value, none), none), sum);
      store(select(except.fresh, none, select(except.ended, none, value)), line);
    };
    double* d_initial = ws_.d_initial.data();
    for (int i = 0; i < N(); ++i) move(d_x_pred_ + i * kLanes, d_initial + i * kLanes);
    for (int i = 0; i < lanes::triangle_size(N()); ++i)
      move(d_L_ + i * kLanes, d_initial + (N() + i) * kLanes);
    for (int i = 0; i < N() * N() && recursive_; ++i) move(d_F_ + i * kLanes, nullptr);
  }

  // Adjoint of add_centre: those of a state without a centre go to the initial state.
  void take_uncentred_adjoints(int k, const LineMask<double>& lane_ok) {
    read_centre(k);
    const D none = zero<double>();
    const auto move = [&](const LineMask<double>& known, double* line, double* sum) HWY_ATTR {
      const D value = load(line);
      if (sum != nullptr) store(load(sum) + select(lane_ok, select(known, none, value), none), sum);
      store(select(known, value, none), line);
    };
    double* d_initial = ws_.d_initial.data();
    for (int i = 0; i < N(); ++i) {
      const LineMask<double> known = nonzero(load(active_ + i * kLanes));
      move(known, d_x_pred_ + i * kLanes, d_initial + i * kLanes);
      for (int j = 0; j <= i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        move(known, d_L_ + entry * kLanes, i == j ? d_initial + (N() + entry) * kLanes : nullptr);
      }
    }
  }

  const WindowModel<T>& model_;
  const Architecture& arch_;
  const WindowInput<T>& in_;
  Workspace<T>& ws_;
  const int first_;
  const int n_;
  const int m_;
  const bool recursive_;
  const kalman::TransitionMap* const map_;
  const int inputs_;
  const int map_parameters_;
  const RecordRows rows_;
  const SlotEntries entries_;
  const kalman::EmissionView emission_;
  // Line matrices in ws.line_scratch.
  double *F_, *e_, *L_, *x_pred_, *P_pred_;
  double *d_F_, *d_L_, *d_x_pred_, *d_P_pred_;
  double *centre_, *active_, *y_, *observed_, *nll_, *scratch_;
  double *dt_, *dt_scale_, *u_, *map_d_x_, *map_d_theta_, *weight_, *general_lines_;
  double *linearise_, *alternative_lines_, *spare_;
  double* adjoint_ = nullptr;  // adjoint_lines() of them
};

/// Calls task with the sizes of the model as compile-time constants where code was made for them
/// (the recursion is then unrolled), else with zeros. Measured: at N = M = 3 filtering is 6 % and
/// training 4 % faster for it.
/// In double, which serves tests and the static stage, only 3 x 3 is: compiling takes long enough.
template <typename T, typename Task>
HWY_INLINE void with_sizes(const Architecture& arch, const Task& task) {
  [[maybe_unused]] const auto is = [&](int state_dim, int meas_dim) {
    return arch.state_dim() == state_dim && arch.meas_dim() == meas_dim;
  };
#if HWY_TARGET != HWY_STATIC_TARGET
  if (is(3, 3)) return task(std::integral_constant<int, 3>(), std::integral_constant<int, 3>());
  if constexpr (sizeof(T) == sizeof(float)) {
    if (is(1, 1)) return task(std::integral_constant<int, 1>(), std::integral_constant<int, 1>());
    if (is(2, 1)) return task(std::integral_constant<int, 2>(), std::integral_constant<int, 1>());
    if (is(4, 2)) return task(std::integral_constant<int, 4>(), std::integral_constant<int, 2>());
  }
#endif
  task(std::integral_constant<int, 0>(), std::integral_constant<int, 0>());
}

}  // namespace kalmia::model::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
