#include "infer/member_stream.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/even_steps.hpp"

namespace kalmia::infer {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

MemberStream::MemberStream(const model::LearnedModel<float>& member)
    : model(member),
      filter(model.inference_window(), model.parameters()),
      state(filter.start()),
      last(static_cast<std::size_t>(model.meas_dim()), kMissing),
      u(model.description().input_names.size()),
      noise_std(model.noise_std()),
      missing_(last.size(), kMissing),
      gap_(model.meas_dim()),
      most_empty_steps_(model.most_empty_steps()) {}

heads::StreamResult MemberStream::step(const double* now, double dt_ratio, const double* inputs,
                                       const double* weight) {
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
  std::ranges::fill(u, 0.0);
}

void MemberStream::start(float* network, double* numbers) const {
  std::fill_n(network, floats(), 0.0f);
  std::fill_n(numbers, doubles(), 0.0);
  std::fill_n(numbers + 2, last.size(), kMissing);
  std::fill_n(numbers + 2 + last.size() + u.size() + state.centre.size(), state.trust.size(), 1.0);
}

void MemberStream::load(const float* network, const double* numbers) {
  std::copy_n(network, state.h.size(), state.h.begin());
  std::copy_n(network + state.h.size(), state.features.size(), state.features.begin());
  state.started = *numbers++ != 0;
  state.lost = *numbers++;
  for (std::vector<double>* part : {&last, &u, &state.centre, &state.trust, &state.x, &state.P}) {
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
       {&last, &u, &state.centre, &state.trust, &state.x, &state.P})
    numbers = std::ranges::copy(*part, numbers).out;
}

}  // namespace kalmia::infer
