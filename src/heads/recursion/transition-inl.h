// How a state leads to the next, for one line of lanes: F, e and L of a step from the expert map
// and the decoder's output rows, and the adjoint.

#if defined(KALMIA_HEADS_TRANSITION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_TRANSITION_INL_H_
#undef KALMIA_HEADS_TRANSITION_INL_H_
#else
#define KALMIA_HEADS_TRANSITION_INL_H_
#endif

#include "heads/recursion/recursion.hpp"
#include "heads/state_line-inl.h"
#include "heads/state_start-inl.h"
#include "lanes/triangle-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

/// The transition of one step at a time. Holds no data of its own: views of the input and the
/// workspace, and lines of scratch. With kN it is made for this number of states, else for any.
template <typename T, int kN>
class Transition : public TransitionLines, private SteadyFlowLines {
 public:
  static constexpr int kLanes = kLineLanes<double>;
  static constexpr bool kRecursive = true;
  using D = Line<double>;

  Transition(const StateModel<T>& model, const StateInput<T>& in, StateWorkspace<T>& ws,
             const StateLine<T>& line, lanes::LineTaker<double>& scratch)
      : model_(model),
        arch_(*model.architecture),
        line_(line),
        in_(in),
        ws_(ws),
        start_(model.network->initial, in, line.first, true),
        n_(arch_.state_dim()),
        map_(model.map),
        flow_(map_ == nullptr ? nullptr : map_->as_flow()),
        inputs_(model.map_inputs()),
        parameters_(model.map_parameters()),
        rows_(arch_, ws.training) {
    TransitionLines::lay_out(scratch, N(), inputs_, parameters_);
    if (steady()) {
      lanes::LineTaker<double> memory(ws_.steady_flow.data());
      SteadyFlowLines::lay_out(memory, N());
    }
  }

  /// F of predict_forward and predict_backward.
  const double* F_or_null() const { return F; }
  /// The lines of the share that is lost at step k, or null: none is.
  const double* lost(int k) { return read_lost(k, exceptions_at(k)) ? lost_ : nullptr; }
  int parameters() const { return parameters_; }
  /// Where the emission or the map is evaluated, at the step that was read last.
  kalman::MapPoint point(const double* x) const { return {x, dt_, u_, model_.theta}; }

  /// Which lanes of the line start their series at step k, and which are past their end.
  LaneExceptions exceptions_at(int k) const { return start_.exceptions_at(k); }

  /// Sets F, e and Q of step k:
  ///
  ///   F = F_expert(x) + F_out W,   e = e_expert(x) + W e_out - F_out W c,   x = x[k-1|<=k-1]
  ///
  /// or, of models that go toward the centre (with G in the rows of F_out),
  ///
  ///   F = (I - G W) F_expert(x),   e = (I - G W) e_expert(x) + G W c + W e_out;
  ///
  /// W is diagonal: the trust in each state's residual, 0 where its c is not finite. Q is the noise
  /// of density q L_out L_out' / dt over the step: along the flow of the expert map, if it is one,
  /// else in proportion to the step's length,
  ///
  ///   Q = L L',   L = L_out sqrt(q dt[k] / dt).
  ///
  /// Of a prediction that is lost to the share w, the states that the climate knows have the part w
  /// of their F, e and Q from it. A lane that starts here has F = 0, e = initial.e, L = initial.L
  /// instead; one past its end has F = I, e = 0, L = 0, so that its state stays as it is.
  void read(int k, const double* x) {
    const T* record = line_.record(rows_, k);
    const T* out = record + line_.panel(rows_.out) + line_.first;
    read_step(k);
    read_noise(record, out);
    if (centred()) read_centre(k);
    if (toward_centre()) {
      read_expert(k, x, expert_F_, expert_e_);
      go_toward_centre(out);
    } else {
      read_expert(k, x, F, e);
      add_residual(out);
    }
    const LaneExceptions except = exceptions_at(k);
    if (except.any) override_with(except);
    if (flow_ == nullptr)
      ln::gram_lower<lanes::Put::Set, double>(N(), L_, Q);
    else
      finish_flow_noise(except);
    if (read_lost(k, except)) mix_with_climate();
  }

  /// Sends d_F, d_e and d_Q of step k, which was read last, to where `read` took F, e and Q from;
  /// adds the expert map's share to d_x and d_theta.
  void write_adjoint(int k, const LineMask<double>& lane_ok, const double* x, double* d_x,
                     double* d_theta) {
    const LaneExceptions except = exceptions_at(k);
    if (read_lost(k, except)) take_mixed_adjoints();
    ln::gram_lower_backward<lanes::Put::Set, double>(N(), L_, d_Q, d_L_);
    if (except.any) take_overridden_adjoints(except, lane_ok);
    T* record = line_.record(rows_, k);
    T* out = record + line_.panel(rows_.out) + line_.first;
    if (toward_centre()) set_expert_adjoints(out);
    const double* d_L = d_L_;
    if (flow_ != nullptr)
      d_L = steady() ? defer_flow_adjoint(k, except, lane_ok, d_theta)
                     : add_flow_adjoint(except, x, d_x, d_theta);
    else if (scales_noise())
      for (int i = 0; i < lanes::triangle_size(N()); ++i)
        store(load(d_L_ + i * kLanes) * load(dt_scale_), d_L_ + i * kLanes);
    const D none = zero<double>();
    const auto write = [&](const D& value, T* to)
                           HWY_ATTR { store_as(select(lane_ok, value, none), to); };
    for (int i = 0; i < N(); ++i) {
      const D d_e_i = load(d_e + i * kLanes);
      for (int j = 0; j < N(); ++j)
        write(toward_centre() ? gain_adjoint(i, j) : residual_adjoint(i, j),
              out + line_.panel(i * N() + j));
      write(centred() ? d_e_i * load(active_ + i * kLanes) : d_e_i,
            out + line_.panel(arch_.e_row() + i));
      for (int j = 0; j < i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        write(load(d_L + entry * kLanes), out + line_.panel(arch_.L_row() + entry));
      }
      write(load(d_L + lanes::triangle_index(i, i) * kLanes),
            record + line_.panel(rows_.positive + i) + line_.first);
    }
    if (map_ != nullptr && flow_ == nullptr) add_map_adjoint(except, x, d_x, d_theta);
  }

 private:
  int N() const { return kN > 0 ? kN : n_; }

  bool centred() const { return in_.centre != nullptr; }
  bool toward_centre() const { return arch_.options.transition == TransitionRule::TowardCentre; }
  bool scales_noise() const { return in_.dt != nullptr || model_.process_noise != 1; }

  // Sets L_ to what the record holds; the density of a flow has it as it is.
  void read_noise(const T* record, const T* out) {
    const T* diag = record + line_.panel(rows_.positive) + line_.first;
    for (int i = 0; i < N(); ++i) {
      for (int j = 0; j < i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        store(load_as<double>(out + line_.panel(arch_.L_row() + entry)), L_ + entry * kLanes);
      }
      store(load_as<double>(diag + line_.panel(i)), L_ + lanes::triangle_index(i, i) * kLanes);
    }
    if (flow_ != nullptr) {
      ln::copy_lines<double>(lanes::triangle_size(N()), L_, density_);
    } else if (scales_noise()) {
      for (int i = 0; i < lanes::triangle_size(N()); ++i)
        store(load(L_ + i * kLanes) * load(dt_scale_), L_ + i * kLanes);
    }
  }
  // What the noise of unit density over a step of the flow is multiplied by.
  double density_scale() const { return model_.process_noise / model_.dt; }
  // Q of a flow, as it is over the step, becomes that of the density; lanes that start or have
  // ended get the Q of their L_.
  void finish_flow_noise(const LaneExceptions& except) {
    ln::scale_lines(N() * N(), density_scale(), Q);
    if (!except.any) return;
    ln::gram_lower<lanes::Put::Set, double>(N(), L_, start_Q_);
    for (int i = 0; i < N() * N() * kLanes; i += kLanes)
      store(select(except.fresh, load(start_Q_ + i),
                   select(except.ended, load(start_Q_ + i), load(Q + i))),
            Q + i);
  }
  // From d_Q to that of the flow's Q; nothing where it was overridden (take_overridden_adjoints has
  // done so with d_F and d_e).
  void take_flow_noise_adjoint(const LaneExceptions& except) {
    if (except.any)
      for (int i = 0; i < N() * N() * kLanes; i += kLanes)
        store(select(except.fresh, zero<double>(),
                     select(except.ended, zero<double>(), load(d_Q + i))),
              d_Q + i);
    ln::scale_lines(N() * N(), density_scale(), d_Q);
  }
  // The flow's share of d_x and d_theta; returns the adjoint of the density's factor.
  const double* add_flow_adjoint(const LaneExceptions& except, const double* x, double* d_x,
                                 double* d_theta) {
    take_flow_noise_adjoint(except);
    clear_map_adjoints();
    flow_->backward_with_noise(point(x), density_, toward_centre() ? expert_d_F_ : d_F,
                               toward_centre() ? expert_d_e_ : d_e, d_Q, d_density_, map_d_x_,
                               map_d_theta_, ws_.map_scratch.data());
    add_map_adjoints(except, d_x, d_theta);
    return d_density_;
  }

  // A linear flow with the same noise at every step depends on the step's length alone.
  bool steady() const {
    return model_.steady && flow_ != nullptr && flow_->any_step() && !toward_centre();
  }
  // A stream's first step has no outputs of the decoder yet, so that L is compared as well.
  bool is_steady_step() const {
    if (!ws_.steady_known) return false;
    D difference = abs(load(dt_) - load(steady_dt_));
    for (int i = 0; i < lanes::triangle_size(N()) * kLanes; i += kLanes)
      difference = difference + abs(load(density_ + i) - load(steady_L_ + i));
    return bits_of(nonzero(difference)) == 0;
  }
  // Takes F and Q from the last step of the same length, or computes them.
  void read_steady_flow(const double* x) {
    if (!is_steady_step()) {
      flow_->forward_with_noise(point(x), density_, steady_F_, e, steady_Q_,
                                ws_.map_scratch.data());
      store(load(dt_), steady_dt_);
      ln::copy_lines<double>(lanes::triangle_size(N()), density_, steady_L_);
      ws_.steady_known = true;
    }
    ln::copy_lines<double>(N() * N(), steady_F_, F);
    ln::copy_lines<double>(N() * N(), steady_Q_, Q);
    ln::set_zero(N(), e);
  }

  // Adds d_F and d_Q of a step to those of the same length. Returns the adjoint of the density's
  // factor: of the steps summed so far where another length begins or all steps have been, else 0.
  const double* defer_flow_adjoint(int k, const LaneExceptions& except,
                                   const LineMask<double>& lane_ok, double* d_theta) {
    take_flow_noise_adjoint(except);
    bool& summed = ws_.steady_summed;
    ln::set_zero(lanes::triangle_size(N()), d_L_);
    if (summed && bits_of(nonzero(load(dt_) - load(summed_dt_))) != 0) settle_flow_adjoint(d_theta);
    if (!summed) {
      store(load(dt_), summed_dt_);
      ln::set_zero(N() * N(), summed_d_F_);
      ln::set_zero(N() * N(), summed_d_Q_);
      summed = true;
    }
    const auto add = [&](const double* from, double* to) HWY_ATTR {
      for (int i = 0; i < N() * N() * kLanes; i += kLanes)
        store(load(to + i) + select(lane_ok, load(from + i), zero<double>()), to + i);
    };
    add(d_F, summed_d_F_);
    add(d_Q, summed_d_Q_);
    if (k == 0 && line_.first + kLanes >= in_.lanes) settle_flow_adjoint(d_theta);
    return d_L_;
  }
  // Adds what the summed adjoints are to theta and, in d_L_, to the density's factor.
  void settle_flow_adjoint(double* d_theta) {
    clear_map_adjoints();
    const double* nothing = start_Q_;  // any state will do, and e has no adjoint
    ln::set_zero(N(), start_Q_);
    flow_->backward_with_noise({nothing, summed_dt_, u_, model_.theta}, density_, summed_d_F_,
                               nothing, summed_d_Q_, d_density_, map_d_x_, map_d_theta_,
                               ws_.map_scratch.data());
    ln::add_scaled<double>(lanes::triangle_size(N()), 1.0, d_density_, d_L_);
    ln::add_scaled<double>(parameters_, 1.0, map_d_theta_, d_theta);
    ws_.steady_summed = false;
  }

  // Sets dt_ and u_ to those of step k.
  void read_step(int k) {
    const D dt =
        in_.dt == nullptr ? broadcast(model_.dt) : load(in_.dt + k * line_.panel(1) + line_.first);
    store(dt, dt_);
    if (scales_noise()) store(sqrt(dt * broadcast(model_.process_noise / model_.dt)), dt_scale_);
    if (inputs_ > 0) line_.read_panel(in_.u + k * line_.panel(inputs_), inputs_, u_);
  }
  // Where the expert map is linearised.
  const double* point_of(int k, const double* x) const {
    if (in_.linearise == nullptr) return x;
    line_.read_panel(in_.linearise + k * line_.panel(2 * N()), N(), linearise_);
    return linearise_;
  }
  // Sets active_ to the trust where the centre is finite, else 0, and centre_ to it or to 0.
  void read_centre(int k) {
    line_.read_panel(in_.centre + k * line_.panel(N()), N(), centre_);
    const bool trusts = in_.trust != nullptr;
    if (trusts) line_.read_panel(in_.trust + k * line_.panel(N()), N(), active_);
    const D infinity = broadcast(std::numeric_limits<double>::infinity());
    for (int i = 0; i < N(); ++i) {
      const D c = load(centre_ + i * kLanes);
      const LineMask<double> finite = greater(infinity, abs(c));
      const D trust = trusts ? load(active_ + i * kLanes) : broadcast(1.0);
      store(select(finite, c, zero<double>()), centre_ + i * kLanes);
      store(select(finite, trust, zero<double>()), active_ + i * kLanes);
    }
  }

  // Sets lost_; whether any lane's prediction is.
  bool read_lost(int k, const LaneExceptions& except) {
    if (in_.lost == nullptr || model_.climate.spread == nullptr) return false;
    D share = load(in_.lost + k * line_.panel(1) + line_.first);
    if (except.any)
      share = select(except.fresh, zero<double>(), select(except.ended, zero<double>(), share));
    store(share, lost_);
    return bits_of(nonzero(share)) != 0;
  }
  bool in_climate(int n) const { return std::isfinite(model_.climate.spread[n]); }
  // What is kept of a state's own transition.
  D kept(int n) const { return in_climate(n) ? broadcast(1.0) - load(lost_) : broadcast(1.0); }
  // F <- (1 - w) F + w A,   e <- (1 - w) e + w (m - A m),   Q <- (1 - w) Q + w Q_climate
  // in the rows of the states that the climate knows; Q keeps sqrt(1 - w) of what they share with
  // others.
  void mix_with_climate() {
    const Climate& climate = model_.climate;
    for (int i = 0; i < N(); ++i) {
      if (!in_climate(i)) continue;
      double towards = climate.mean[i];
      for (int j = 0; j < N(); ++j) {
        const double A = climate.A[i * N() + j];
        double* entry = F + (i * N() + j) * kLanes;
        store(fma(load(lost_), broadcast(A), kept(i) * load(entry)), entry);
        towards -= A * climate.mean[j];
      }
      store(fma(load(lost_), broadcast(towards), kept(i) * load(e + i * kLanes)), e + i * kLanes);
    }
    for (int i = 0; i < N(); ++i)
      for (int j = 0; j < N(); ++j) {
        double* entry = Q + (i * N() + j) * kLanes;
        store(fma(load(lost_), broadcast(climate.Q[i * N() + j]),
                  sqrt(kept(i) * kept(j)) * load(entry)),
              entry);
      }
  }
  void take_mixed_adjoints() {
    for (int i = 0; i < N(); ++i) {
      store(kept(i) * load(d_e + i * kLanes), d_e + i * kLanes);
      for (int j = 0; j < N(); ++j) {
        const int entry = (i * N() + j) * kLanes;
        store(kept(i) * load(d_F + entry), d_F + entry);
        store(sqrt(kept(i) * kept(j)) * load(d_Q + entry), d_Q + entry);
      }
    }
  }

  // Sets F_to and e_to to the expert map's, and Q where it is a flow.
  void read_expert(int k, const double* x, double* F_to, double* e_to) {
    double* map_scratch = ws_.map_scratch.data();
    if (steady()) return read_steady_flow(x);
    if (flow_ != nullptr)
      return flow_->forward_with_noise(point(point_of(k, x)), density_, F_to, e_to, Q, map_scratch);
    if (map_ != nullptr) return map_->forward(point(point_of(k, x)), F_to, e_to, map_scratch);
    for (int i = 0; i < N(); ++i) store(zero<double>(), e_to + i * kLanes);
    for (int i = 0; i < N() * N(); ++i) store(zero<double>(), F_to + i * kLanes);
  }
  void add_residual(const T* out) {
    if (centred()) {
      for (int i = 0; i < N(); ++i) {
        D sum = fma(load_as<double>(out + line_.panel(arch_.e_row() + i)),
                    load(active_ + i * kLanes), load(e + i * kLanes));
        for (int j = 0; j < N(); ++j) {
          const D residual = gain(out, i, j);
          sum = fnma(residual, load(centre_ + j * kLanes), sum);
          double* to = F + (i * N() + j) * kLanes;
          store(residual + load(to), to);
        }
        store(sum, e + i * kLanes);
      }
    } else {
      const auto add_row = [&](int row, double* to) HWY_ATTR {
        store(load(to) + load_as<double>(out + line_.panel(row)), to);
      };
      for (int i = 0; i < N(); ++i) add_row(arch_.e_row() + i, e + i * kLanes);
      for (int i = 0; i < N() * N(); ++i) add_row(i, F + i * kLanes);
    }
  }
  // The adjoint of an entry of F_out.
  D residual_adjoint(int i, int j) const {
    const D d = load(d_F + (i * N() + j) * kLanes);
    if (!centred()) return d;
    return fnma(load(d_e + i * kLanes), load(centre_ + j * kLanes), d) * load(active_ + j * kLanes);
  }

  // An entry of F_out W or G W.
  D gain(const T* out, int i, int j) const {
    return load_as<double>(out + line_.panel(i * N() + j)) * load(active_ + j * kLanes);
  }
  void go_toward_centre(const T* out) {
    for (int i = 0; i < N(); ++i) {
      D sum = fma(load_as<double>(out + line_.panel(arch_.e_row() + i)), load(active_ + i * kLanes),
                  load(expert_e_ + i * kLanes));
      for (int l = 0; l < N(); ++l)
        sum = fma(gain(out, i, l), load(centre_ + l * kLanes) - load(expert_e_ + l * kLanes), sum);
      store(sum, e + i * kLanes);
      for (int j = 0; j < N(); ++j) {
        D entry = load(expert_F_ + (i * N() + j) * kLanes);
        for (int l = 0; l < N(); ++l)
          entry = fnma(gain(out, i, l), load(expert_F_ + (l * N() + j) * kLanes), entry);
        store(entry, F + (i * N() + j) * kLanes);
      }
    }
  }
  // The adjoint of an entry of G: d_e (c - e_expert)' - d_F F_expert'.
  D gain_adjoint(int i, int l) const {
    D d = load(d_e + i * kLanes) * (load(centre_ + l * kLanes) - load(expert_e_ + l * kLanes));
    for (int j = 0; j < N(); ++j)
      d = fnma(load(d_F + (i * N() + j) * kLanes), load(expert_F_ + (l * N() + j) * kLanes), d);
    return d * load(active_ + l * kLanes);
  }
  // Those of F_expert and e_expert: (I - G)' d_F and (I - G)' d_e.
  void set_expert_adjoints(const T* out) {
    for (int l = 0; l < N(); ++l) {
      D of_e = load(d_e + l * kLanes);
      for (int i = 0; i < N(); ++i) of_e = fnma(gain(out, i, l), load(d_e + i * kLanes), of_e);
      store(of_e, expert_d_e_ + l * kLanes);
      for (int j = 0; j < N(); ++j) {
        D of_F = load(d_F + (l * N() + j) * kLanes);
        for (int i = 0; i < N(); ++i)
          of_F = fnma(gain(out, i, l), load(d_F + (i * N() + j) * kLanes), of_F);
        store(of_F, expert_d_F_ + (l * N() + j) * kLanes);
      }
    }
  }

  // The expert map's share of d_x and d_theta; nothing where F and e were overridden, whatever the
  // map makes of the state there.
  void add_map_adjoint(const LaneExceptions& except, const double* x, double* d_x,
                       double* d_theta) {
    clear_map_adjoints();
    map_->backward(point(x), toward_centre() ? expert_d_F_ : d_F,
                   toward_centre() ? expert_d_e_ : d_e, map_d_x_, map_d_theta_,
                   ws_.map_scratch.data());
    add_map_adjoints(except, d_x, d_theta);
  }
  void clear_map_adjoints() {
    for (int i = 0; i < N(); ++i) store(zero<double>(), map_d_x_ + i * kLanes);
    for (int i = 0; i < parameters_; ++i) store(zero<double>(), map_d_theta_ + i * kLanes);
  }
  void add_map_adjoints(const LaneExceptions& except, double* d_x, double* d_theta) {
    const D none = zero<double>();
    const auto add = [&](const double* from, double* to) HWY_ATTR {
      D value = load(from);
      if (except.any) value = select(except.fresh, none, select(except.ended, none, value));
      store(load(to) + value, to);
    };
    for (int i = 0; i < N(); ++i) add(map_d_x_ + i * kLanes, d_x + i * kLanes);
    for (int i = 0; i < parameters_; ++i) add(map_d_theta_ + i * kLanes, d_theta + i * kLanes);
  }

  void override_with(const LaneExceptions& except) {
    const D none = zero<double>();
    const D one = broadcast(1.0);
    for (int i = 0; i < N(); ++i)
      for (int j = 0; j < N(); ++j) {
        double* entry = F + (i * N() + j) * kLanes;
        const D started = select(except.fresh, none, load(entry));
        store(select(except.ended, i == j ? one : none, started), entry);
      }
    start_.override_state(except, N(), e, L_);
  }
  void take_overridden_adjoints(const LaneExceptions& except, const LineMask<double>& lane_ok) {
    start_.take_adjoints(except, lane_ok, N(), d_e, d_L_, ws_.d_initial.data());
    for (int i = 0; i < N() * N(); ++i) start_.clear(except, d_F + i * kLanes);
  }

  const StateModel<T>& model_;
  const Architecture& arch_;
  const StateLine<T>& line_;
  const StateInput<T>& in_;
  StateWorkspace<T>& ws_;
  const StateStart<T> start_;
  const int n_;
  const kalman::TransitionMap* const map_;
  const kalman::FlowMap* const flow_;  // the map, where noise is added up along it
  const int inputs_;
  const int parameters_;
  const RecordRows rows_;
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
