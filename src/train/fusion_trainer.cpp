#include "train/fusion_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/batch.hpp"
#include "nn/softplus.hpp"
#include "train/averaged_adam.hpp"
#include "train/fusion_feed.hpp"
#include "train/summary.hpp"
#include "train/trainer.hpp"

namespace kalmia::train {
namespace {

// The future's word counts this much of what it would if its centre were the state, at the start.
constexpr double kStartShare = 0.5;

// Mean square of (centre - x_pred) for each state: how far from the prediction the future is before
// anything is learned.
std::vector<double> distances(const model::LearnedModel<float>& model, const FusionData& data) {
  const int N = model.state_dim(), M = model.meas_dim();
  std::vector<double> squares(static_cast<std::size_t>(N)), centre(squares), count(squares);
  const model::FeatureSpec& features = model.description().features;
  for (int p = 0; p < data.count(); ++p) {
    const infer::FusionPiece piece = data.piece(p);
    for (int k = 0; k + 1 < piece.steps; ++k) {
      features.future_centre(piece.y + static_cast<std::ptrdiff_t>(k + 1) * M, centre.data());
      for (std::size_t n = 0; n < centre.size(); ++n) {
        const double d = centre[n] - piece.x_pred[static_cast<std::size_t>(k * N) + n];
        if (!std::isfinite(d)) continue;
        squares[n] += d * d;
        count[n] += 1;
      }
    }
  }
  for (std::size_t n = 0; n < squares.size(); ++n) squares[n] /= std::max(count[n], 1.0);
  return squares;
}

class FusionTrainee : public Trainee {
 public:
  FusionTrainee(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                const FitOptions& options, ThreadTeam& team)
      : model_(model),
        scaled_(data),
        team_(team),
        training_(model, data, split.training, options.train.gaps, options.train.seed, team),
        held_out_(model, data, stretches(split), 0, options.train.seed, team) {
    for (int i = 0; i < held_out_.count(); ++i) {
      const HeldOut& each = checked_.emplace_back(split.held_out[held_out_.given_index(i)]);
      score_from_.push_back(each.score_from - each.stretch.begin);
      measured_.add(data.measured({each.stretch.series, each.score_from, each.stretch.end}));
    }
    thinned_ = checked_.size() < split.held_out.size();
    start(options);
    feed_ = std::make_unique<FusionFeed>(model_, scaled_, training_, options.train.window,
                                         options.train.batch);
    engine_ = std::make_unique<model::BatchEngine<float>>(
        model_.fusion_window(), team, options.train.window, feed_->groups()[0].lanes, true);
    nn::AdamOptions adam;
    adam.learning_rate = options.train.learning_rate;
    adam.clip_norm = options.train.clip_norm;
    networks_ = std::make_unique<AveragedAdam<float>>(model_.fusion()->parameters(), adam);
  }

  std::size_t training_steps() const { return static_cast<std::size_t>(training_.steps()); }
  /// The filter's loss of the held-out data that are checked here; `of_all`: of all of them.
  double filter_loss(double of_all) const {
    return thinned_ ? held_out_loss(model_, scaled_, checked_, team_) : of_all;
  }
  int steps_per_update() const { return feed_->lanes() * feed_->groups()[0].steps; }
  int steps() const override { return feed_->steps(); }

  std::optional<double> train_once(double rate) override {
    const Measured measured = feed_->next(team_);
    const double scale = 0.5 / std::max(measured.values, 1.0);
    const model::BatchResult result =
        engine_->gradient(feed_->groups(), scale, networks_->gradient());
    if (measured.values == 0) return std::nullopt;
    const double loss = measured.loss(result.nll);
    if (!std::isfinite(loss) || result.failed_lanes > feed_->lanes() / 4) return std::nan("");
    if (!networks_->step(rate)) return std::nan("");
    networks_->add_to_average();
    set(networks_->parameters());
    return loss;
  }

  double check() override {
    set(networks_->average());
    std::vector<double> nll(score_from_.size());
    double loss = std::numeric_limits<double>::infinity();
    try {
      infer::run_fusion(
          model_, held_out_.pieces(), {}, team_,
          [&](int piece, int last, int count, const infer::LaneMoments& moments) {
            const auto p = static_cast<std::size_t>(piece);
            for (int j = 0; j < count && last - j >= score_from_[p]; ++j) nll[p] += moments.nll(j);
          },
          [](int) { return std::string(); });
      loss = measured_.loss(std::accumulate(nll.begin(), nll.end(), 0.0));
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
  void finish(bool better) {
    if (better)
      set(networks_->best());
    else
      model_.set_fusion({}, {});
  }

 private:
  static std::vector<Stretch> stretches(const Split& split) {
    std::vector<Stretch> result;
    for (const HeldOut& each : split.held_out) result.push_back(each.stretch);
    return result;
  }

  // The engine holds pointers to the model's networks: they are changed in place.
  void set(std::span<const float> parameters) { model_.set_fusion_parameters(parameters); }

  // Random encoder, last layer zero: z is its centre, U diagonal and cautious.
  void start(const FitOptions& options) {
    const model::FusionSizes sizes{options.model.hidden, options.model.decoder};
    const model::Architecture architecture(
        model::fusion_options(model_.description(), model_.expert(), sizes));
    std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
    model::initialise<float>(architecture, options.train.seed, 1, 1, parameters.data());
    const std::vector<double> square = distances(model_, training_);
    for (int n = 0; n < model_.state_dim(); ++n) {
      const double root = std::sqrt(std::max(square[static_cast<std::size_t>(n)], 1e-12));
      parameters[static_cast<std::size_t>(architecture.decoder.bias.back() + architecture.L_row() +
                                          lanes::triangle_index(n, n))] =
          static_cast<float>(nn::inverse_softplus(kStartShare / root));
    }
    model_.set_fusion(sizes, parameters);
  }

  model::LearnedModel<float>& model_;
  const ScaledData& scaled_;
  ThreadTeam& team_;
  FusionData training_, held_out_;
  std::vector<HeldOut> checked_;  // what is kept of the held-out data
  bool thinned_ = false;
  std::vector<int> score_from_;
  Measured measured_;  // what counts of the held-out data
  std::unique_ptr<FusionFeed> feed_;
  std::unique_ptr<model::BatchEngine<float>> engine_;
  std::unique_ptr<AveragedAdam<float>> networks_;
};

}  // namespace

void train_fusion(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                  const FitOptions& options, ThreadTeam& team,
                  const std::function<bool(FitProgress&)>& progress, FitSummary& summary) {
  FusionTrainee trainee(model, data, split, options, team);
  LoopOptions loop;
  loop.stage = "smoother";
  loop.updates = options.train.updates > 0
                     ? options.train.updates
                     : default_updates(trainee.training_steps(), trainee.steps_per_update());
  loop.start_loss = trainee.filter_loss(summary.best_held_out);
  loop.too_good = [&](double held_out) { return predicts_noise(held_out, summary); };
  const LoopResult result = run_training(trainee, options.train, loop, progress);
  trainee.finish(result.best_update > 0);
  summary.smoother = result.best_update > 0;
  summary.smoother_updates = result.updates;
  summary.smoother_best_update = result.best_update;
  summary.smoother_held_out = result.best_held_out;
  summary.smoother_seconds = result.seconds;
}

}  // namespace kalmia::train
