#include "train/use_scores.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "infer/calibrated.hpp"
#include "infer/filter_pass.hpp"
#include "kalman/classical/batch.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

using kalman::row_at;

constexpr double kNowhere = std::numeric_limits<double>::infinity();
// More steps than this would hardly change a choice.
constexpr int kMostSteps = 1 << 14;
// A pass costs little more for several pieces side by side than for one: series are cut into about
// so many, but into none that is shorter than this, than so many hidden runs, or than so many times
// the steps before it from which its state is found.
constexpr int kPieces = 16;
constexpr int kShortestPiece = 1024;
constexpr int kPiecePerRun = 4;
constexpr int kPiecePerSettling = 8;
constexpr int kBlocks = 40;
// Few data are hidden several times, other values each time, until so many steps were predicted:
// the choice among models must not hang on the few runs that are hidden at once.
constexpr int kPredictedSteps = 1 << 12;
// Single values that are hidden in a row of runs, and how many values after a hidden run of r are
// shown.
constexpr int kSingles = 6;
constexpr int kShownAfterSingle = 7;
constexpr int kShownPerHidden = 4;
constexpr int kFewestShown = 8;
// The hidden runs where the data have fewer gaps of their own than this, and fewer missing values.
constexpr int kUsualRuns[] = {4, 12, 36};
constexpr std::size_t kFewGaps = 5;
constexpr int kFewMissing = 10;
// A run is no longer than this share of the longest stretch.
constexpr double kLongestRun = 0.15;
// The share of the noise that a smoothed value's variance stays below: rounding leaves no more of
// it.
constexpr double kMostKnown = 1 - 1e-9;

// Gains below this do not count.
constexpr double kLeastGain = 1e-3;
// A use is worse by more than this, and than two standard errors.
constexpr double kLeastHarm = 5e-3;
constexpr double kClearlyWorse = 2;
constexpr double kHarmOfGain = 0.1;

constexpr char kSingle = 1, kRun = 2, kAhead = 3;
// Forecasts are also made over longer runs: as far as the longest period, or this many steps, if
// that is no more than this share of the longest stretch.
constexpr int kUsualAhead = 48;
constexpr double kLongestAhead = 0.15;
// Gaps of the data's own that are as long as this say more of long gaps than hidden runs do: values
// are not missing by chance.
constexpr int kLongGap = 8;
constexpr double kManyInGaps = 0.03;  // of all steps

// The lengths of the gaps of one channel of a series.
void add_gaps(const infer::SeriesView& piece, int M, int m, std::vector<int>& gaps) {
  int last = -1;
  for (int k = 0; k < piece.steps; ++k) {
    if (std::isnan(piece.y[static_cast<std::ptrdiff_t>(k) * M + m])) continue;
    if (last >= 0 && k - last > 1) gaps.push_back(k - last - 1);
    last = k;
  }
}

// What is hidden, over and over: single values, then runs, then a run of `ahead` steps for
// forecasts alone (0: none).
std::vector<char> hiding_cycle(const std::vector<int>& runs, int ahead) {
  std::vector<char> cycle;
  for (int i = 0; i < kSingles; ++i) {
    cycle.insert(cycle.end(), kShownAfterSingle, 0);
    cycle.push_back(kSingle);
  }
  const auto add = [&](int run, char use) {
    cycle.insert(cycle.end(),
                 static_cast<std::size_t>(std::max(kFewestShown, kShownPerHidden * run)), 0);
    cycle.insert(cycle.end(), static_cast<std::size_t>(run), use);
  };
  for (const int run : runs) add(run, kRun);
  if (ahead > 0) add(ahead, kAhead);
  return cycle;
}

// Steps that do not count: a filter has settled by then, and has seen a season twice.
int settling_steps(double longest_period) {
  constexpr double kPeriods = 2, kMost = 2048;
  return static_cast<int>(
      std::clamp(kPeriods * longest_period, static_cast<double>(kSettling), kMost));
}

// Predictions of values of one use.
class Predictions {
 public:
  // `steps`: all that count, measured or not.
  Predictions(std::size_t channels, int steps) : channels_(channels), steps_(steps) {}

  // `gap`: the length of a gap of the data's own that the value comes after; 0: none.
  // `log_leverage`: the logarithm of UseScores::leverage for this value.
  void add(std::size_t channel, int block, double e, double variance, double unit, int gap,
           double log_leverage) {
    channels_[channel].push_back(
        {block, gap, std::log(variance * unit * unit) / 2, e * e / variance, e * e, unit});
    log_leverage_ += log_leverage;
    ++count_;
  }

  double leverage() const {
    return count_ == 0 ? 1 : std::exp(log_leverage_ / static_cast<double>(count_));
  }

  // What each block adds to the loss: linear in what its values add to the means.
  std::vector<double> blocks() const {
    std::vector<double> sums;
    double used = 0;
    for (const std::vector<Value>& values : channels_) used += values.empty() ? 0 : 1;
    if (used == 0) return sums;
    sums.assign(kBlocks, 0);
    for (const std::vector<Value>& values : channels_) {
      const std::vector<double> share = shares(values);
      const double scale = squared_scale(values, share, &Value::square);
      const double error = squared_scale(values, share, &Value::squared_error);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const Value& each = values[i];
        const double likelihood = each.log_deviation + gaussian(each.square, scale);
        const double size = std::log(each.unit) + gaussian(each.squared_error, error);
        sums[static_cast<std::size_t>(each.block)] += share[i] * (likelihood + size) / 2 / used;
      }
    }
    return sums;
  }

 private:
  struct Value {
    int block;
    int gap;
    double log_deviation;
    double square;         // of the error, over its variance
    double squared_error;  // in the model's units
    double unit;
  };

  // log s + (x / s^2 - 1) / 2, which is log s in the mean.
  static double gaussian(double square, double scale) {
    return (std::min(square / scale, kMostDeviations * kMostDeviations) - 1) / 2 +
           std::log(scale) / 2;
  }

  // What each value counts: those after gaps of the data's own together as much as all others, less
  // where few steps are in such gaps, each by the length of its gap.
  std::vector<double> shares(const std::vector<Value>& values) const {
    double lengths = 0, others = 0;
    for (const Value& each : values) {
      lengths += each.gap;
      others += each.gap == 0;
    }
    const double of_gaps = others > 0 ? 0.5 * std::min(1.0, lengths / (kManyInGaps * steps_)) : 1;
    std::vector<double> share;
    for (const Value& each : values)
      share.push_back(each.gap > 0 ? of_gaps * each.gap / lengths : (1 - of_gaps) / others);
    return share;
  }

  // The fixed point of s^2, from above: where a few values are far off, they count less and less.
  static double squared_scale(const std::vector<Value>& values, const std::vector<double>& share,
                              double Value::*square) {
    constexpr int kRounds = 50;
    double scale = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      double mean = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        mean += share[i] * std::min(values[i].*square, kMostDeviations * kMostDeviations * scale);
      mean = std::max(mean, std::numeric_limits<double>::min());
      if (!(mean < scale * (1 - 1e-9))) break;
      scale = mean;
    }
    return scale;
  }

  std::vector<std::vector<Value>> channels_;
  int steps_;
  double log_leverage_ = 0;
  std::size_t count_ = 0;
};

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

LossDifference of_blocks(const std::vector<double>& a, const std::vector<double>& b) {
  LossDifference result{sum_of(a) - sum_of(b), 0};
  if (a.empty() || !std::isfinite(result.mean)) return {std::isnan(result.mean) ? 0 : result.mean};
  const double mean = result.mean / static_cast<double>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result.error += std::pow(a[i] - b[i] - mean, 2);
  const auto count = static_cast<double>(a.size());
  result.error = std::sqrt(result.error * count / (count - 1));
  return result;
}

// The use that alone matters; nothing: all do.
std::optional<Use> use_of(model::Purpose purpose) {
  switch (purpose) {
    case model::Purpose::Filter:
      return Use::Filter;
    case model::Purpose::Smooth:
      return Use::Smooth;
    case model::Purpose::Gaps:
      return Use::Gaps;
    case model::Purpose::Forecast:
      return Use::Forecast;
    case model::Purpose::All:
      break;
  }
  return {};
}

double weight_of(const UseWeights& weights, Use use) {
  return weights.of[static_cast<std::size_t>(use)];
}

// The uses that count and have values.
double uses_of(const UseScores& scores, const UseWeights& weights) {
  double uses = 0;
  for (std::size_t u = 0; u < kUses; ++u)
    uses += scores.blocks[u].empty() || weights.of[u] == 0 ? 0 : 1;
  return uses;
}

// The mean over uses, block by block.
std::vector<double> mean_blocks(const UseScores& scores, const UseWeights& weights) {
  std::vector<double> mean;
  const double uses = uses_of(scores, weights);
  for (std::size_t u = 0; u < kUses; ++u) {
    const std::vector<double>& blocks = scores.blocks[u];
    if (blocks.empty() || weights.of[u] == 0) continue;
    mean.resize(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) mean[i] += weights.of[u] * blocks[i] / uses;
  }
  return mean;
}

// What the numbers that were learned cost, in the mean over uses.
double mean_penalty(const TriedModel& model, const UseWeights& weights) {
  double sum = 0;
  for (std::size_t u = 0; u < kUses; ++u)
    if (!model.scores.blocks[u].empty()) sum += weights.of[u] * model.penalty;
  return sum / std::max(uses_of(model.scores, weights), 1.0);
}

}  // namespace

std::string_view use_name(Use use) {
  switch (use) {
    case Use::Filter:
      return "filter";
    case Use::Smooth:
      return "smooth";
    case Use::Gaps:
      return "gaps";
    case Use::Forecast:
      return "forecast";
  }
  return "";
}

double UseScores::loss(Use use) const { return sum_of(blocks[static_cast<std::size_t>(use)]); }

UseWeights weights_of(const UseScores& scores, model::Purpose purpose, double most) {
  const std::optional<Use> only = use_of(purpose);
  UseWeights weights;
  for (const Use use : {Use::Filter, Use::Smooth, Use::Gaps, Use::Forecast}) {
    const auto u = static_cast<std::size_t>(use);
    weights.of[u] = only && *only != use ? 0 : std::clamp(scores.leverage[u], kLeastWeight, most);
  }
  return weights;
}

double mean_loss(const UseScores& scores, const UseWeights& weights) {
  return sum_of(mean_blocks(scores, weights));
}

double TriedModel::loss(const UseWeights& weights) const {
  return mean_loss(scores, weights) + mean_penalty(*this, weights);
}

LossDifference difference(const UseScores& a, const UseScores& b, Use use) {
  const auto u = static_cast<std::size_t>(use);
  return of_blocks(a.blocks[u], b.blocks[u]);
}

LossDifference difference(const UseScores& a, const UseScores& b, const UseWeights& weights) {
  return of_blocks(mean_blocks(a, weights), mean_blocks(b, weights));
}

FitCandidate TriedModel::summary(const UseWeights& weights) const {
  return {.what = what,
          .loss = loss(weights),
          .filter = scores.loss(Use::Filter) + penalty,
          .smooth = scores.loss(Use::Smooth) + penalty,
          .gaps = scores.loss(Use::Gaps) + penalty,
          .forecast = scores.loss(Use::Forecast) + penalty,
          .kept = kept};
}

std::optional<Use> worse_use(const TriedModel& model, const TriedModel& simpler,
                             const UseWeights& weights) {
  const double gain = simpler.loss(weights) - model.loss(weights);
  for (const Use use : {Use::Filter, Use::Smooth, Use::Gaps, Use::Forecast}) {
    const double weight = weight_of(weights, use);
    if (weight == 0) continue;
    const LossDifference one = difference(model.scores, simpler.scores, use);
    const double harm = weight * (one.mean + model.penalty - simpler.penalty);
    if (!(harm <= std::max({kClearlyWorse * weight * one.error, kLeastHarm, kHarmOfGain * gain})))
      return use;
  }
  return {};
}

bool is_better_over_all(const TriedModel& model, const TriedModel& other,
                        const UseWeights& weights) {
  const double gain = other.loss(weights) - model.loss(weights);
  return gain > std::max(difference(model.scores, other.scores, weights).error, kLeastGain);
}

bool is_better(const TriedModel& model, const TriedModel& simpler, const UseWeights& weights) {
  return is_better_over_all(model, simpler, weights) && !worse_use(model, simpler, weights);
}

std::vector<int> usual_runs(const ScaledData& data) {
  std::vector<int> gaps;
  for (int s = 0; s < data.series_count(); ++s)
    for (int m = 0; m < data.meas_dim(); ++m)
      add_gaps(data.view(data.series(s)), data.meas_dim(), m, gaps);
  // One or two values that are missing here and there are no gaps to speak of.
  if (gaps.size() < kFewGaps && std::accumulate(gaps.begin(), gaps.end(), 0) < kFewMissing)
    return {std::begin(kUsualRuns), std::end(kUsualRuns)};
  std::ranges::sort(gaps);
  const double all = std::accumulate(gaps.begin(), gaps.end(), 0.0);
  std::vector<int> runs;
  double sum = 0;
  for (const int gap : gaps) {
    const double before = sum;
    sum += gap;
    for (const double share : {0.25, 0.5, 0.75})
      if (before < share * all && share * all <= sum) runs.push_back(gap);
  }
  return runs;
}

std::vector<StepRange> held_out_ranges(const Split& split) {
  std::vector<StepRange> ranges;
  for (const HeldOut& each : split.held_out) {
    const StepRange& stretch = each.stretch;
    if (!ranges.empty() && ranges.back().series == stretch.series &&
        ranges.back().end == each.score_from)
      ranges.back().end = stretch.end;
    else
      ranges.push_back(stretch);
  }
  return ranges;
}

UseData::UseData(const ScaledData& data, const std::vector<StepRange>& stretches,
                 double longest_period, std::vector<int> runs, const ScaledData* targets)
    : data_(data), targets_(targets == nullptr ? data : *targets) {
  int steps = 0, longest = 0;
  for (const StepRange& stretch : stretches) {
    steps += stretch.steps();
    longest = std::max(longest, stretch.steps());
  }
  for (int& run : runs)
    run = std::clamp(run, 2, std::max(2, static_cast<int>(kLongestRun * longest)));
  std::ranges::sort(runs);
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  const int ahead = static_cast<int>(
      std::min(std::max(longest_period, double{kUsualAhead}), kLongestAhead * longest));
  const bool further = ahead > runs.back();
  cut_up(stretches, std::min(steps, kMostSteps) / kPieces, settling_steps(longest_period),
         further ? ahead : runs.back());
  hide(hiding_cycle(runs, further ? ahead : 0));
}

void UseData::cut_up(const std::vector<StepRange>& stretches, int length, int settling,
                     int longest_run) {
  length =
      std::max({length, kShortestPiece, kPiecePerRun * longest_run, kPiecePerSettling * settling});
  std::vector<Piece> all;
  int steps = 0;
  for (const StepRange& stretch : stretches) {
    const int first = stretch.begin + std::min(settling, stretch.steps() / 3);
    for (int from = first; from < stretch.end; from += length) {
      const int end = std::min(stretch.end, from + length);
      const int begin = std::max(stretch.begin, from - settling);
      const int seen = std::min(stretch.end, end + settling + longest_run);
      all.push_back({{stretch.series, begin, seen}, from - begin, end - begin, 0});
      steps += end - from;
    }
  }
  const int every = std::max(1, (steps + kMostSteps - 1) / kMostSteps);
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(every)) {
    pieces_.push_back(all[i]);
    pieces_.back().counted_before = steps_;
    steps_ += all[i].end - all[i].first;
  }
}

// Channels are hidden at different times; a step in two pieces is hidden in both.
void UseData::hide(const std::vector<char>& cycle) {
  const auto M = static_cast<std::size_t>(data_.meas_dim());
  const auto enough = static_cast<std::size_t>(kPredictedSteps / std::max(steps_, 1));
  rounds_ = static_cast<int>(std::clamp<std::size_t>(enough, 1, cycle.size()));
  for (std::size_t round = 0; round < static_cast<std::size_t>(rounds_); ++round) {
    const std::size_t shift = round * cycle.size() / static_cast<std::size_t>(rounds_);
    for (const Piece& piece : pieces_) {
      const infer::SeriesView view = data_.view(piece.steps);
      std::vector<double>& y =
          hidden_.emplace_back(view.y, view.y + static_cast<std::size_t>(view.steps) * M);
      std::vector<char>& use = use_.emplace_back(y.size(), 0);
      for (std::size_t i = 0; i < y.size(); ++i) {
        const std::size_t step = static_cast<std::size_t>(piece.steps.begin) + i / M;
        const std::size_t phase = shift + i % M * cycle.size() / M;
        use[i] = cycle[(step + phase) % cycle.size()];
        if (use[i] != 0) y[i] = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
}

UseScores UseData::score(const model::LearnedModel<float>& model, LeftOut left_out,
                         ThreadTeam& team) const {
  const int N = model.state_dim(), M = model.meas_dim();
  const auto width = static_cast<std::size_t>(M);
  const std::vector<double>& R = model.emission().R();
  const std::vector<double>& unit = model.description().units.y_scale;
  const auto name = [](int) { return std::string("the data"); };
  const Predictions none(width, rounds_ * steps_);
  std::array<Predictions, kUses> found{none, none, none, none};
  std::vector<double> mean(width), S(width * width);

  // Adds y - h(x) of the steps of a pass, whose pieces begin at number `begin` of it, once or,
  // where values are hidden, round after round; `wanted` says of a value, by its place in `use_`
  // and the length of the gap that it comes after, whether it is to be predicted.
  const int count = static_cast<int>(pieces_.size());
  const auto add = [&](const infer::FilterPass& pass, int begin, int rounds, const Moments& moments,
                       Use use, auto&& wanted, bool exactly = false) {
    Predictions& of_use = found[static_cast<std::size_t>(use)];
    const bool bridged = use == Use::Gaps || use == Use::Forecast;
    for (int p = 0; p < rounds * count; ++p) {
      const Piece& piece = pieces_[static_cast<std::size_t>(p % count)];
      const infer::SeriesView whole = data_.view(piece.steps);
      const double* targets = targets_.at(piece.steps.series, piece.steps.begin);
      std::vector<int> last(width, -1);  // step of the last value of a channel
      for (int k = 0; k < piece.end; ++k) {
        const std::int64_t counted = piece.counted_before + std::max(0, k - piece.first);
        const int block = static_cast<int>(counted * kBlocks / steps_);
        bool known = false;
        for (std::size_t m = 0; m < width; ++m) {
          const std::size_t i = static_cast<std::size_t>(k) * width + m;
          const double y = targets[i];
          if (std::isnan(y)) continue;
          const int gap = last[m] < 0 ? 0 : k - last[m] - 1;
          last[m] = k;
          if (k < piece.first || !wanted(use_[static_cast<std::size_t>(p)][i], gap)) continue;
          if (!known)
            infer::predict_measurement(
                model, moments.mean.data() + row_at(pass.moments, begin + p, k, N),
                moments.covariance.data() + row_at(pass.moments, begin + p, k, N * N), mean.data(),
                S.data());
          known = true;
          const double weight = whole.weight == nullptr ? 1 : whole.weight[i];
          const double noise = R[m * (width + 1)] / weight;
          double e = y - mean[m], variance = S[m * (width + 1)] + noise;
          if (exactly) {  // of what the smoothed state was before y's own update
            const double left = noise - std::min(S[m * (width + 1)], kMostKnown * noise);
            e *= noise / left;
            variance = noise * noise / left;
          }
          const double state = std::max(variance - noise, std::numeric_limits<double>::min());
          of_use.add(m, block, e, variance, unit[m], bridged && gap >= kLongGap ? gap : 0,
                     std::log(bridged ? variance / state : noise / state));
        }
      }
    }
  };

  UseScores scores;
  try {
    // The data as they are, and with values hidden, side by side.
    const bool exactly = left_out == LeftOut::Exactly && model.description().tails == 0;
    std::vector<infer::SeriesView> views;
    if (exactly)
      for (const Piece& piece : pieces_) views.push_back(data_.view(piece.steps));
    const int shown = static_cast<int>(views.size());
    for (std::size_t p = 0; p < hidden_.size(); ++p) {
      views.push_back(data_.view(pieces_[p % pieces_.size()].steps));
      views.back().y = hidden_[p].data();
    }
    infer::FilterPass pass = infer::run_pass(model, views, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    const Moments& predicted = pass.moments.predicted;
    const Moments& smoothed = pass.moments.smoothed;
    const auto any = [](char, int) { return true; };
    if (exactly) {
      add(pass, 0, 1, predicted, Use::Filter, any);
      add(pass, 0, 1, smoothed, Use::Smooth, any, true);
    } else {
      add(pass, shown, rounds_, predicted, Use::Filter, [](char use, int) { return use == 0; });
      add(pass, shown, rounds_, smoothed, Use::Smooth,
          [](char use, int) { return use == kSingle; });
    }
    const auto hidden = [](char use, int gap) { return use == kRun && gap < kLongGap; };
    const auto ahead = [](char use, int gap) { return use >= kRun && gap < kLongGap; };
    const auto regained = [](char, int gap) { return gap >= kLongGap; };
    add(pass, shown, rounds_, smoothed, Use::Gaps, hidden);
    add(pass, shown, rounds_, pass.moments.filtered, Use::Forecast, ahead);
    for (const Use use : {Use::Gaps, Use::Forecast})
      add(pass, shown, rounds_, predicted, use, regained);
  } catch (const NumericalError&) {
    for (std::vector<double>& blocks : scores.blocks) blocks.assign(kBlocks, kNowhere);
    return scores;
  }
  for (std::size_t u = 0; u < kUses; ++u) {
    scores.blocks[u] = found[u].blocks();
    scores.leverage[u] = found[u].leverage();
  }
  return scores;
}

}  // namespace kalmia::train
