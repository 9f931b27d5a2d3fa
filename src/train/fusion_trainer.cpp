#include "train/fusion_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nn/softplus.hpp"
#include "train/fusion_feed.hpp"

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
    const infer::FusionView piece = data.view(p);
    for (int k = 0; k + 1 < piece.steps; ++k) {
      features.seen_centre(piece.y + static_cast<std::ptrdiff_t>(k + 1) * M, centre.data());
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

class FusionTrainee : public SmootherTrainee<FusionFeed> {
 public:
  FusionTrainee(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                const FitSpec& spec, ThreadTeam& team)
      : SmootherTrainee(model, team),
        scaled_(data),
        training_(model, data, split.training, spec.train.gaps, spec.train.seed, team),
        held_out_(model, data, stretches(split), 0, spec.train.seed, team) {
    for (int i = 0; i < held_out_.count(); ++i) {
      const HeldOut& each = checked_.emplace_back(split.held_out[held_out_.given_index(i)]);
      score_from_.push_back(each.score_from - each.stretch.begin);
      measured_.add(data.measured({each.stretch.series, each.score_from, each.stretch.end}));
    }
    thinned_ = checked_.size() < split.held_out.size();
    start(spec);
    begin(std::make_unique<FusionFeed>(model_, scaled_, training_, spec.train.window,
                                       spec.train.batch),
          model_.fusion_window(), spec.train);
  }

  std::size_t training_steps() const override {
    return static_cast<std::size_t>(training_.steps());
  }
  double filter_loss(double of_all) const override {
    return thinned_ ? held_out_loss(model_, scaled_, checked_, team_) : of_all;
  }

 private:
  static std::vector<StepRange> stretches(const Split& split) {
    std::vector<StepRange> result;
    for (const HeldOut& each : split.held_out) result.push_back(each.stretch);
    return result;
  }

  double held_out_now() override {
    std::vector<double> nll(score_from_.size());
    infer::run_fusion(
        model_, held_out_.views(), {}, team_,
        [&](int piece, int last, int count, const infer::LaneMoments& moments) {
          const auto p = static_cast<std::size_t>(piece);
          for (int j = 0; j < count && last - j >= score_from_[p]; ++j) nll[p] += moments.nll(j);
        },
        [](int) { return std::string(); });
    return measured_.loss(std::accumulate(nll.begin(), nll.end(), 0.0));
  }

  // Random encoder, last layer zero: z is its centre, U diagonal and cautious.
  void start(const FitSpec& spec) {
    const model::SmootherSizes sizes{spec.model.networks.hidden, spec.model.networks.decoder,
                                     model::SmootherKind::Fused};
    const heads::Architecture architecture(
        model::smoother_options(model_.description(), model_.expert(), sizes));
    std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
    heads::initialise<float>(architecture, spec.train.seed, 1, 1, parameters.data());
    const std::vector<double> square = distances(model_, training_);
    for (int n = 0; n < model_.state_dim(); ++n) {
      const double root = std::sqrt(std::max(square[static_cast<std::size_t>(n)], 1e-12));
      parameters[static_cast<std::size_t>(architecture.decoder.bias.back() +
                                          architecture.deviation_row(n))] =
          static_cast<float>(nn::inverse_softplus(kStartShare / root));
    }
    model_.set_smoother(sizes, parameters);
  }

  const ScaledData& scaled_;
  FusionData training_, held_out_;
  std::vector<HeldOut> checked_;  // what is kept of the held-out data
  bool thinned_ = false;
  std::vector<int> score_from_;
  Measured measured_;  // what counts of the held-out data
};

}  // namespace

std::unique_ptr<SmootherStage> fusion_stage(model::LearnedModel<float>& model,
                                            const ScaledData& data, const Split& split,
                                            const FitSpec& spec, ThreadTeam& team) {
  return std::make_unique<FusionTrainee>(model, data, split, spec, team);
}

}  // namespace kalmia::train
