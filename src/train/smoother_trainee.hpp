// What the training of all smoothers has in common: networks of a finished filter's smoother, a
// feed of windows, and the likelihood of each measurement given all others.
#pragma once

#include <cmath>
#include <limits>
#include <memory>

#include "engine/batch.hpp"
#include "kalmia/error.hpp"
#include "train/averaged_adam.hpp"
#include "train/fit_options.hpp"
#include "train/training_data.hpp"
#include "train/training_loop.hpp"

namespace kalmia::train {

class SmootherStage : public Trainee {
 public:
  virtual std::size_t training_steps() const = 0;
  virtual int steps_per_update() const = 0;
  /// The filter's loss of the held-out data that are checked; `of_all`: of all of them.
  virtual double filter_loss(double of_all) const = 0;
  /// Leaves the best networks in the model, or takes them away.
  virtual void finish(bool better) = 0;
};

/// `Feed` fills groups (of the type Feed::Group) with windows: groups(), lanes(), next(), steps(),
/// restart().
template <typename Feed>
class SmootherTrainee : public SmootherStage {
 public:
  int steps_per_update() const override { return feed_->lanes() * feed_->groups()[0].steps; }
  int steps() const override { return feed_->steps(); }

  std::optional<double> train_once(double rate) override {
    const Measured measured = feed_->next(team_);
    const double scale = 0.5 / std::max(measured.values, 1.0);
    const engine::BatchResult result =
        engine_->gradient(feed_->groups(), scale, networks_->gradient());
    if (result.failed_lanes > 0) lanes_broke();
    if (measured.values == 0) return std::nullopt;
    const double loss = measured.loss(result.nll);
    if (!std::isfinite(loss) || result.failed_lanes > feed_->lanes() / 4) return std::nan("");
    hold_fixed_parameters(networks_->gradient());
    if (!networks_->step(rate)) return std::nan("");
    networks_->add_to_average();
    set(networks_->parameters());
    return loss;
  }

  double check() override {
    set(networks_->average());
    double loss = std::numeric_limits<double>::infinity();
    try {
      loss = held_out();
    } catch (const NumericalError&) {
    }
    set(networks_->parameters());
    return loss;
  }

  void keep() override { networks_->keep(); }
  void go_back() override {
    networks_->go_back();
    set(networks_->parameters());
    feed_->restart();
  }
  void finish(bool better) override {
    if (better)
      set(networks_->best());
    else
      model_.set_smoother({}, {});
  }

 protected:
  SmootherTrainee(model::LearnedModel<float>& model, ThreadTeam& team)
      : model_(model), team_(team) {}

  /// Once the model has the networks to start from.
  void begin(std::unique_ptr<Feed> feed, const typename Feed::Group::Head::Model& window,
             const TrainOptions& options) {
    feed_ = std::move(feed);
    const typename Feed::Group& group = feed_->groups()[0];
    engine_ = std::make_unique<engine::BatchEngine<typename Feed::Group>>(
        window, team_, group.steps, group.lanes, true);
    nn::AdamOptions adam;
    adam.learning_rate = options.learning_rate;
    adam.clip_norm = options.clip_norm;
    networks_ = std::make_unique<AveragedAdam<float>>(model_.smoother()->parameters(), adam);
  }

  /// The loss of the held-out data with the networks the model has now. May throw NumericalError.
  virtual double held_out() = 0;
  /// A lane's state was lost.
  virtual void lanes_broke() {}
  /// Clears the gradients of what is not to be learned.
  virtual void hold_fixed_parameters(std::span<float>) const {}

  // The engine holds pointers to the model's networks: they are changed in place.
  void set(std::span<const float> parameters) { model_.set_smoother_parameters(parameters); }

  model::LearnedModel<float>& model_;
  ThreadTeam& team_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<engine::BatchEngine<typename Feed::Group>> engine_;
  std::unique_ptr<AveragedAdam<float>> networks_;
};

}  // namespace kalmia::train
