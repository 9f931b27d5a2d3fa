#include "audio/gain_model.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

using model::kGroupLanes;

model::ArchitectureOptions options_of(const GainSizes& sizes) {
  model::ArchitectureOptions options;
  const int bins = sizes.window / 2 + 1;
  options.input_dim = 2 * bins;
  options.hidden = sizes.hidden;
  options.decoder = sizes.decoder;
  options.recursive = false;
  options.two_sided = true;
  options.gains = bins;
  return options;
}

std::vector<float> start(const model::Architecture& architecture, std::uint64_t seed) {
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  model::initialise<float>(architecture, seed, 1, 1, parameters.data());
  return parameters;
}

}  // namespace

GainModel::GainModel(const GainSizes& sizes, std::uint64_t seed)
    : sizes_(sizes), architecture_(options_of(sizes)), parameters_(start(architecture_, seed)) {
  network_.pack(architecture_, parameters_.data());
}

GainModel::GainModel(const GainSizes& sizes, std::span<const float> parameters)
    : GainModel(sizes, std::uint64_t{0}) {
  if (parameters.size() != parameters_.size())
    throw ConfigError("gains: " + std::to_string(parameters.size()) +
                      " parameters, but networks of these sizes have " +
                      std::to_string(parameters_.size()));
  set_parameters(parameters);
}

void GainModel::set_parameters(std::span<const float> parameters) {
  std::ranges::copy(parameters, parameters_.begin());
  network_.pack(architecture_, parameters_.data());
}

model::WindowModel<float> GainModel::window() const {
  model::WindowModel<float> model;
  model.architecture = &architecture_;
  model.network = &network_;
  return model;
}

void GainModel::fill_frame(std::span<const std::complex<float>> frame,
                           std::span<const float> noise_power, int t, int lane,
                           model::LaneGroup<float>& group) const {
  const std::size_t F = frame.size();
  const auto lanes = static_cast<std::size_t>(group.lanes);
  double level = 0;
  for (const float N : noise_power) level += std::log(N);
  level /= static_cast<double>(F);
  const std::size_t inputs = static_cast<std::size_t>(t) * 2 * F * lanes;
  const std::size_t gains = static_cast<std::size_t>(t) * F * lanes;
  const auto own = static_cast<std::size_t>(lane);
  for (std::size_t f = 0; f < F; ++f) {
    const float q = std::log(std::norm(frame[f]) / noise_power[f] + 0.1f);
    const float shape = static_cast<float>(0.5 * (std::log(noise_power[f]) - level));
    group.input_fwd[inputs + f * lanes + own] = q;
    group.input_fwd[inputs + (F + f) * lanes + own] = shape;
    group.gain_offset[gains + f * lanes + own] = 0.5f * (q - 1);
  }
  // The backward encoder reads the frame too; nothing at the last step.
  for (std::size_t i = 0; i < 2 * F; ++i)
    group.input_bwd[inputs + i * lanes + own] = group.input_fwd[inputs + i * lanes + own];
}

void apply_gains(const GainModel& model, std::span<Spectrogram> noisy,
                 std::span<const std::vector<float>> noise_power, ThreadTeam& team) {
  int steps = 0;
  for (const Spectrogram& each : noisy) steps = std::max(steps, each.frames);
  const auto F = static_cast<std::size_t>(model.bins());
  model::BatchEngine<float> engine(model.window(), team, steps, kGroupLanes, false);
  std::vector<model::LaneGroup<float>> groups(1);
  std::vector<double> gains(static_cast<std::size_t>(steps) * F * kGroupLanes);
  for (std::size_t first = 0; first < noisy.size(); first += kGroupLanes) {
    const std::size_t count = std::min<std::size_t>(kGroupLanes, noisy.size() - first);
    model::LaneGroup<float>& group = groups[0];
    group.resize(model.architecture(), steps, kGroupLanes);
    group.length.assign(kGroupLanes, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const Spectrogram& own = noisy[first + i];
      group.length[i] = own.frames;
      for (int t = 0; t < own.frames; ++t)
        model.fill_frame(own.frame(t), noise_power[first + i], t, static_cast<int>(i), group);
    }
    model::WindowMoments moments;
    moments.gain = gains.data();
    engine.forward(groups, {&moments, 1}).require_success();
    for (std::size_t i = 0; i < count; ++i)
      for (int t = 0; t < noisy[first + i].frames; ++t)
        for (std::size_t f = 0; f < F; ++f)
          noisy[first + i].frame(t)[f] *=
              static_cast<float>(gains[(static_cast<std::size_t>(t) * F + f) * kGroupLanes + i]);
  }
}

}  // namespace kalmia::audio
