#include "train/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/batch.hpp"
#include "train/averaged_adam.hpp"
#include "train/lane_feed.hpp"
#include "train/noise_factor.hpp"
#include "train/smoother_start.hpp"

namespace kalmia::train {
namespace {

// Below this many series, initial states are too few to be learned from.
constexpr int kSeriesForInitial = 64;

nn::AdamOptions adam_options(const TrainOptions& options) {
  nn::AdamOptions adam;
  adam.learning_rate = options.learning_rate;
  adam.clip_norm = options.clip_norm;
  return adam;
}

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

class NetworkTrainee : public Trainee {
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
        networks_(model_->parameters(), adam_options(options_)),
        d_R_(start.R.size()) {
    // R of Student-t noise stays as it is: of the core of the noise, without its outliers, and so
    // larger than what is most likely, which would leave the error bars too narrow.
    if (noise_factor_.size() > 0 && start.description.tails == 0)
      noise_ = std::make_unique<AveragedAdam<double>>(noise_factor_.start(start.R),
                                                      adam_options(options_));
  }

  int steps_per_update() const { return feed_.lanes() * options_.window; }
  int steps() const override { return feed_.steps(); }

  std::optional<double> train_once(double rate) override {
    const Measured measured = feed_.next(team_);
    const double scale = 0.5 / std::max(measured.values, 1.0);
    const engine::BatchResult result =
        engine_.gradient(feed_.groups(), scale, networks_.gradient(), d_R_);
    if (result.failed_lanes > 0) feed_.restart_broken();
    if (measured.values == 0) return std::nullopt;
    const double loss = measured.loss(result.nll);
    if (!std::isfinite(loss) || result.failed_lanes > feed_.lanes() / 4) return std::nan("");
    hold_fixed_parameters();
    if (!networks_.step(rate)) return std::nan("");
    decay_weights(rate);
    model_->set_parameters(networks_.parameters());
    networks_.add_to_average();
    if (noise_) {
      std::ranges::copy(noise_factor_.gradient(noise_->parameters(), d_R_),
                        noise_->gradient().begin());
      noise_->step(rate);
      model_->set_R(noise_factor_.value(noise_->parameters()));
      noise_->add_to_average();
    }
    return loss;
  }

  double check() override {
    set(networks_.average(), noise_ ? noise_->average() : std::vector<double>{});
    return held_out_loss(*checked_, data_, split_.held_out, team_);
  }

  void keep() override {
    networks_.keep();
    if (noise_) noise_->keep();
  }

  void go_back() override {
    networks_.go_back();
    model_->set_parameters(networks_.parameters());
    if (noise_) {
      noise_->go_back();
      model_->set_R(noise_factor_.value(noise_->parameters()));
    }
    feed_.restart();
  }

  std::unique_ptr<model::LearnedModel<float>> best() {
    set(networks_.best(), noise_ ? noise_->best() : std::vector<double>{});
    return std::move(checked_);
  }

 private:
  void set(const std::vector<float>& parameters, const std::vector<double>& noise) {
    checked_->set_parameters(parameters);
    if (noise_) checked_->set_R(noise_factor_.value(noise));
  }

  void hold_fixed_parameters() {
    if (static_cast<int>(split_.training.size()) >= kSeriesForInitial) return;
    const auto initial = static_cast<std::size_t>(model_->architecture().initial_e);
    std::ranges::fill(networks_.gradient().subspan(initial), 0.0f);
  }

  // Decoupled decay of the last layer's weights alone: towards the static model, which they depart
  // from.
  void decay_weights(double rate) {
    const nn::MlpLayout& decoder = model_->architecture().decoder;
    const auto keep_share = static_cast<float>(
        std::max(0.0, 1 - rate * options_.learning_rate * options_.weight_decay));
    for (auto i = static_cast<std::size_t>(decoder.weight.back());
         i < static_cast<std::size_t>(decoder.bias.back()); ++i)
      networks_.parameters()[i] *= keep_share;
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
  AveragedAdam<float> networks_;
  std::unique_ptr<AveragedAdam<double>> noise_;  // null: R stays as it is
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
  return {summary.kept ? trainee.best() : nullptr, summary};
}

}  // namespace kalmia::train
