#include "train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/batch.hpp"
#include "train/gradient_trainee.hpp"
#include "train/lane_feed.hpp"
#include "train/smoother_start.hpp"
#include "train/variables.hpp"

namespace kalmia::train {
namespace {

// Below this many series, initial states are too few to be learned from.
constexpr int kSeriesForInitial = 64;

// The networks that training starts with: the static model's, or, of a recurrent filter, what was
// measured last with the deviations from it.
std::unique_ptr<model::LearnedModel<float>> starting_model(const StaticResult& start,
                                                           const ScaledData& data,
                                                           const Split& split,
                                                           const FitSpec& spec) {
  const model::NetworkSpec& sizes = spec.model.networks;
  if (sizes.recursive())
    return start.with_networks<float>(sizes.hidden, sizes.decoder, spec.train.seed);
  model::ModelDescription description = start.description;
  description.head = sizes.filter;
  description.hidden = sizes.hidden;
  description.decoder = sizes.decoder;
  const heads::Architecture architecture(
      model::architecture_options(description, model::expert_of(description)));
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  heads::initialise<float>(architecture, spec.train.seed, 1, 1, parameters.data());
  std::ranges::copy(start.initial_e, parameters.begin() + architecture.initial_e);
  std::ranges::copy(start.initial_L, parameters.begin() + architecture.initial_L);
  auto model = std::make_unique<model::LearnedModel<float>>(description, parameters, start.R);
  put_deviations(
      architecture,
      deviations_from_centre(model->description().features, start.R, data, split.training, false),
      parameters.data());
  model->set_parameters(parameters);
  return model;
}

class NetworkTrainee : public GradientTrainee {
 public:
  NetworkTrainee(const StaticResult& start, const model::NoiseSpec& noise, const ScaledData& data,
                 const Split& split, const FitSpec& spec, ThreadTeam& team)
      : data_(data),
        split_(split),
        options_(spec.train),
        team_(team),
        model_(starting_model(start, data, split, spec)),
        checked_(starting_model(start, data, split, spec)),
        feed_(*model_, data, split.training,
              {spec.train.window, spec.train.batch, spec.train.gaps, spec.train.seed}),
        engine_(model_->window(), team, spec.train.window, feed_.groups()[0].lanes, true),
        noise_factor_(noise.kind, model_->meas_dim(), start.noise_floor),
        d_R_(start.R.size()) {
    // R of Student-t noise stays as it is: of the core of the noise, without its outliers, and so
    // larger than what is most likely, which would leave the error bars too narrow.
    const bool learned = noise_factor_.size() > 0 && start.description.tails == 0;
    begin({model_->parameters(), learned ? noise_factor_.start(start.R) : std::vector<double>{}},
          options_);
  }

  int steps_per_update() const { return feed_.lanes() * options_.window; }
  int steps() const override { return feed_.steps(); }

  std::unique_ptr<model::LearnedModel<float>> take_best() {
    put(best(), *checked_);
    return std::move(checked_);
  }

 private:
  std::optional<double> next_gradient(std::span<float> networks, std::span<double> noise) override {
    const Measured measured = feed_.next(team_);
    const engine::BatchResult result =
        engine_.gradient(feed_.groups(), loss_scale(measured), networks, d_R_);
    if (result.failed_lanes > 0) feed_.restart_broken();
    hold_fixed_parameters(networks);
    if (!noise.empty())
      std::ranges::copy(noise_factor_.gradient(current_noise(), d_R_), noise.begin());
    return batch_loss(measured, result, feed_.lanes());
  }

  void set(const Parameters& parameters) override { put(parameters, *model_); }
  double held_out(const Parameters& parameters) override {
    put(parameters, *checked_);
    return held_out_loss(*checked_, data_, split_.held_out, team_);
  }
  void restart() override { feed_.restart(); }

  void put(const Parameters& parameters, model::LearnedModel<float>& model) const {
    model.set_parameters(parameters.networks);
    if (!parameters.noise.empty()) model.set_R(noise_factor_.value(parameters.noise));
  }

  void hold_fixed_parameters(std::span<float> gradient) const {
    if (static_cast<int>(split_.training.size()) >= kSeriesForInitial) return;
    const auto initial = static_cast<std::size_t>(model_->architecture().initial_e);
    std::ranges::fill(gradient.subspan(initial), 0.0f);
  }

  // Decoupled decay of the last layer's weights alone: towards the static model, which they depart
  // from.
  void after_step(std::span<float> networks, double rate) override {
    const nn::MlpLayout& decoder = model_->architecture().decoder;
    const auto keep_share = static_cast<float>(
        std::max(0.0, 1 - rate * options_.learning_rate * options_.weight_decay));
    for (auto i = static_cast<std::size_t>(decoder.weight.back());
         i < static_cast<std::size_t>(decoder.bias.back()); ++i)
      networks[i] *= keep_share;
  }

  const ScaledData& data_;
  const Split& split_;
  TrainOptions options_;
  ThreadTeam& team_;
  std::unique_ptr<model::LearnedModel<float>> model_;    // in training
  std::unique_ptr<model::LearnedModel<float>> checked_;  // the average
  LaneFeed feed_;
  engine::BatchEngine<heads::StateGroup<float>> engine_;
  NoiseFactor noise_factor_;
  std::vector<double> d_R_;
};

}  // namespace

TrainedNetworks train_networks(const TrainingContext& context, const StaticResult& start,
                               const model::NoiseSpec& noise, double static_held_out) {
  const FitSpec& spec = context.spec;
  NetworkTrainee trainee(start, noise, context.data, context.split, spec, context.team);
  LoopOptions loop;
  loop.stage = "networks";
  loop.updates = spec.train.updates > 0 ? spec.train.updates
                                        : default_updates(total_steps(context.split.training),
                                                          trainee.steps_per_update());
  loop.from_scratch = !spec.model.networks.recursive();
  loop.start_loss = static_held_out;
  loop.too_good = [&](double held_out) { return context.bound.is_beaten_by(held_out); };
  const LoopResult result = run_training(trainee, spec.train, loop, context.progress);
  FitNetworksSummary summary;
  summary.kept = result.best_update > 0;
  summary.stop_reason = result.stop_reason;
  summary.held_out = result.best_held_out;
  summary.updates = result.updates;
  summary.best_update = result.best_update;
  summary.skipped_updates = result.skipped_updates;
  summary.rate_cuts = result.rate_cuts;
  summary.seconds = result.seconds;
  summary.steps_per_second = result.steps_per_second;
  summary.checks = result.checks;
  return {summary.kept ? trainee.take_best() : nullptr, summary};
}

}  // namespace kalmia::train
