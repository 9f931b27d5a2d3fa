#include "train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "model/batch.hpp"
#include "nn/adam.hpp"
#include "train/lane_feed.hpp"
#include "train/noise_factor.hpp"
#include "train/summary.hpp"

namespace kalmia::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPasses = 250;
constexpr int kFewestUpdates = 400;
constexpr int kMostUpdates = 8000;
// Checks of the held-out data over a whole run.
constexpr int kChecks = 80;
// Checks before this update do not try the patience: the rate has hardly risen by then.
constexpr int kPatientUpdates = 150;
// An improvement of the held-out loss that counts as one.
constexpr double kImprovement = 1e-4;
// The model that is checked and kept is an average over about this many of the last updates: its
// held-out loss is that of a run with a smaller rate, without the wait.
constexpr double kAveraged = 200;
// Updates in a row that may fail before the rate is halved, and how often that may happen.
constexpr int kFailuresInARow = 5;
constexpr int kMostRateCuts = 4;
constexpr std::int64_t kWarmup = 50;
// Below this many series, initial states are too few to be learned from.
constexpr int kSeriesForInitial = 64;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class NetworkTrainer {
 public:
  NetworkTrainer(const StaticResult& start, const model::NoiseSpec& noise, const ScaledData& data,
                 const Split& split, const FitOptions& options, ThreadTeam& team,
                 FitSummary& summary)
      : data_(data),
        split_(split),
        options_(options.train),
        team_(team),
        summary_(summary),
        model_(start.with_networks<float>(options.model.hidden, options.model.decoder,
                                          options.train.seed)),
        checked_(start.with_networks<float>(options.model.hidden, options.model.decoder,
                                            options.train.seed)),
        feed_(*model_, data, split.training,
              {options.train.window, options.train.batch, options.train.gaps, options.train.seed}),
        engine_(model_->window(), team, options.train.window, feed_.groups()[0].lanes, true),
        noise_(noise.kind, model_->meas_dim(), start.noise_floor),
        adam_(model_->architecture().parameters.size(), adam_options()),
        noise_adam_(std::max(1, noise_.size()), adam_options()) {
    const auto size = static_cast<std::size_t>(model_->architecture().parameters.size());
    parameters_.resize(size);
    std::copy(model_->parameters().begin(), model_->parameters().end(), parameters_.data());
    gradient_.resize(size);
    average_.assign(parameters_.span().begin(), parameters_.span().end());
    best_ = average_;
    best_R_ = start.R;
    const auto M = static_cast<std::size_t>(model_->meas_dim());
    d_R_.resize(M * M);
    noise_variables_.resize(static_cast<std::size_t>(std::max(1, noise_.size())));
    noise_gradient_.resize(noise_variables_.size());
    const std::vector<double> variables = noise_.start(start.R);
    std::copy(variables.begin(), variables.end(), noise_variables_.data());
    noise_average_.assign(noise_variables_.span().begin(), noise_variables_.span().end());
    best_noise_ = noise_average_;
  }

  std::unique_ptr<model::LearnedModel<float>> run(
      const std::function<bool(FitProgress&)>& progress) {
    const Clock::time_point start = Clock::now();
    const int per_update = feed_.lanes() * options_.window;
    const int updates = options_.updates > 0 ? options_.updates
                                             : default_updates(summary_.training_steps, per_update);
    nn::Schedule schedule{nn::Schedule::Kind::Cosine, std::min<std::int64_t>(kWarmup, updates / 10),
                          updates, 0.01};
    const int every = std::max(1, updates / kChecks);
    FitProgress now;
    now.stage = "networks";
    now.updates = updates;
    now.held_out = std::numeric_limits<double>::quiet_NaN();
    now.best_held_out = summary_.static_held_out;
    double best = summary_.static_held_out;
    double steps = 0, loss_sum = 0, loss_count = 0;
    int stale = 0, failures = 0;
    Clock::time_point reported = start;
    summary_.stop_reason = StopReason::Finished;
    for (int update = 1; update <= updates; ++update) {
      const std::optional<double> loss = train_once(schedule.factor(update - 1));
      steps += feed_.steps();
      summary_.updates = update;
      if (loss && std::isfinite(*loss)) {
        failures = 0;
        loss_sum += *loss;
        loss_count += 1;
      } else if (loss) {
        ++summary_.skipped_updates;
        if (++failures >= kFailuresInARow) {
          if (summary_.rate_cuts == kMostRateCuts) {
            summary_.stop_reason = StopReason::Failures;
            break;
          }
          ++summary_.rate_cuts;
          rate_ *= 0.5;
          failures = 0;
          back_to_best();
        }
      }
      if (update % every == 0 || update == updates) {
        now.held_out = check();
        now.loss = loss_count > 0 ? loss_sum / loss_count : std::nan("");
        summary_.checks.push_back({update, now.loss, now.held_out,
                                   rate_ * options_.learning_rate * schedule.factor(update - 1)});
        loss_sum = loss_count = 0;
        if (predicts_noise(now.held_out, summary_)) {
          summary_.stop_reason = StopReason::NoisePredicted;
          break;
        }
        if (now.held_out < best - kImprovement) {
          best = now.held_out;
          stale = 0;
          summary_.best_update = update;
          best_ = average_;
          best_noise_ = noise_average_;
          best_R_ = checked_->emission().R();
        } else if (update > kPatientUpdates && ++stale >= options_.patience) {
          summary_.stop_reason = StopReason::Patience;
          break;
        }
        now.best_held_out = best;
      }
      if (progress && (seconds_since(reported) > 0.1 || update == updates)) {
        reported = Clock::now();
        now.update = update;
        if (loss_count > 0) now.loss = loss_sum / loss_count;
        const double elapsed = seconds_since(start);
        now.steps_per_second = steps / elapsed;
        now.seconds_left = elapsed / update * (updates - update);
        if (!progress(now)) {
          summary_.stop_reason = StopReason::Interrupted;
          break;
        }
      }
    }
    summary_.network_seconds = seconds_since(start);
    summary_.steps_per_second = steps / std::max(summary_.network_seconds, 1e-9);
    summary_.best_held_out = best;
    summary_.networks = summary_.best_update > 0;
    if (!summary_.networks) return nullptr;
    checked_->set_parameters(best_);
    checked_->set_R(best_R_);
    return std::move(checked_);
  }

 private:
  nn::AdamOptions adam_options() const {
    nn::AdamOptions adam;
    adam.learning_rate = options_.learning_rate;
    adam.clip_norm = options_.clip_norm;
    return adam;
  }

  // One update. Returns the loss of the window: NaN if the update was left out, nothing if no value
  // was measured in it.
  std::optional<double> train_once(double factor) {
    const Measured measured = feed_.next(team_);
    const double scale = 0.5 / std::max(measured.values, 1.0);
    const model::BatchResult result =
        engine_.gradient(feed_.groups(), scale, gradient_.span(), d_R_);
    if (result.failed_lanes > 0) feed_.restart_broken();
    if (measured.values == 0) return std::nullopt;
    const double loss = measured.loss(result.nll);
    if (!std::isfinite(loss) || result.failed_lanes > feed_.lanes() / 4) return std::nan("");
    hold_fixed_parameters();
    if (!adam_.step(gradient_.span(), parameters_.span(), factor * rate_).applied)
      return std::nan("");
    decay_weights(factor);
    model_->set_parameters(parameters_.span());
    if (noise_.size() > 0) {
      const auto used = static_cast<std::size_t>(noise_.size());
      const std::vector<double> d_noise =
          noise_.gradient(noise_variables_.span().first(used), d_R_);
      std::copy(d_noise.begin(), d_noise.end(), noise_gradient_.data());
      noise_adam_.step(noise_gradient_.span(), noise_variables_.span(), factor * rate_);
      model_->set_R(noise_.value(noise_variables_.span().first(used)));
    }
    average();
    return loss;
  }

  void hold_fixed_parameters() {
    if (static_cast<int>(split_.training.size()) >= kSeriesForInitial) return;
    for (auto i = static_cast<std::size_t>(model_->architecture().initial_e); i < gradient_.size();
         ++i)
      gradient_[i] = 0;
  }

  // Decoupled decay of the last layer's weights alone: towards the static model, which they depart
  // from.
  void decay_weights(double factor) {
    const nn::MlpLayout& decoder = model_->architecture().decoder;
    const auto keep = static_cast<float>(
        std::max(0.0, 1 - factor * rate_ * options_.learning_rate * options_.weight_decay));
    for (auto i = static_cast<std::size_t>(decoder.weight.back());
         i < static_cast<std::size_t>(decoder.bias.back()); ++i)
      parameters_[i] *= keep;
  }

  void average() {
    ++averaged_;
    const double weight = 1 / std::min(kAveraged, 0.2 * averaged_ + 1);
    const auto w = static_cast<float>(weight);
    for (std::size_t i = 0; i < average_.size(); ++i)
      average_[i] += w * (parameters_[i] - average_[i]);
    for (std::size_t i = 0; i < noise_average_.size(); ++i)
      noise_average_[i] += weight * (noise_variables_[i] - noise_average_[i]);
  }

  double check() {
    checked_->set_parameters(average_);
    if (noise_.size() > 0) checked_->set_R(noise_.value(noise_average_));
    return held_out_loss(*checked_, data_, split_.held_out, team_);
  }

  void back_to_best() {
    std::copy(best_.begin(), best_.end(), parameters_.data());
    average_ = best_;
    averaged_ = 0;
    model_->set_parameters(parameters_.span());
    adam_ = nn::Adam<float>(model_->architecture().parameters.size(), adam_options());
    std::copy(best_noise_.begin(), best_noise_.end(), noise_variables_.data());
    noise_average_ = best_noise_;
    model_->set_R(best_R_);
    noise_adam_ = nn::Adam<double>(std::max(1, noise_.size()), adam_options());
    feed_.restart();
  }

  const ScaledData& data_;
  const Split& split_;
  TrainOptions options_;
  ThreadTeam& team_;
  FitSummary& summary_;
  std::unique_ptr<model::LearnedModel<float>> model_;    // in training
  std::unique_ptr<model::LearnedModel<float>> checked_;  // the average
  LaneFeed feed_;
  model::BatchEngine<float> engine_;
  NoiseFactor noise_;
  nn::Adam<float> adam_;
  nn::Adam<double> noise_adam_;
  Buffer<float> parameters_, gradient_;
  std::vector<float> average_, best_;
  std::vector<double> best_R_, d_R_;
  Buffer<double> noise_variables_, noise_gradient_;
  std::vector<double> noise_average_, best_noise_;
  double averaged_ = 0;
  double rate_ = 1;
};

}  // namespace

int default_updates(std::size_t training_steps, int steps_per_update) {
  const double passes =
      kPasses * static_cast<double>(training_steps) / static_cast<double>(steps_per_update);
  return static_cast<int>(std::clamp<double>(passes, kFewestUpdates, kMostUpdates));
}

NetworkResult train_networks(const StaticResult& start, const model::NoiseSpec& noise,
                             const ScaledData& data, const Split& split, const FitOptions& options,
                             ThreadTeam& team, const std::function<bool(FitProgress&)>& progress,
                             FitSummary& summary) {
  NetworkTrainer trainer(start, noise, data, split, options, team, summary);
  return {trainer.run(progress)};
}

}  // namespace kalmia::train
