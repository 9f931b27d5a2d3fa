#include "audio/gain_model.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

using model::kGroupLanes;

model::ArchitectureOptions options_of(const GainSizes& sizes) {
  model::ArchitectureOptions options;
  options.input_dim = 2 * sizes.width + 2 * sizes.reach + sizes.sections + 1;
  options.hidden = sizes.hidden;
  options.decoder = sizes.decoder;
  options.recursive = false;
  options.two_sided = true;
  options.gains = sizes.width;
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

void GainModel::fill_lane(const GainFeatures& features, int band, int first, int count, int lane,
                          model::LaneGroup<float>& group) const {
  const auto lanes = static_cast<std::size_t>(group.lanes);
  const float place = 2 * static_cast<float>(band) / static_cast<float>(bands()) - 1;
  const int low = band * sizes_.width;
  std::size_t input = static_cast<std::size_t>(lane), gain = input;
  for (int t = first; t < first + count; ++t) {
    // Both encoders read the frame.
    const auto read = [&](float value) {
      group.input_fwd[input] = group.input_bwd[input] = value;
      input += lanes;
    };
    for (int f = low - sizes_.reach; f < low + sizes_.width + sizes_.reach; ++f)
      read(features.ratio(t, f));
    for (const float mean : features.sections(t)) read(mean);
    read(place);
    for (int f = low; f < low + sizes_.width; ++f, gain += lanes) {
      const float odds = features.wiener(t, f);
      read(0.5f * odds);
      group.gain_offset[gain] = odds;
    }
  }
  group.length[static_cast<std::size_t>(lane)] = count;
}

void apply_gains(const GainModel& model, std::span<Spectrogram> noisy,
                 std::span<const std::vector<float>> noise_power, ThreadTeam& team) {
  if (noisy.empty()) return;
  int steps = 0;
  for (const Spectrogram& each : noisy) steps = std::max(steps, each.frames);
  const std::size_t threads = static_cast<std::size_t>(team.size());
  const int width = model.sizes().width, bands = model.bands();
  const auto groups_each = static_cast<std::size_t>((bands + kGroupLanes - 1) / kGroupLanes);
  model::BatchEngine<float> engine(model.window(), team, steps, kGroupLanes, false);
  std::vector<model::LaneGroup<float>> groups(threads);
  std::vector<model::WindowMoments> moments(threads);
  std::vector<std::vector<double>> gains(threads);
  for (std::size_t g = 0; g < threads; ++g) {
    gains[g].resize(static_cast<std::size_t>(steps * width) * kGroupLanes);
    moments[g].gain = gains[g].data();
    groups[g].resize(model.architecture(), steps, kGroupLanes);
  }
  std::vector<GainFeatures> features;
  for (std::size_t i = 0; i < noisy.size(); ++i)
    features.emplace_back(noisy[i], noise_power[i], model.sizes().sections);
  // As many groups at a time as there are threads; group g of a recording has the bands from
  // g * kGroupLanes on.
  const std::size_t all = noisy.size() * groups_each;
  for (std::size_t first = 0; first < all; first += threads) {
    const std::size_t some = std::min(threads, all - first);
    team.run(static_cast<int>(some), [&](int g, int) {
      model::LaneGroup<float>& group = groups[static_cast<std::size_t>(g)];
      group.length.assign(kGroupLanes, 0);
      const std::size_t index = first + static_cast<std::size_t>(g);
      const GainFeatures& own = features[index / groups_each];
      const int low = static_cast<int>(index % groups_each) * kGroupLanes;
      for (int lane = 0; lane < std::min(kGroupLanes, bands - low); ++lane)
        model.fill_lane(own, low + lane, 0, own.frames(), lane, group);
    });
    engine.forward(std::span(groups).first(some), std::span(moments).first(some)).require_success();
    for (std::size_t g = 0; g < some; ++g) {
      Spectrogram& own = noisy[(first + g) / groups_each];
      const GainFeatures& own_features = features[(first + g) / groups_each];
      const int low = static_cast<int>((first + g) % groups_each) * kGroupLanes;
      const int high = std::min(bands, low + kGroupLanes);
      for (int t = 0; t < own.frames; ++t) {
        const std::span<std::complex<float>> frame = own.frame(t);
        for (int f = low * width; f < (high == bands ? own.bins : high * width); ++f) {
          const int known = std::min(f, bands * width - 1);
          const double gain =
              f < GainModel::kVoiceless
                  ? 1 / (1 + std::exp(-static_cast<double>(own_features.wiener(t, f))))
                  : gains[g][static_cast<std::size_t>((t * width + known % width) * kGroupLanes +
                                                      known / width - low)];
          frame[static_cast<std::size_t>(f)] *= static_cast<float>(gain);
        }
      }
    }
  }
}

}  // namespace kalmia::audio
