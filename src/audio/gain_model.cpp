#include "audio/gain_model.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

using lanes::kLaneQuantum;
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

void GainModel::fill_lane(const Spectrogram& noisy, std::span<const float> noise_power, int first,
                          int count, int lane, model::LaneGroup<float>& group) const {
  const auto F = static_cast<std::size_t>(bins());
  const auto lanes = static_cast<std::size_t>(group.lanes), own = static_cast<std::size_t>(lane);
  // The noise's spectrum relative to its level.
  std::vector<float> shape(F);
  double level = 0;
  for (std::size_t f = 0; f < F; ++f) level += shape[f] = std::log(noise_power[f]);
  for (float& each : shape)
    each = 0.5f * (each - static_cast<float>(level / static_cast<double>(F)));
  for (int t = 0; t < count; ++t) {
    const std::span<const std::complex<float>> frame = noisy.frame(first + t);
    const std::size_t gains = static_cast<std::size_t>(t) * F * lanes + own;
    const std::size_t inputs = 2 * static_cast<std::size_t>(t) * F * lanes + own;
    for (std::size_t f = 0; f < F; ++f) {
      const float q = std::log(std::norm(frame[f]) / noise_power[f] + 0.1f);
      // Both encoders read the frame; the backward one nothing at the last step.
      for (Buffer<float>* input : {&group.input_fwd, &group.input_bwd}) {
        (*input)[inputs + f * lanes] = q;
        (*input)[inputs + (F + f) * lanes] = shape[f];
      }
      group.gain_offset[gains + f * lanes] = 0.5f * (q - 1);
    }
  }
  group.length[own] = count;
}

void apply_gains(const GainModel& model, std::span<Spectrogram> noisy,
                 std::span<const std::vector<float>> noise_power, ThreadTeam& team) {
  if (noisy.empty()) return;
  int steps = 0;
  for (const Spectrogram& each : noisy) steps = std::max(steps, each.frames);
  const auto F = static_cast<std::size_t>(model.bins());
  const auto threads = static_cast<std::size_t>(team.size());
  // Few recordings leave half of the lanes empty.
  const int lanes = noisy.size() <= threads * kLaneQuantum ? kLaneQuantum : kGroupLanes;
  const auto width = static_cast<std::size_t>(lanes);
  model::BatchEngine<float> engine(model.window(), team, steps, lanes, false);
  std::vector<model::LaneGroup<float>> groups(threads);
  std::vector<model::WindowMoments> moments(threads);
  std::vector<std::vector<double>> gains(threads);
  // As many groups at a time as there are threads.
  for (std::size_t first = 0; first < noisy.size(); first += threads * width) {
    const std::span<Spectrogram> some =
        noisy.subspan(first, std::min(threads * width, noisy.size() - first));
    const std::size_t used = (some.size() + width - 1) / width;
    const auto in_group = [&](std::size_t g, const auto& work) {
      for (std::size_t i = g * width; i < std::min(some.size(), (g + 1) * width); ++i) work(i);
    };
    team.run(static_cast<int>(used), [&](int index, int) {
      const auto g = static_cast<std::size_t>(index);
      groups[g].resize(model.architecture(), steps, lanes);
      groups[g].length.assign(width, 0);
      gains[g].resize(static_cast<std::size_t>(steps) * F * width);
      moments[g].gain = gains[g].data();
      in_group(g, [&](std::size_t i) {
        model.fill_lane(some[i], noise_power[first + i], 0, some[i].frames,
                        static_cast<int>(i % width), groups[g]);
      });
    });
    engine.forward(std::span(groups).first(used), std::span(moments).first(used)).require_success();
    team.run(static_cast<int>(used), [&](int index, int) {
      const auto g = static_cast<std::size_t>(index);
      in_group(g, [&](std::size_t i) {
        for (std::size_t k = 0; k < some[i].values.size(); ++k)
          some[i].values[k] *= static_cast<float>(gains[g][k * width + i % width]);
      });
    });
  }
}

}  // namespace kalmia::audio
