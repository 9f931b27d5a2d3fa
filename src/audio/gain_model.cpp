#include "audio/gain_model.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "engine/batch.hpp"
#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

using engine::kGroupLanes;

engine::NetworkOptions options_of(const GainSizes& sizes) {
  engine::NetworkOptions options;
  options.input_dim = 2 * sizes.width + 2 * sizes.reach + sizes.sections + 1;
  options.hidden = sizes.hidden;
  options.decoder = sizes.decoder;
  options.two_sided = true;
  const std::string wrong =
      engine::violation(sizes.width >= 1, "width", sizes.width, ">= 1") + options.violations();
  if (!wrong.empty()) throw ConfigError("invalid networks of gains:" + wrong);
  return options;
}

std::vector<float> start(const engine::NetworkLayout& architecture, std::uint64_t seed) {
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  engine::initialise_network(architecture, seed, parameters.data());
  return parameters;
}

}  // namespace

GainModel::GainModel(const GainSizes& sizes, std::uint64_t seed)
    : sizes_(sizes),
      architecture_(options_of(sizes), {.count = sizes.width, .positive = {}}),
      parameters_(start(architecture_, seed)) {
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

GainWindow<float> GainModel::window() const { return {&architecture_, &network_}; }

// Frame by frame, so that what is written lies side by side: lane by lane it would take as long as
// the networks.
void GainModel::fill_lanes(const GainFeatures& features, std::span<const int> bands, int first,
                           int count, GainGroup<float>& group) const {
  const auto lanes = static_cast<std::size_t>(group.lanes);
  float* input = group.input_fwd.data();
  float* gain = group.offset.data();
  for (int t = first; t < first + count; ++t) {
    const auto put = [&](float*& row, const auto& value_of) {
      for (std::size_t lane = 0; lane < bands.size(); ++lane) row[lane] = value_of(bands[lane]);
      row += lanes;
    };
    for (int f = -sizes_.reach; f < sizes_.width + sizes_.reach; ++f)
      put(input, [&](int band) { return features.ratio(t, band * sizes_.width + f); });
    for (const float mean : features.sections(t)) put(input, [mean](int) { return mean; });
    put(input, [this](int band) {
      return 2 * static_cast<float>(band) / static_cast<float>(this->bands()) - 1;
    });
    for (int f = 0; f < sizes_.width; ++f) {
      const auto odds = [&](int band) { return features.wiener(t, band * sizes_.width + f); };
      put(input, [&](int band) { return 0.5f * odds(band); });
      put(gain, odds);
    }
  }
  // Both encoders read the frames.
  std::copy(group.input_fwd.data(), input, group.input_bwd.data());
  group.length.assign(lanes, 0);
  std::fill_n(group.length.begin(), bands.size(), count);
}

namespace {

// The bands of a recording in groups of lanes.
struct BandGroup {
  std::size_t recording;
  int low, high;  // bands
};

// Bin by bin, the gain of the band that it is in.
void multiply(const GainModel& model, const GainFeatures& features, const BandGroup& group,
              const std::vector<double>& gains, Spectrogram& noisy) {
  const int width = model.sizes().width, top = model.bands() * width - 1;
  const int end = group.high == model.bands() ? noisy.bins : group.high * width;
  for (int t = 0; t < noisy.frames; ++t) {
    const std::span<std::complex<float>> frame = noisy.frame(t);
    const double* own = gains.data() + static_cast<std::size_t>(t * width) * kGroupLanes;
    for (int f = group.low * width; f < end; ++f) {
      const int known = std::min(f, top);
      const double gain = f < GainModel::kVoiceless
                              ? 1 / (1 + std::exp(-static_cast<double>(features.wiener(t, f))))
                              : own[known % width * kGroupLanes + known / width - group.low];
      frame[static_cast<std::size_t>(f)] *= static_cast<float>(gain);
    }
  }
}

}  // namespace

void apply_gains(const GainModel& model, std::span<Spectrogram> noisy,
                 std::span<const std::vector<float>> noise_power, ThreadTeam& team) {
  int steps = 0;
  std::vector<BandGroup> all;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    steps = std::max(steps, noisy[i].frames);
    for (int low = 0; low < model.bands(); low += kGroupLanes)
      all.push_back({i, low, std::min(model.bands(), low + kGroupLanes)});
  }
  if (all.empty()) return;
  std::vector<std::optional<GainFeatures>> features(noisy.size());
  team.run(static_cast<int>(noisy.size()), [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    features[i].emplace(noisy[i], noise_power[i], model.sizes().sections);
  });
  const std::size_t threads = std::min(all.size(), static_cast<std::size_t>(team.size()));
  engine::BatchEngine<GainGroup<float>> engine(model.window(), team, steps, kGroupLanes, false);
  std::vector<GainGroup<float>> groups(threads);
  std::vector<GainResults> results(threads);
  std::vector<std::vector<double>> gains(threads);
  for (std::size_t g = 0; g < threads; ++g) {
    gains[g].resize(static_cast<std::size_t>(steps * model.sizes().width) * kGroupLanes);
    results[g].gain = gains[g].data();
    groups[g].resize(model.architecture(), steps, kGroupLanes);
  }
  // As many groups at a time as there are threads.
  for (std::size_t first = 0; first < all.size(); first += threads) {
    const std::span<const BandGroup> some =
        std::span(all).subspan(first, std::min(threads, all.size() - first));
    const auto each = [&](const auto& work) {
      team.run(static_cast<int>(some.size()), [&](int g, int) {
        const BandGroup& own = some[static_cast<std::size_t>(g)];
        work(static_cast<std::size_t>(g), own, *features[own.recording]);
      });
    };
    each([&](std::size_t g, const BandGroup& own, const GainFeatures& of) {
      std::vector<int> bands(static_cast<std::size_t>(own.high - own.low));
      std::iota(bands.begin(), bands.end(), own.low);
      model.fill_lanes(of, bands, 0, of.frames(), groups[g]);
    });
    engine
        .forward(std::span(groups).first(some.size()),
                 std::span<const GainResults>(results).first(some.size()))
        .require_success();
    each([&](std::size_t g, const BandGroup& own, const GainFeatures& of) {
      multiply(model, of, own, gains[g], noisy[own.recording]);
    });
  }
}

}  // namespace kalmia::audio
