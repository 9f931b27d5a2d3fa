#include <algorithm>
#include <cmath>
#include <limits>

#include "data/value_checks.hpp"
#include "infer/scaled_data.hpp"
#include "infer/stream_impl.hpp"
#include "kalman/matrix_checks.hpp"

namespace kalmia {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// State::network holds h and the features; State::filter whether the series has started, the last
// values, the inputs, the centre, x and P.
Stream::Impl::Impl(std::shared_ptr<const Model::Impl> shared_model)
    : model(std::move(shared_model)),
      filter(model->learned->window(), model->learned->parameters()),
      state(filter.start()),
      last(static_cast<std::size_t>(model->learned->meas_dim()), kMissing),
      y(last.size()),
      weight(last.size()),
      noise_std(model->learned->noise_std()),
      u(model->learned->description().input_names.size()),
      mean(state.x.size()),
      covariance(state.P.size()) {}

model::StreamResult Stream::Impl::step(const double* now, double dt_ratio, const double* inputs,
                                       const double* weights) {
  const model::LearnedModel<float>& learned = *model->learned;
  const auto of_map = static_cast<std::size_t>(learned.expert().map->input_dim());
  if (inputs == nullptr) inputs = u.data();  // at a series' first step, where nothing acts
  if (state.started)
    learned.description().features.drive_to(dt_ratio, inputs, state.features.data());
  return filter.step(state, {now, y.size()}, dt_ratio * learned.map_dt(), {inputs, of_map},
                     {weights, weights == nullptr ? 0 : y.size()});
}

void Stream::Impl::show(const double* shown) {
  model->learned->description().features.step_to(shown, last.data(), state.features.data(),
                                                 state.centre.data());
}

bool Stream::Impl::finite() const {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return std::ranges::all_of(state.x, is_finite) && std::ranges::all_of(state.P, is_finite);
}

void Stream::Impl::restart() {
  state = filter.start();
  std::ranges::fill(last, kMissing);
  std::ranges::fill(u, 0.0);
}

void Stream::Impl::load(const State& from) {
  if (from.network.size() != state.h.size() + state.features.size() ||
      from.filter.size() !=
          1 + last.size() + u.size() + state.centre.size() + state.x.size() + state.P.size())
    throw DataError("the state is not one of this model; let start() of its stream make it");
  const float* network = from.network.data();
  std::copy_n(network, state.h.size(), state.h.begin());
  std::copy_n(network + state.h.size(), state.features.size(), state.features.begin());
  const double* number = from.filter.data();
  state.started = *number++ != 0;
  for (std::vector<double>* part : {&last, &u, &state.centre, &state.x, &state.P}) {
    std::copy_n(number, part->size(), part->begin());
    number += part->size();
  }
}

void Stream::Impl::store(State& to) const {
  std::copy(state.h.begin(), state.h.end(), to.network.begin());
  std::copy(state.features.begin(), state.features.end(),
            to.network.begin() + static_cast<std::ptrdiff_t>(state.h.size()));
  auto number = to.filter.begin();
  *number++ = state.started ? 1 : 0;
  for (const std::vector<double>* part : {&last, &u, &state.centre, &state.x, &state.P})
    number = std::copy(part->begin(), part->end(), number);
}

Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

Stream::State Stream::start() const {
  const Impl& s = *impl_;
  State state;
  state.network.assign(s.state.h.size() + s.state.features.size(), 0.0f);
  state.filter.assign(
      1 + s.last.size() + s.u.size() + s.state.centre.size() + s.state.x.size() + s.state.P.size(),
      0.0);
  std::fill_n(state.filter.begin() + 1, s.last.size(), kMissing);
  return state;
}

void Stream::step(State& state, std::span<const double> given, double dt,
                  std::span<const double> inputs, std::span<const double> y_std) {
  Impl& s = *impl_;
  const model::ModelDescription& description = s.model->learned->description();
  const model::Units& units = description.units;
  if (inputs.size() != s.u.size())
    throw DataError(std::to_string(inputs.size()) + " inputs, but the model has " +
                    std::to_string(s.u.size()));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!std::isfinite(inputs[i]))
      throw DataError("input " + std::to_string(i + 1) + " is not finite");
  if (!std::isnan(dt) && (!(dt > 0) || std::isinf(dt)))
    throw DataError("dt = " + kalman::number_text(dt) + ", but a step must last longer than 0");
  if (given.size() != s.y.size())
    throw DataError(std::to_string(given.size()) + " values, but the model measures " +
                    std::to_string(s.y.size()) + " channels");
  if (y_std.empty() && !description.noise_std.empty())
    throw DataError(
        "the model was fitted to data that say how noisy each value is; give their standard "
        "deviations as well");
  if (!y_std.empty() && y_std.size() != s.y.size())
    throw DataError(std::to_string(y_std.size()) + " standard deviations, but the model measures " +
                    std::to_string(s.y.size()) + " channels");
  for (std::size_t m = 0; m < y_std.size(); ++m) {
    if (!data::usable_std(y_std[m], given[m]))
      data::refuse_std("value " + std::to_string(m + 1), y_std[m], description.measured_names[m]);
    s.weight[m] = std::isnan(given[m]) ? 1 : std::pow(s.noise_std[m] / y_std[m], 2);
  }
  infer::Measured measured;
  for (std::size_t m = 0; m < given.size(); ++m) {
    if (std::isinf(given[m]))
      throw DataError("value " + std::to_string(m + 1) +
                      " is infinite; use NaN for a missing value");
    s.y[m] = (given[m] - units.y_offset[m]) / units.y_scale[m];
    if (std::isnan(given[m])) continue;
    measured.add({1, std::log(units.y_scale[m])});
  }
  s.load(state);
  const model::StreamResult result = s.step(s.y.data(), std::isnan(dt) ? 1.0 : dt / description.dt,
                                            s.u.data(), y_std.empty() ? nullptr : s.weight.data());
  if (result.failed)
    throw NumericalError(
        "the likelihood is not finite; the measurement is beyond anything the model can "
        "follow. Start the series anew");
  if (!s.finite())
    throw NumericalError(
        "the prediction through missing values is not finite. Start the series anew");
  s.show(s.y.data());
  std::ranges::copy(inputs, s.u.begin());
  s.store(state);
  units.to_user(s.state.x.data(), s.state.P.data(), s.mean.data(), s.covariance.data());
  s.log_likelihood = measured.log_likelihood(result.nll);
}

std::span<const double> Stream::mean() const { return impl_->mean; }
std::span<const double> Stream::covariance() const { return impl_->covariance; }
double Stream::log_likelihood() const { return impl_->log_likelihood; }

}  // namespace kalmia
