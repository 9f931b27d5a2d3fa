#include "audio/gain_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "audio/quiet_frames.hpp"
#include "kalmia/error.hpp"
#include "train/averaged_adam.hpp"

namespace kalmia::audio {
namespace {

using model::LaneGroup;

constexpr int kLanes = model::kGroupLanes;
// Recordings that networks are chosen by, at most.
constexpr std::size_t kMostHeldOut = 64;

// A recording with more noise, what the networks should find in it, and how much noise there is.
struct Noisier {
  Spectrogram input, target;
  std::vector<float> power;
};

Noisier make_noisier(std::span<const float> recording, std::span<const float> noise, double more,
                     Stft& stft) {
  std::vector<float> z(recording.begin(), recording.end()), target = z;
  for (std::size_t n = 0; n < z.size(); ++n) {
    z[n] += static_cast<float>(more * noise[n]);
    target[n] -= static_cast<float>(noise[n] / more);
  }
  Noisier made{stft.forward(z), stft.forward(target), {}};
  made.power = mean_power(made.input, quiet_frames(made.input));
  return made;
}

// Frames first .. first + count - 1 in a lane, each scored by |G Z - T|^2 over the noise's power.
void fill_lane(const GainModel& model, const Noisier& made, int first, int count, int lane,
               LaneGroup<float>& group) {
  model.fill_lane(made.input, made.power, first, count, lane, group);
  const float power = std::accumulate(made.power.begin(), made.power.end(), 0.0f) /
                      static_cast<float>(made.power.size());
  const auto F = static_cast<std::size_t>(model.bins());
  const auto lanes = static_cast<std::size_t>(group.lanes);
  for (int t = 0; t < count; ++t) {
    const auto frame = made.input.frame(first + t);
    const auto target = made.target.frame(first + t);
    for (std::size_t f = 0; f < F; ++f) {
      const std::size_t at =
          (static_cast<std::size_t>(t) * F + f) * lanes + static_cast<std::size_t>(lane);
      group.gain_square[at] = std::norm(frame[f]) / power;
      group.gain_product[at] = std::real(std::conj(target[f]) * frame[f]) / power;
    }
  }
}

class GainTrainee : public train::Trainee {
 public:
  GainTrainee(GainModel& model, const GainData& training, const GainData& held_out,
              const GainTraining& options, ThreadTeam& team)
      : model_(model), training_(training), held_out_(held_out), options_(options), team_(team) {
    for (int i = 0; i < team.size(); ++i) stft_.emplace_back(model.sizes().window);
    nn::AdamOptions adam;
    adam.learning_rate = options.learning_rate;
    networks_ = std::make_unique<train::AveragedAdam<float>>(model.parameters(), adam);
    groups_.resize(static_cast<std::size_t>(options.batch / kLanes));
    engine_ = std::make_unique<model::BatchEngine<float>>(model.window(), team, options.frames,
                                                          kLanes, true);
  }

  int steps() const override { return options_.batch * options_.frames; }

  std::optional<double> train_once(double rate) override {
    fill_batch();
    ++update_;
    const model::BatchResult result =
        engine_->gradient(groups_, 1.0 / steps(), networks_->gradient());
    if (!std::isfinite(result.nll) || result.failed_lanes > 0) return std::nan("");
    if (!networks_->step(rate)) return std::nan("");
    networks_->add_to_average();
    model_.set_parameters(networks_->parameters());
    return result.nll / steps();
  }

  double check() override {
    model_.set_parameters(networks_->average());
    const double loss = held_out_loss();
    model_.set_parameters(networks_->parameters());
    return loss;
  }

  void keep() override { networks_->keep(); }
  void go_back() override {
    networks_->go_back();
    model_.set_parameters(networks_->parameters());
  }
  void finish() { model_.set_parameters(networks_->best()); }

  // Mean score of a frame, with the networks that the model has now.
  double held_out_loss() {
    if (!checker_) prepare_held_out();
    const model::BatchResult result = checker_->forward(checked_);
    return result.failed_lanes > 0 ? std::numeric_limits<double>::infinity()
                                   : result.nll / checked_frames_;
  }

 private:
  void fill_batch() {
    team_.run(static_cast<int>(groups_.size()), [&](int g, int thread) {
      LaneGroup<float>& group = groups_[static_cast<std::size_t>(g)];
      group.resize(model_.architecture(), options_.frames, kLanes);
      group.length.assign(kLanes, 0);
      for (int lane = 0; lane < kLanes; ++lane) {
        RandomStream random(options_.seed, "gains",
                            static_cast<std::uint64_t>(
                                (update_ * groups_.size() + static_cast<std::size_t>(g)) * kLanes +
                                static_cast<std::size_t>(lane)));
        const std::size_t i = random.below(training_.recordings.size());
        const Noisier made = noisier(training_, i, random, thread);
        const int spare = std::max(0, made.input.frames - options_.frames);
        const int first = static_cast<int>(random.below(static_cast<std::size_t>(spare) + 1));
        fill_lane(model_, made, first, std::min(options_.frames, made.input.frames), lane, group);
      }
    });
  }

  Noisier noisier(const GainData& data, std::size_t i, RandomStream& random, int thread) {
    const std::vector<float>& recording = data.recordings[i];
    std::vector<float> noise(recording.size());
    data.noise(i, random, noise);
    return make_noisier(recording, noise, options_.more, stft_[static_cast<std::size_t>(thread)]);
  }

  void prepare_held_out() {
    const std::size_t count = std::min(kMostHeldOut, held_out_.recordings.size());
    int steps = 0;
    for (std::size_t i = 0; i < count; ++i)
      steps = std::max(steps, stft_[0].frames(held_out_.recordings[i].size()));
    checked_.resize((count + kLanes - 1) / kLanes);
    team_.run(static_cast<int>(checked_.size()), [&](int g, int thread) {
      LaneGroup<float>& group = checked_[static_cast<std::size_t>(g)];
      group.resize(model_.architecture(), steps, kLanes);
      group.length.assign(kLanes, 0);
      for (int lane = 0; lane < kLanes; ++lane) {
        const std::size_t i = static_cast<std::size_t>(g) * kLanes + static_cast<std::size_t>(lane);
        if (i >= count) break;
        RandomStream random(options_.seed, "held-out gains", i);
        const Noisier made = noisier(held_out_, i, random, thread);
        fill_lane(model_, made, 0, made.input.frames, lane, group);
      }
    });
    for (const LaneGroup<float>& group : checked_)
      for (const int length : group.length) checked_frames_ += length;
    checker_ =
        std::make_unique<model::BatchEngine<float>>(model_.window(), team_, steps, kLanes, false);
  }

  GainModel& model_;
  const GainData& training_;
  const GainData& held_out_;
  GainTraining options_;
  ThreadTeam& team_;
  std::vector<Stft> stft_;  // one per thread
  std::unique_ptr<train::AveragedAdam<float>> networks_;
  std::vector<LaneGroup<float>> groups_, checked_;
  std::unique_ptr<model::BatchEngine<float>> engine_, checker_;
  std::size_t update_ = 0;
  double checked_frames_ = 0;
};

}  // namespace

train::LoopResult train_gains(GainModel& model, const GainData& training, const GainData& held_out,
                              const GainTraining& options, ThreadTeam& team,
                              const std::function<bool(FitProgress&)>& progress) {
  if (training.recordings.empty() || held_out.recordings.empty())
    throw DataError("gains: there must be recordings to learn from and to choose by");
  if (options.batch < kLanes || options.batch % kLanes != 0)
    throw ConfigError("gains: batch = " + std::to_string(options.batch) +
                      ", but it must be a positive multiple of " + std::to_string(kLanes));
  GainTrainee trainee(model, training, held_out, options, team);
  train::LoopOptions loop;
  loop.stage = "gains";
  loop.updates = options.updates;
  loop.start_loss = trainee.held_out_loss();
  TrainOptions train;
  train.patience = options.patience;
  train::LoopResult result = train::run_training(trainee, train, loop, progress);
  trainee.finish();
  return result;
}

}  // namespace kalmia::audio
