#include "infer/stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/value_checks.hpp"
#include "infer/calibrated.hpp"
#include "infer/mixture.hpp"
#include "infer/scaled_data.hpp"
#include "infer/usable.hpp"
#include "kalman/matrix_checks.hpp"
#include "model/even_steps.hpp"

namespace kalmia::infer {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

MemberStream::MemberStream(const model::LearnedModel<float>& member)
    : model(member),
      filter(model.inference_window(), model.parameters()),
      state(filter.start()),
      last(static_cast<std::size_t>(model.meas_dim()), kMissing),
      since(last.size(), kNever),
      u(model.description().input_names.size()),
      noise_std(model.noise_std()),
      missing_(last.size(), kMissing),
      gap_(model.meas_dim()),
      most_empty_steps_(model.most_empty_steps()) {}

heads::StreamResult MemberStream::step(const double* now, double dt_ratio, const double* inputs,
                                       const double* weight) {
  for (double& each : since) each += dt_ratio;
  const int parts = state.started ? model::parts_of_step(dt_ratio, most_empty_steps_) : 1;
  for (int i = 1; i < parts; ++i) {
    const heads::StreamResult empty = one_step(missing_.data(), 1, inputs, nullptr);
    if (empty.failed) return empty;
    show(missing_.data());
  }
  return one_step(now, dt_ratio - (parts - 1), inputs, weight);
}

heads::StreamResult MemberStream::one_step(const double* now, double dt_ratio, const double* inputs,
                                           const double* weight) {
  if (std::abs(dt_ratio - 1) <= model::kStepRounding) dt_ratio = 1;
  const auto of_map = static_cast<std::size_t>(model.expert().map->input_dim());
  if (inputs == nullptr) inputs = u.data();  // at a series' first step, where nothing acts
  if (state.started) model.description().features.drive_to(dt_ratio, inputs, state.features.data());
  return filter.step(state, {now, last.size()}, dt_ratio * model.map_dt(), {inputs, of_map},
                     {weight, weight == nullptr ? 0 : last.size()});
}

void MemberStream::show(const double* y) {
  for (std::size_t m = 0; m < since.size(); ++m)
    if (!std::isnan(y[m])) since[m] = 0;
  const model::FeatureSpec& features = model.description().features;
  if (model.minds_gaps()) {
    gap_.set(model, y, last.data(), state.x.data(), state.P.data());
    features.trust_to(gap_.trust.data(), state.trust.data());
    state.lost = gap_.lost;
    y = gap_.shown.data();
  }
  features.step_to(y, last.data(), state.features.data(), state.centre.data());
  if (!model.description().recursive()) features.seen_centre(last.data(), state.centre.data());
}

bool MemberStream::finite() const {
  const auto is_finite = [](double value) { return std::isfinite(value); };
  return std::ranges::all_of(state.x, is_finite) && std::ranges::all_of(state.P, is_finite);
}

void MemberStream::restart() {
  state = filter.start();
  std::ranges::fill(last, kMissing);
  std::ranges::fill(since, kNever);
  std::ranges::fill(u, 0.0);
}

void MemberStream::start(float* network, double* numbers) const {
  std::fill_n(network, floats(), 0.0f);
  std::fill_n(numbers, doubles(), 0.0);
  std::fill_n(numbers + 2, last.size(), kMissing);
  std::fill_n(numbers + 2 + last.size(), since.size(), kNever);
  std::fill_n(numbers + 2 + last.size() + since.size() + u.size() + state.centre.size(),
              state.trust.size(), 1.0);
}

void MemberStream::load(const float* network, const double* numbers) {
  std::copy_n(network, state.h.size(), state.h.begin());
  std::copy_n(network + state.h.size(), state.features.size(), state.features.begin());
  state.started = *numbers++ != 0;
  state.lost = *numbers++;
  for (std::vector<double>* part :
       {&last, &since, &u, &state.centre, &state.trust, &state.x, &state.P}) {
    std::copy_n(numbers, part->size(), part->begin());
    numbers += part->size();
  }
}

void MemberStream::store(float* network, double* numbers) const {
  network = std::ranges::copy(state.h, network).out;
  std::ranges::copy(state.features, network);
  *numbers++ = state.started ? 1 : 0;
  *numbers++ = state.lost;
  for (const std::vector<double>* part :
       {&last, &since, &u, &state.centre, &state.trust, &state.x, &state.P})
    numbers = std::ranges::copy(*part, numbers).out;
}

}  // namespace kalmia::infer

namespace kalmia {

Stream::Impl::Impl(std::shared_ptr<const Model::Impl> shared_model)
    : model(std::move(shared_model)),
      y(static_cast<std::size_t>(model.meas_dim())),
      weight(model.impl().members.size() * y.size()),
      mean(static_cast<std::size_t>(model.state_dim())),
      covariance(mean.size() * mean.size()),
      nll(model.impl().members.size()),
      one_mean_(mean.size()),
      one_covariance_(covariance.size()),
      one_noise_(covariance.size()),
      noise_(covariance.size()),
      one_y_pred_(y.size()),
      one_S_(y.size() * y.size()),
      one_R_(one_S_.size()),
      y_pred_(y.size()),
      S_(one_S_.size()),
      R_(one_S_.size()),
      residual_(y.size()) {
  if (model.impl().calibration)
    factors_.emplace(model.impl().first(), model.impl().calibration->filter);
  for (const auto& member : model.impl().members) members.emplace_back(*member);
}

void Stream::Impl::load(const State& from) {
  if (from.network.size() != members.size() * members[0].floats() ||
      from.filter.size() != members.size() * members[0].doubles())
    throw DataError("the state is not one of this model; let start() of its stream make it");
  for (std::size_t j = 0; j < members.size(); ++j)
    members[j].load(from.network.data() + j * members[j].floats(),
                    from.filter.data() + j * members[j].doubles());
}

void Stream::Impl::store(State& to) const {
  for (std::size_t j = 0; j < members.size(); ++j)
    members[j].store(to.network.data() + j * members[j].floats(),
                     to.filter.data() + j * members[j].doubles());
}

// As combined.cpp does it for whole series.
void Stream::Impl::combine(bool weighted) {
  const std::size_t N = mean.size(), M = y.size();
  for (std::size_t j = 0; j < members.size(); ++j) {
    const infer::MemberStream& member = members[j];
    const model::Units& units = member.model.description().units;
    const int count = static_cast<int>(j) + 1;
    units.to_user(member.state.x.data(), member.state.P.data(), one_mean_.data(),
                  one_covariance_.data());
    infer::add_to_mixture(count, static_cast<int>(N), one_mean_, one_covariance_, mean, covariance);
    if (!factors_) continue;
    const double* x_pred = member.filter.x_pred().data();
    const double* w = weighted ? weight.data() + j * M : nullptr;
    infer::noise_part(member.model, member.state.x.data(), member.state.P.data(),
                      {y.data(), w, x_pred}, one_noise_.data());
    for (std::size_t n = 0; n < one_noise_.size(); ++n)
      one_noise_[n] *= units.x_scale[n / N] * units.x_scale[n % N];
    infer::add_to_mean(count, one_noise_, noise_);
    infer::predict_measurement(member.model, x_pred, member.filter.P_pred().data(),
                               one_y_pred_.data(), one_S_.data());
    for (std::size_t m = 0; m < M; ++m) one_y_pred_[m] *= units.y_scale[m];
    for (std::size_t n = 0; n < one_S_.size(); ++n) {
      const double unit = units.y_scale[n / M] * units.y_scale[n % M];
      one_S_[n] *= unit;
      one_R_[n] = member.model.emission().R()[n] * unit;
      if (w != nullptr) one_R_[n] /= std::sqrt(w[n / M] * w[n % M]);
    }
    infer::add_to_mean(count, one_R_, R_);
    infer::add_to_mixture(count, static_cast<int>(M), one_y_pred_, one_S_, y_pred_, S_);
  }
  const model::Units& units = members[0].model.description().units;
  const bool student = members[0].model.description().tails > 0;
  if (!factors_ || student) {
    infer::Measured measured;
    for (std::size_t m = 0; m < M; ++m)
      if (!std::isnan(y[m])) measured.add({1, std::log(units.y_scale[m])});
    log_likelihood =
        measured.log_likelihood(members.size() == 1 ? nll[0] : infer::mixture_nll(nll));
  }
  if (!factors_) return;
  factors_->set(members[0].since);
  factors_->scale_states(noise_, covariance);
  if (student) return;
  for (std::size_t m = 0; m < M; ++m) residual_[m] = units.y_scale[m] * y[m] - y_pred_[m];
  factors_->scale_measured({}, S_);
  for (std::size_t n = 0; n < S_.size(); ++n) S_[n] += R_[n];
  log_likelihood = infer::gaussian_log_likelihood(residual_, S_);
}

Stream::Stream(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Stream::~Stream() = default;
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;

Stream::State Stream::start() const {
  const std::vector<infer::MemberStream>& members = impl_->members;
  State state;
  state.network.resize(members.size() * members[0].floats());
  state.filter.resize(members.size() * members[0].doubles());
  for (std::size_t j = 0; j < members.size(); ++j)
    members[j].start(state.network.data() + j * members[j].floats(),
                     state.filter.data() + j * members[j].doubles());
  return state;
}

void Stream::step(State& state, std::span<const double> given, double dt,
                  std::span<const double> inputs, std::span<const double> y_std) {
  Impl& s = *impl_;
  const model::ModelDescription& description = s.members[0].model.description();
  const model::Units& units = description.units;
  if (inputs.size() != description.input_names.size())
    throw DataError(std::to_string(inputs.size()) + " inputs, but the model has " +
                    std::to_string(description.input_names.size()));
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
  }
  for (std::size_t m = 0; m < given.size(); ++m) {
    if (std::isinf(given[m]))
      throw DataError("value " + std::to_string(m + 1) +
                      " is infinite; use NaN for a missing value");
    s.y[m] = (given[m] - units.y_offset[m]) / units.y_scale[m];
  }
  s.load(state);
  for (std::size_t j = 0; j < s.members.size(); ++j) {
    infer::MemberStream& member = s.members[j];
    double* weight = s.weight.data() + j * s.y.size();
    for (std::size_t m = 0; m < y_std.size(); ++m)
      weight[m] = std::isnan(given[m]) ? 1 : std::pow(member.noise_std[m] / y_std[m], 2);
    const heads::StreamResult result =
        member.step(s.y.data(), std::isnan(dt) ? 1.0 : dt / description.dt, member.u.data(),
                    y_std.empty() ? nullptr : weight);
    if (result.failed)
      throw NumericalError(
          "the likelihood is not finite; the measurement is beyond anything the model can "
          "follow. Start the series anew");
    if (!member.finite())
      throw NumericalError(
          "the prediction through missing values is not finite. Start the series anew");
    s.nll[j] = result.nll;
  }
  // Each member's last prediction is still in its filter.
  s.combine(!y_std.empty());
  infer::require_usable("", s.members[0].model.expert().state_names, s.mean, s.covariance);
  for (infer::MemberStream& member : s.members) {
    member.show(s.y.data());
    std::ranges::copy(inputs, member.u.begin());
  }
  s.store(state);
}

std::span<const double> Stream::mean() const { return impl_->mean; }
std::span<const double> Stream::covariance() const { return impl_->covariance; }
double Stream::log_likelihood() const { return impl_->log_likelihood; }

}  // namespace kalmia
