#include "audio/gain_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "audio/noise_power.hpp"
#include "engine/batch.hpp"
#include "kalmia/error.hpp"
#include "train/gradient_trainee.hpp"

namespace kalmia::audio {
namespace {

constexpr int kLanes = engine::kGroupLanes;
// Recordings that networks are chosen by, at most.
constexpr std::size_t kMostHeldOut = 64;

// A recording with more noise, what the networks should find in it, and how much noise there is.
struct Noisier {
  Spectrogram input, target;
  std::vector<float> power;
};

Noisier make_noisier(std::span<const float> recording, std::span<const float> noise,
                     std::span<const float> disturbance, Stft& stft) {
  std::vector<float> z(recording.begin(), recording.end()), target = z;
  for (std::size_t n = 0; n < z.size(); ++n) {
    z[n] += noise[n];
    target[n] -= noise[n];
  }
  for (std::size_t n = 0; n < disturbance.size(); ++n) z[n] += disturbance[n];
  Noisier made{stft.forward(z), stft.forward(target), {}};
  made.power = noise_power(made.input);
  return made;
}

// Bands of a recording that an update reads: each of the lower kLow, where speech is strongest, and
// as many of the others, which then count for those that were left out.
constexpr int kLow = kLanes / 2;

struct Bands {
  std::vector<int> index;
  std::vector<float> weight;
};

Bands choose_bands(int bands, RandomStream& random) {
  Bands chosen;
  for (int b = 0; b < std::min(kLow, bands); ++b) {
    chosen.index.push_back(b);
    chosen.weight.push_back(1);
  }
  const int others = bands - kLow, count = std::min(kLow, others);
  for (int k = 0; k < count; ++k) {
    // One band is drawn from each of kLow equal ranges.
    const int from = kLow + others * k / count, to = kLow + others * (k + 1) / count;
    chosen.index.push_back(from +
                           static_cast<int>(random.below(static_cast<std::uint64_t>(to - from))));
    chosen.weight.push_back(static_cast<float>(to - from));
  }
  return chosen;
}

// Frames first .. first + count - 1 of bands in the lanes of a group. A bin is scored by
// |G Z - T|^2, over the root of its noise's power times the mean one's: the best gain does not
// depend on such weights, but without them the strongest bins of coloured noise drown the others.
void fill_group(const GainModel& model, const Noisier& made, const Bands& bands, int first,
                int count, GainGroup<float>& group) {
  const GainFeatures features(made.input, made.power, model.sizes().sections);
  model.fill_lanes(features, bands.index, first, count, group);
  const float power = std::accumulate(made.power.begin(), made.power.end(), 0.0f) /
                      static_cast<float>(made.power.size());
  std::vector<float> weight;  // of a bin
  for (const float each : made.power) weight.push_back(1 / std::sqrt(power * each));
  std::fill_n(weight.begin(), GainModel::kVoiceless, 0.0f);
  const auto width = static_cast<std::size_t>(model.sizes().width);
  std::size_t at = 0;
  for (int t = first; t < first + count; ++t) {
    const auto input = made.input.frame(t), target = made.target.frame(t);
    for (std::size_t k = 0; k < width; ++k, at += static_cast<std::size_t>(group.lanes))
      for (std::size_t lane = 0; lane < bands.index.size(); ++lane) {
        const std::size_t f = static_cast<std::size_t>(bands.index[lane]) * width + k;
        const float own = bands.weight[lane] * weight[f];
        group.square[at + lane] = own * std::norm(input[f]);
        group.product[at + lane] = own * std::real(std::conj(target[f]) * input[f]);
      }
  }
}

class GainTrainee : public train::GradientTrainee {
 public:
  GainTrainee(GainModel& model, const GainData& training, const GainData& held_out,
              const GainTraining& options, ThreadTeam& team)
      : model_(model), training_(training), held_out_(held_out), options_(options), team_(team) {
    for (int i = 0; i < team.size(); ++i) stft_.emplace_back(model.sizes().window);
    begin({model.parameters(), {}}, loop_options());
    groups_.resize(static_cast<std::size_t>(options.batch));
    engine_ = std::make_unique<engine::BatchEngine<GainGroup<float>>>(model.window(), team,
                                                                      options.frames, kLanes, true);
  }

  int steps() const override { return options_.batch * options_.frames; }

  // As the loop reads them.
  TrainOptions loop_options() const {
    TrainOptions train;
    train.learning_rate = options_.learning_rate;
    train.patience = options_.patience;
    return train;
  }

  void finish() { set(best()); }

  // Mean score of a frame, with the networks that the model has now.
  double held_out_loss() {
    if (!checker_) prepare_held_out();
    const engine::BatchResult result = checker_->forward(checked_);
    return result.failed_lanes > 0 ? std::numeric_limits<double>::infinity()
                                   : result.nll / checked_frames_;
  }

 private:
  std::optional<double> next_gradient(std::span<float> networks, std::span<double>) override {
    fill_batch();
    ++update_;
    const engine::BatchResult result = engine_->gradient(groups_, 1.0 / steps(), networks);
    const bool whole = std::isfinite(result.nll) && result.failed_lanes == 0;
    return whole ? result.nll / steps() : std::nan("");
  }

  void set(const train::Parameters& parameters) override {
    model_.set_parameters(parameters.networks);
  }

  double held_out(const train::Parameters& parameters) override {
    const std::vector<float> before(model_.parameters().begin(), model_.parameters().end());
    set(parameters);
    const double loss = held_out_loss();
    set({before, {}});
    return loss;
  }

  void fill_batch() {
    team_.run(options_.batch, [&](int g, int thread) {
      GainGroup<float>& group = groups_[static_cast<std::size_t>(g)];
      group.resize(model_.architecture(), options_.frames, kLanes);
      RandomStream random(options_.seed, "gains",
                          update_ * groups_.size() + static_cast<std::size_t>(g));
      const std::size_t i = random.below(training_.recordings.size());
      const Noisier made = noisier(training_, i, random, thread);
      const int spare = std::max(0, made.input.frames - options_.frames);
      const int first = static_cast<int>(random.below(static_cast<std::size_t>(spare) + 1));
      fill_group(model_, made, choose_bands(model_.bands(), random), first,
                 std::min(options_.frames, made.input.frames), group);
    });
  }

  Noisier noisier(const GainData& data, std::size_t i, RandomStream& random, int thread) {
    const std::vector<float>& recording = data.recordings[i];
    std::vector<float> noise(recording.size());
    data.noise(i, random, noise);
    std::vector<float> disturbance;
    if (data.disturbance) {
      disturbance.resize(recording.size());
      data.disturbance(i, random, disturbance);
    }
    return make_noisier(recording, noise, disturbance, stft_[static_cast<std::size_t>(thread)]);
  }

  void prepare_held_out() {
    const std::size_t count = std::min(kMostHeldOut, held_out_.recordings.size());
    int steps = 0;
    for (std::size_t i = 0; i < count; ++i)
      steps = std::max(steps, stft_[0].frames(held_out_.recordings[i].size()));
    checked_.resize(count);
    team_.run(static_cast<int>(count), [&](int g, int thread) {
      GainGroup<float>& group = checked_[static_cast<std::size_t>(g)];
      group.resize(model_.architecture(), steps, kLanes);
      RandomStream random(options_.seed, "held-out gains", static_cast<std::uint64_t>(g));
      const Noisier made = noisier(held_out_, static_cast<std::size_t>(g), random, thread);
      fill_group(model_, made, choose_bands(model_.bands(), random), 0, made.input.frames, group);
    });
    for (const GainGroup<float>& group : checked_)
      for (const int length : group.length) checked_frames_ += length;
    checker_ = std::make_unique<engine::BatchEngine<GainGroup<float>>>(model_.window(), team_,
                                                                       steps, kLanes, false);
  }

  GainModel& model_;
  const GainData& training_;
  const GainData& held_out_;
  GainTraining options_;
  ThreadTeam& team_;
  std::vector<Stft> stft_;  // one per thread
  std::vector<GainGroup<float>> groups_, checked_;
  std::unique_ptr<engine::BatchEngine<GainGroup<float>>> engine_, checker_;
  std::size_t update_ = 0;
  double checked_frames_ = 0;
};

}  // namespace

train::LoopResult train_gains(GainModel& model, const GainData& training, const GainData& held_out,
                              const GainTraining& options, ThreadTeam& team,
                              const std::function<bool(FitProgress&)>& progress) {
  if (training.recordings.empty() || held_out.recordings.empty())
    throw DataError("gains: there must be recordings to learn from and to choose by");
  if (options.batch < 1)
    throw ConfigError("gains: batch = " + std::to_string(options.batch) +
                      ", but it must be 1 at least");
  GainTrainee trainee(model, training, held_out, options, team);
  train::LoopOptions loop;
  loop.stage = "gains";
  loop.updates = options.updates;
  loop.start_loss = trainee.held_out_loss();
  train::LoopResult result = train::run_training(trainee, trainee.loop_options(), loop, progress);
  trainee.finish();
  return result;
}

}  // namespace kalmia::audio
