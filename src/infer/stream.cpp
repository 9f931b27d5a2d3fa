#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/scaled_data.hpp"
#include "infer/stream_impl.hpp"

namespace kalmia {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// State::network holds h and the features; State::filter whether the series has started, the last
// values, the centre, x and P.
Stream::Impl::Impl(std::shared_ptr<const Model::Impl> shared_model)
    : model(std::move(shared_model)),
      filter(model->learned->window(), model->learned->parameters()),
      state(filter.start()),
      last(static_cast<std::size_t>(model->learned->meas_dim()), kMissing),
      y(last.size()),
      mean(state.x.size()),
      covariance(state.P.size()) {}

model::StreamResult Stream::Impl::step(const double* now) {
  return filter.step(state, {now, y.size()});
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
}

void Stream::Impl::load(const State& from) {
  if (from.network.size() != state.h.size() + state.features.size() ||
      from.filter.size() != 1 + last.size() + state.centre.size() + state.x.size() + state.P.size())
    throw DataError("the state is not one of this model; let start() of its stream make it");
  const float* network = from.network.data();
  std::copy_n(network, state.h.size(), state.h.begin());
  std::copy_n(network + state.h.size(), state.features.size(), state.features.begin());
  const double* number = from.filter.data();
  state.started = *number++ != 0;
  for (std::vector<double>* part : {&last, &state.centre, &state.x, &state.P}) {
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
  for (const std::vector<double>* part : {&last, &state.centre, &state.x, &state.P})
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
      1 + s.last.size() + s.state.centre.size() + s.state.x.size() + s.state.P.size(), 0.0);
  std::fill_n(state.filter.begin() + 1, s.last.size(), kMissing);
  return state;
}

void Stream::step(State& state, std::span<const double> given) {
  Impl& s = *impl_;
  const model::Units& units = s.model->learned->description().units;
  if (given.size() != s.y.size())
    throw DataError(std::to_string(given.size()) + " values, but the model measures " +
                    std::to_string(s.y.size()) + " channels");
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
  const model::StreamResult result = s.step(s.y.data());
  if (result.failed)
    throw NumericalError(
        "the likelihood is not finite; the measurement is beyond anything the model can "
        "follow. Start the series anew");
  if (!s.finite())
    throw NumericalError(
        "the prediction through missing values is not finite. Start the series anew");
  s.show(s.y.data());
  s.store(state);
  units.to_user(s.state.x.data(), s.state.P.data(), s.mean.data(), s.covariance.data());
  s.log_likelihood = measured.log_likelihood(result.nll);
}

std::span<const double> Stream::mean() const { return impl_->mean; }
std::span<const double> Stream::covariance() const { return impl_->covariance; }
double Stream::log_likelihood() const { return impl_->log_likelihood; }

}  // namespace kalmia
