// KalmanStream: lane 0 of one line, step by step.
#include <cmath>

#include "kalman/classical/batch.hpp"
#include "kalman/classical/line_step.hpp"
#include "kalmia/classical.hpp"
#include "kalmia/error.hpp"

namespace kalmia {

using kalman::kLanes;

struct KalmanStream::Impl {
  explicit Impl(const LinearModel& model)
      : lines(kalman::make_model_lines(model)),
        state(model.state_dim, model.meas_dim),
        x_pred(static_cast<std::size_t>(state.N)),
        P_pred(static_cast<std::size_t>(state.N * state.N)),
        x_filt(x_pred.size()),
        P_filt(P_pred.size()),
        innovation(static_cast<std::size_t>(state.M)) {}

  std::span<const double> view(const std::vector<double>& vector) const {
    return steps == 0 ? std::span<const double>() : std::span<const double>(vector);
  }

  kalman::ModelLines lines;
  kalman::FilterState state;
  // Lane 0 after the last step.
  std::vector<double> x_pred, P_pred, x_filt, P_filt, innovation;
  std::size_t steps = 0;
  double last = 0;
  double total = 0;
};

KalmanStream::KalmanStream(const LinearModel& model) : impl_(std::make_unique<Impl>(model)) {}
KalmanStream::~KalmanStream() = default;
KalmanStream::KalmanStream(KalmanStream&&) noexcept = default;
KalmanStream& KalmanStream::operator=(KalmanStream&&) noexcept = default;

void KalmanStream::step(std::span<const double> y) {
  Impl& s = *impl_;
  kalman::FilterState& state = s.state;
  if (y.size() != s.innovation.size())
    throw ConfigError("y has " + std::to_string(y.size()) +
                      " components, but the model's meas_dim is " +
                      std::to_string(s.innovation.size()));
  double observed = 0;
  for (int m = 0; m < state.M; ++m) {
    const double value = y[static_cast<std::size_t>(m)];
    if (std::isinf(value))
      throw DataError("step " + std::to_string(s.steps) + kalman::infinite_text(m, value));
    const double known = std::isnan(value) ? 0 : 1;
    observed += known;
    for (int b = 0; b < kLanes; ++b) {
      state.y[m * kLanes + b] = value;
      state.observed[m * kLanes + b] = known;
    }
  }
  const lanes::LaneBits missing = observed < state.M ? kalman::kAllLaneBits : 0;
  if (kalman::advance_linear(s.lines, state, 1, missing) & 1)
    throw NumericalError("step " + std::to_string(s.steps) + ": " + kalman::kInnovationFailure);
  kalman::read_lane(state.x_pred, state.N, 0, s.x_pred.data());
  kalman::read_lane(state.x_filt, state.N, 0, s.x_filt.data());
  kalman::read_lane(state.innovation, state.M, 0, s.innovation.data());
  if (!state.kept) {
    kalman::read_lane(state.P_pred, state.N * state.N, 0, s.P_pred.data());
    kalman::read_lane(state.P_filt, state.N * state.N, 0, s.P_filt.data());
  }
  s.last = kalman::log_density(state.nll[0], observed);
  s.total += s.last;
  ++s.steps;
}

std::size_t KalmanStream::steps() const { return impl_->steps; }
std::span<const double> KalmanStream::predicted_mean() const { return impl_->view(impl_->x_pred); }
std::span<const double> KalmanStream::predicted_covariance() const {
  return impl_->view(impl_->P_pred);
}
std::span<const double> KalmanStream::filtered_mean() const { return impl_->view(impl_->x_filt); }
std::span<const double> KalmanStream::filtered_covariance() const {
  return impl_->view(impl_->P_filt);
}
std::span<const double> KalmanStream::innovation() const { return impl_->view(impl_->innovation); }
double KalmanStream::last_log_likelihood() const { return impl_->last; }
double KalmanStream::log_likelihood() const { return impl_->total; }

void KalmanStream::restart() {
  impl_->state.restart();
  impl_->steps = 0;
  impl_->last = impl_->total = 0;
}

}  // namespace kalmia
