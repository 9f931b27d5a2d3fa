// The state of a step as the networks give it, for one line of lanes: e and L from the decoder's
// output rows, and the adjoint. What is known of the step before does not enter:
//
//   x[k] ~ N(c[k] + e_out, L L'),   L = L_out sqrt(q dt[k] / dt)
//
// Paper: the recurrent filter and smoother, App. C.

#if defined(KALMIA_HEADS_DIRECT_TRANSITION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_DIRECT_TRANSITION_INL_H_
#undef KALMIA_HEADS_DIRECT_TRANSITION_INL_H_
#else
#define KALMIA_HEADS_DIRECT_TRANSITION_INL_H_
#endif

#include "heads/direct/direct.hpp"
#include "heads/state_line-inl.h"
#include "heads/state_start-inl.h"
#include "lanes/triangle-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

/// The rows of L, a packed triangle with a positive diagonal: from and to the step's record. `out`
/// are all rows, `positive` those after softplus, each `row` numbers apart.
template <typename T>
struct TriangleRows {
  static constexpr int kLanes = kLineLanes<double>;

  static void read(const Architecture& arch, const T* out, const T* positive, std::ptrdiff_t row,
                   double* L) {
    for (int i = 0; i < arch.state_dim(); ++i) {
      for (int j = 0; j < i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        store(load_as<double>(out + (arch.L_row() + entry) * row), L + entry * kLanes);
      }
      store(load_as<double>(positive + i * row), L + lanes::triangle_index(i, i) * kLanes);
    }
  }
  static void write(const Architecture& arch, const LineMask<double>& lane_ok, const double* d_L,
                    T* out, T* positive, std::ptrdiff_t row) {
    const auto put = [&](int entry, T* to) HWY_ATTR {
      store_as(select(lane_ok, load(d_L + entry * kLanes), zero<double>()), to);
    };
    for (int i = 0; i < arch.state_dim(); ++i) {
      for (int j = 0; j < i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        put(entry, out + (arch.L_row() + entry) * row);
      }
      put(lanes::triangle_index(i, i), positive + i * row);
    }
  }
};

/// One step at a time. Holds no data of its own: views of the input and the workspace, and lines of
/// scratch. RowsOf (TriangleRows, DiagonalRows) says what the rows of the covariance are.
template <typename T, template <typename> typename RowsOf>
class DirectTransition : public DirectLines {
 public:
  static constexpr int kLanes = kLineLanes<double>;
  static constexpr bool kRecursive = false;
  using D = Line<double>;

  DirectTransition(const StateModel<T>& model, const StateInput<T>& in, StateWorkspace<T>& ws,
                   const StateLine<T>& line, lanes::LineTaker<double>& scratch)
      : model_(model),
        arch_(*model.architecture),
        line_(line),
        in_(in),
        ws_(ws),
        // A two-sided model with a centre has the future to go by, and so no start.
        start_(model.network->initial, in, line.first,
               in.centre == nullptr || !arch_.options.two_sided),
        N_(arch_.state_dim()),
        rows_(arch_, ws.training) {
    lay_out(scratch, N_, model.map_inputs());
    ln::set_zero(N_ * N_, F);
  }

  /// F of predict_forward and predict_backward: 0.
  const double* F_or_null() const { return nullptr; }
  /// No share of a step is lost that does not follow from the one before.
  const double* lost(int) const { return nullptr; }
  int parameters() const { return model_.map_parameters(); }
  /// Where the emission is evaluated, at the step that was read last.
  kalman::MapPoint point(const double* x) const { return {x, dt_, u_, model_.theta}; }
  LaneExceptions exceptions_at(int k) const { return start_.exceptions_at(k); }

  /// Sets e and Q of step k. A state whose c is not finite has initial.e and the deviation of
  /// initial.L instead, and so has a lane that starts here; one past its end has e = 0, L = 0.
  void read(int k, const double*) {
    const T* record = line_.record(rows_, k);
    const T* out = record + line_.panel(rows_.out) + line_.first;
    const D dt =
        in_.dt == nullptr ? broadcast(model_.dt) : load(in_.dt + k * line_.panel(1) + line_.first);
    store(dt, dt_);
    if (scales_noise()) store(sqrt(dt * broadcast(model_.process_noise / model_.dt)), dt_scale_);
    read_noise(record, out);
    for (int i = 0; i < N_; ++i)
      store(load_as<double>(out + line_.panel(arch_.e_row() + i)), e + i * kLanes);
    if (in_.centre != nullptr) add_centre(k);
    const LaneExceptions except = exceptions_at(k);
    if (except.any) start_.override_state(except, N_, e, L_);
    ln::gram_lower<lanes::Put::Set, double>(N_, L_, Q);
  }

  /// Sends d_e and d_Q of step k, which was read last, to where `read` took e and Q from.
  void write_adjoint(int k, const LineMask<double>& lane_ok, const double*, double*, double*) {
    ln::gram_lower_backward<lanes::Put::Set, double>(N_, L_, d_Q, d_L_);
    const LaneExceptions except = exceptions_at(k);
    double* d_initial = ws_.d_initial.data();
    if (except.any) start_.take_adjoints(except, lane_ok, N_, d_e, d_L_, d_initial);
    if (in_.centre != nullptr) take_uncentred_adjoints(k, lane_ok, d_initial);
    if (scales_noise())
      for (int i = 0; i < lanes::triangle_size(N_); ++i)
        store(load(d_L_ + i * kLanes) * load(dt_scale_), d_L_ + i * kLanes);
    T* record = line_.record(rows_, k);
    T* out = record + line_.panel(rows_.out) + line_.first;
    for (int i = 0; i < N_; ++i)
      store_as(select(lane_ok, load(d_e + i * kLanes), zero<double>()),
               out + line_.panel(arch_.e_row() + i));
    RowsOf<T>::write(arch_, lane_ok, d_L_, out, record + line_.panel(rows_.positive) + line_.first,
                     line_.panel(1));
  }

 private:
  bool scales_noise() const { return in_.dt != nullptr || model_.process_noise != 1; }

  void read_noise(const T* record, const T* out) {
    RowsOf<T>::read(arch_, out, record + line_.panel(rows_.positive) + line_.first, line_.panel(1),
                    L_);
    for (int i = 0; scales_noise() && i < lanes::triangle_size(N_); ++i)
      store(load(L_ + i * kLanes) * load(dt_scale_), L_ + i * kLanes);
  }

  // Sets known_ to 1 where the centre is finite, else 0, and centre_ to it or to 0.
  void read_centre(int k) {
    line_.read_panel(in_.centre + k * line_.panel(N_), N_, centre_);
    const D infinity = broadcast(std::numeric_limits<double>::infinity());
    for (int i = 0; i < N_; ++i) {
      const D c = load(centre_ + i * kLanes);
      const LineMask<double> finite = greater(infinity, abs(c));
      store(select(finite, c, zero<double>()), centre_ + i * kLanes);
      store(select(finite, broadcast(1.0), zero<double>()), known_ + i * kLanes);
    }
  }
  void add_centre(int k) {
    read_centre(k);
    const InitialState& initial = model_.network->initial;
    for (int i = 0; i < N_; ++i) {
      const LineMask<double> known = nonzero(load(known_ + i * kLanes));
      store(select(known, load(e + i * kLanes) + load(centre_ + i * kLanes),
                   broadcast(initial.e[static_cast<std::size_t>(i)])),
            e + i * kLanes);
      for (int j = 0; j <= i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        const D deviation =
            i == j ? broadcast(initial.L[static_cast<std::size_t>(entry)]) : zero<double>();
        store(select(known, load(L_ + entry * kLanes), deviation), L_ + entry * kLanes);
      }
    }
  }
  // Its adjoint: those of a state without a centre go to the initial state.
  void take_uncentred_adjoints(int k, const LineMask<double>& lane_ok, double* d_initial) {
    read_centre(k);
    const D none = zero<double>();
    const auto move = [&](const LineMask<double>& known, double* line, double* sum) HWY_ATTR {
      const D value = load(line);
      if (sum != nullptr) store(load(sum) + select(lane_ok, select(known, none, value), none), sum);
      store(select(known, value, none), line);
    };
    for (int i = 0; i < N_; ++i) {
      const LineMask<double> known = nonzero(load(known_ + i * kLanes));
      move(known, d_e + i * kLanes, d_initial + i * kLanes);
      for (int j = 0; j <= i; ++j) {
        const int entry = lanes::triangle_index(i, j);
        move(known, d_L_ + entry * kLanes, i == j ? d_initial + (N_ + entry) * kLanes : nullptr);
      }
    }
  }

  const StateModel<T>& model_;
  const Architecture& arch_;
  const StateLine<T>& line_;
  const StateInput<T>& in_;
  StateWorkspace<T>& ws_;
  const StateStart<T> start_;
  const int N_;
  const RecordRows rows_;
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
