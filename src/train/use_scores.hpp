// How good a model is in each of its uses, told from measurements alone.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.hpp"
#include "infer/scaled_data.hpp"
#include "kalmia/fit.hpp"
#include "model/model_spec.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// What estimates are for. A value that was measured is predicted
enum class Use {
  Filter,    ///< from all before it
  Smooth,    ///< from all others
  Gaps,      ///< from all outside the run of values that it is hidden with
  Forecast,  ///< from all before that run
};
// Gaps of the data's own are not where chance would have them (a receiver is indoors), so that
// hidden runs say little of them. The first value after a long one does, predicted from all before
// it: where many steps are in such gaps, it counts for gaps and forecasts as much as all hidden
// runs.
inline constexpr std::size_t kUses = 4;
std::string_view use_name(Use use);

/// How a value is predicted from all others.
enum class LeftOut {
  /// By what its update added to the smoothed state. That is known of static models with Gaussian
  /// noise; other models are asked for hidden values.
  Exactly,
  Hidden,  ///< by hiding single values
};

/// The losses of a model. With e the error of a prediction, v its variance, noise included, and
/// u = e / v^1/2, the loss of a use is, for each channel, the mean of two: that of Gaussian errors
/// of these variances, whose common scale s is fitted, and that of errors of one size,
///
///   mean of log(v) / 2  +  log s,      s^2 = mean of min(u^2, (kMostDeviations s)^2),
///   log of the root mean square of e,                                 cut off likewise,
///
/// in the user's units, and the mean of that over channels. The first asks for small errors where
/// the model is sure of itself, the second for few large ones. An outlier counts as an error of
/// kMostDeviations, and a common factor of all variances, which calibration finds later, nothing.
/// (Stein's estimate of the error with y itself would tell more of smoothing, but takes R for
/// right: models with too small an R, learned, look better by it.)
inline constexpr double kMostDeviations = 10;
struct UseScores {
  /// What each block of neighbouring values adds to the loss of a use; empty: no value was
  /// predicted.
  std::array<std::vector<double>, kUses> blocks;
  /// Of each use, by how much more than the loss the logarithm of the state's error moves. The loss
  /// is that of y, of variance W + R, but the state's error has the variance W, in gaps and
  /// forecasts, or W R / (W + R), where y is known: (W + R) / W, or R / W. In the mean.
  std::array<double, kUses> leverage = {1, 1, 1, 1};

  double loss(Use use) const;
};

/// What the loss of each use counts; 0: the use does not matter. With 1 for all, losses are those
/// of what is measured.
struct UseWeights {
  std::array<double, kUses> of = {1, 1, 1, 1};
};
/// So that differences of losses are those of the logarithms of the states' errors, as a model has
/// them; with a purpose, of that use alone. Where nearly all is noise, or nearly nothing, little is
/// known of the state's error: no weight is beyond kLeastWeight and `most`.
inline constexpr double kLeastWeight = 0.1, kMostWeight = 5;
UseWeights weights_of(const UseScores& scores, model::Purpose purpose, double most = kMostWeight);

/// The mean over all uses that have values.
double mean_loss(const UseScores& scores, const UseWeights& weights = {});

/// The difference of two losses, of models that were scored on the same values, and its standard
/// error.
struct LossDifference {
  double mean = 0;
  double error = 0;
};
LossDifference difference(const UseScores& a, const UseScores& b, Use use);
/// Of the means over all uses.
LossDifference difference(const UseScores& a, const UseScores& b, const UseWeights& weights = {});

/// One model that was tried.
struct TriedModel {
  std::string what;  ///< as users write it
  UseScores scores;
  double penalty = 0;  ///< what is added to each loss: learned numbers over measured values
  bool kept = false;   ///< it became the best one

  double loss(const UseWeights& weights = {}) const;
  FitCandidate summary(const UseWeights& weights = {}) const;
};

/// Whether a model is better than a simpler one: by more than a standard error of the difference of
/// their losses over all uses, penalties included, while no use is worse: by two standard errors,
/// and by more than a small share of what is gained over all.
bool is_better(const TriedModel& model, const TriedModel& simpler, const UseWeights& weights = {});
/// Whether a model is better than one that is as simple: over all uses, by more than a standard
/// error, whatever each of them says.
bool is_better_over_all(const TriedModel& model, const TriedModel& other,
                        const UseWeights& weights = {});
/// The use that is clearly worse, if there is one.
std::optional<Use> worse_use(const TriedModel& model, const TriedModel& simpler,
                             const UseWeights& weights = {});

/// Lengths of hidden runs: as long as the data's own gaps, such that a quarter, half and three
/// quarters of all missing values lie in no longer ones; the usual ones where there are few gaps.
std::vector<int> usual_runs(const ScaledData& data);

/// The held-out stretches of each series that follow each other, as one.
std::vector<StepRange> held_out_ranges(const Split& split);

/// Values to score models on.
class UseData {
 public:
  /// Stretches, of which the first steps do not count, until a filter has settled and has seen a
  /// season of `longest_period` twice (at most a third); of long data an even selection. Values are
  /// hidden in runs as long as `runs`, of which there is at least one, and forecasts are made over
  /// longer ones, too; of few data in several rounds, other values each time. `targets`: the data
  /// without values that nothing could predict, outliers; null: the data. Both must outlive this
  /// object.
  UseData(const ScaledData& data, const std::vector<StepRange>& stretches, double longest_period,
          std::vector<int> runs, const ScaledData* targets = nullptr);

  /// Scores that are infinite where the model breaks down.
  UseScores score(const model::LearnedModel<float>& model, LeftOut left_out,
                  ThreadTeam& team) const;

 private:
  // Some steps, of which those from `first` to `end` (from the first of them on) count: the others
  // lead to them, and back to them.
  struct Piece {
    StepRange steps;
    int first = 0, end = 0;
    int counted_before = 0;  // in the pieces before it
  };
  void cut_up(const std::vector<StepRange>& stretches, int length, int settling, int longest_run);
  void hide(const std::vector<char>& cycle);

  const ScaledData& data_;
  const ScaledData& targets_;
  std::vector<Piece> pieces_;
  int steps_ = 0;  // that count
  // Of each round, one after another, and in it of each piece:
  int rounds_ = 1;
  std::vector<std::vector<double>> hidden_;  // y, some of them missing
  std::vector<std::vector<char>> use_;  // which hidden run a value belongs to: 0 none, 1 single
};

}  // namespace kalmia::train
