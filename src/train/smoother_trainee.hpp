// What the training of all smoothers has in common: networks of a finished filter's smoother, a
// feed of windows, and the likelihood of each measurement given all others.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "engine/batch.hpp"
#include "kalmia/error.hpp"
#include "train/fit_options.hpp"
#include "train/gradient_trainee.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

class SmootherStage : public GradientTrainee {
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

  void finish(bool better) override {
    if (better)
      set(best());
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
    GradientTrainee::begin({model_.smoother()->parameters(), {}}, options);
  }

  /// The loss of the held-out data with the networks the model has now. May throw NumericalError.
  virtual double held_out_now() = 0;
  /// A lane's state was lost.
  virtual void lanes_broke() {}
  /// Clears the gradients of what is not to be learned.
  virtual void hold_fixed_parameters(std::span<float>) const {}

  std::optional<double> next_gradient(std::span<float> networks, std::span<double>) override {
    const Measured measured = feed_->next(team_);
    const engine::BatchResult result =
        engine_->gradient(feed_->groups(), loss_scale(measured), networks);
    if (result.failed_lanes > 0) lanes_broke();
    hold_fixed_parameters(networks);
    return batch_loss(measured, result, feed_->lanes());
  }

  // The engine holds pointers to the model's networks: they are changed in place.
  void set(const Parameters& parameters) override {
    model_.set_smoother_parameters(parameters.networks);
  }

  double held_out(const Parameters& parameters) override {
    const std::span<const float> now = model_.smoother()->parameters();
    const std::vector<float> before(now.begin(), now.end());
    set(parameters);
    double loss = std::numeric_limits<double>::infinity();
    try {
      loss = held_out_now();
    } catch (const NumericalError&) {
    }
    set({before, {}});
    return loss;
  }

  void restart() override { feed_->restart(); }

  model::LearnedModel<float>& model_;
  ThreadTeam& team_;
  std::unique_ptr<Feed> feed_;
  std::unique_ptr<engine::BatchEngine<typename Feed::Group>> engine_;
};

}  // namespace kalmia::train
