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
// Of long data, pieces of so many steps, or of this many times the steps that do not count.
constexpr int kScoredPiece = 2048;
constexpr int kPiecePerSettling = 6;
constexpr int kBlocks = 40;
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
// A run is no longer than this share of a piece.
constexpr double kLongestRun = 0.15;
// The share of the noise that a smoothed value's variance stays below.
constexpr double kMostKnown = 0.999;

// Gains below this do not count.
constexpr double kLeastGain = 1e-3;
// A use is worse by more than this, and than two standard errors.
constexpr double kLeastHarm = 5e-3;
constexpr double kClearlyWorse = 2;
constexpr double kHarmOfGain = 0.1;

constexpr char kSingle = 1, kRun = 2;

// The lengths of the gaps of one channel of a series.
void add_gaps(const infer::SeriesView& piece, int M, int m, std::vector<int>& gaps) {
  int last = -1;
  for (int k = 0; k < piece.steps; ++k) {
    if (std::isnan(piece.y[static_cast<std::ptrdiff_t>(k) * M + m])) continue;
    if (last >= 0 && k - last > 1) gaps.push_back(k - last - 1);
    last = k;
  }
}

// What is hidden, over and over: single values, then runs.
std::vector<char> hiding_cycle(const std::vector<int>& runs) {
  std::vector<char> cycle;
  for (int i = 0; i < kSingles; ++i) {
    cycle.insert(cycle.end(), kShownAfterSingle, 0);
    cycle.push_back(kSingle);
  }
  for (const int run : runs) {
    cycle.insert(cycle.end(),
                 static_cast<std::size_t>(std::max(kFewestShown, kShownPerHidden * run)), 0);
    cycle.insert(cycle.end(), static_cast<std::size_t>(run), kRun);
  }
  return cycle;
}

// Predictions of values of one use.
class Predictions {
 public:
  explicit Predictions(std::size_t channels) : channels_(channels) {}

  void add(std::size_t channel, int block, double e, double variance, double unit) {
    channels_[channel].push_back(
        {block, std::log(variance * unit * unit) / 2, e * e / variance});
  }

  // What each block adds to the loss: linear in what its values add to the means.
  std::vector<double> blocks() const {
    std::vector<double> sums;
    double used = 0;
    for (const std::vector<Value>& values : channels_) used += values.empty() ? 0 : 1;
    if (used == 0) return sums;
    sums.assign(kBlocks, 0);
    for (const std::vector<Value>& values : channels_) {
      const auto count = static_cast<double>(values.size());
      const double scale = squared_scale(values);
      for (const Value& each : values) {
        const double square = std::min(each.square / scale, kMostDeviations * kMostDeviations);
        sums[static_cast<std::size_t>(each.block)] +=
            (each.log_deviation + (square - 1) / 2 + std::log(scale) / 2) / count / used;
      }
    }
    return sums;
  }

 private:
  struct Value {
    int block;
    double log_deviation;
    double square;  // of the error, over its variance
  };

  // The fixed point of s^2, from above: where a few values are far off, they count less and less.
  static double squared_scale(const std::vector<Value>& values) {
    constexpr int kRounds = 50;
    double scale = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      double mean = 0;
      for (const Value& each : values)
        mean += std::min(each.square, kMostDeviations * kMostDeviations * scale);
      mean = std::max(mean / static_cast<double>(values.size()),
                      std::numeric_limits<double>::min());
      if (!(mean < scale * (1 - 1e-9))) break;
      scale = mean;
    }
    return scale;
  }

  std::vector<std::vector<Value>> channels_;
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

// The mean over uses, block by block.
std::vector<double> mean_blocks(const UseScores& scores) {
  std::vector<double> mean;
  double uses = 0;
  for (const std::vector<double>& blocks : scores.blocks) uses += blocks.empty() ? 0 : 1;
  for (const std::vector<double>& blocks : scores.blocks) {
    if (mean.empty()) mean.resize(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) mean[i] += blocks[i] / uses;
  }
  return mean;
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

double UseScores::loss() const { return sum_of(mean_blocks(*this)); }

LossDifference difference(const UseScores& a, const UseScores& b, Use use) {
  const auto u = static_cast<std::size_t>(use);
  return of_blocks(a.blocks[u], b.blocks[u]);
}

LossDifference difference(const UseScores& a, const UseScores& b) {
  return of_blocks(mean_blocks(a), mean_blocks(b));
}

FitCandidate TriedModel::summary() const {
  return {.what = what,
          .loss = loss(),
          .filter = scores.loss(Use::Filter) + penalty,
          .smooth = scores.loss(Use::Smooth) + penalty,
          .gaps = scores.loss(Use::Gaps) + penalty,
          .forecast = scores.loss(Use::Forecast) + penalty,
          .kept = kept};
}

std::optional<Use> worse_use(const TriedModel& model, const TriedModel& simpler) {
  const double more = model.penalty - simpler.penalty;
  const double gain = -difference(model.scores, simpler.scores).mean - more;
  for (const Use use : {Use::Filter, Use::Smooth, Use::Gaps, Use::Forecast}) {
    const LossDifference one = difference(model.scores, simpler.scores, use);
    if (!(one.mean + more <= std::max({kClearlyWorse * one.error, kLeastHarm, kHarmOfGain * gain}))) return use;
  }
  return {};
}

bool is_better(const TriedModel& model, const TriedModel& simpler) {
  const double more = model.penalty - simpler.penalty;
  const LossDifference all = difference(model.scores, simpler.scores);
  return all.mean + more < -std::max(all.error, kLeastGain) && !worse_use(model, simpler);
}

int settling_steps(double longest_period) {
  constexpr double kPeriods = 2, kMost = 2048;
  return static_cast<int>(
      std::clamp(kPeriods * longest_period, static_cast<double>(kSettling), kMost));
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

UseData::UseData(const ScaledData& data, const std::vector<StepRange>& stretches, int settling,
                 std::vector<int> runs, const ScaledData* targets)
    : data_(data), targets_(targets == nullptr ? data : *targets) {
  const int longest = std::max(kScoredPiece, kPiecePerSettling * settling);
  std::vector<StepRange> all;
  int steps = 0;
  for (const StepRange& stretch : stretches)
    for (int from = stretch.begin; from < stretch.end; from += longest) {
      all.push_back({stretch.series, from, std::min(stretch.end, from + longest)});
      steps += all.back().steps();
    }
  const std::size_t every = static_cast<std::size_t>(std::max(1, (steps + kMostSteps - 1) / kMostSteps));
  int longest_piece = 0;
  const int M = data.meas_dim();
  for (std::size_t i = 0; i < all.size(); i += every) {
    pieces_.push_back({all[i], std::min(settling, all[i].steps() / 3), 0});
    steps_ += all[i].steps();
    longest_piece = std::max(longest_piece, all[i].steps());
  }
  for (int& run : runs)
    run = std::clamp(run, 2, std::max(2, static_cast<int>(kLongestRun * longest_piece)));
  std::ranges::sort(runs);
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());

  // Channels are hidden at different times.
  const std::vector<char> cycle = hiding_cycle(runs);
  std::size_t step = 0;
  for (const Piece& piece : pieces_) {
    const infer::SeriesView view = data.view(piece.steps);
    std::vector<double>& y = hidden_.emplace_back(view.y, view.y + static_cast<std::ptrdiff_t>(view.steps) * M);
    std::vector<char>& use = use_.emplace_back(y.size(), 0);
    for (std::size_t k = 0; k < static_cast<std::size_t>(view.steps); ++k, ++step)
      for (std::size_t m = 0; m < static_cast<std::size_t>(M); ++m) {
        const std::size_t phase = m * cycle.size() / static_cast<std::size_t>(M);
        const std::size_t i = k * static_cast<std::size_t>(M) + m;
        use[i] = cycle[(step + phase) % cycle.size()];
        if (use[i] != 0) y[i] = std::numeric_limits<double>::quiet_NaN();
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
  std::array<Predictions, kUses> found{Predictions(width), Predictions(width), Predictions(width),
                                       Predictions(width)};
  std::vector<double> mean(width), S(width * width);

  // Adds y - h(x) of the steps of a pass; `wanted` says what a value is for.
  const auto add = [&](const infer::FilterPass& pass, const Moments& moments, Use use, auto&& wanted,
                       bool exactly) {
    int step = 0;
    for (int p = 0; p < pass.moments.series; ++p) {
      const Piece& piece = pieces_[static_cast<std::size_t>(p)];
      const infer::SeriesView whole = data_.view(piece.steps);
      const double* targets = targets_.at(piece.steps.series, piece.steps.begin);
      for (int k = 0; k < whole.steps; ++k, ++step) {
        if (k < piece.first) continue;
        const int block = static_cast<int>(static_cast<std::int64_t>(step) * kBlocks / steps_);
        bool known = false;
        for (std::size_t m = 0; m < width; ++m) {
          const std::size_t i = static_cast<std::size_t>(k) * width + m;
          const double y = targets[i];
          if (std::isnan(y) || !wanted(use_[static_cast<std::size_t>(p)][i])) continue;
          if (!known)
            infer::predict_measurement(model, moments.mean.data() + row_at(pass.moments, p, k, N),
                                       moments.covariance.data() + row_at(pass.moments, p, k, N * N),
                                       mean.data(), S.data());
          known = true;
          const double weight = whole.weight == nullptr ? 1 : whole.weight[i];
          const double noise = R[m * (width + 1)] / weight;
          double e = y - mean[m], variance = S[m * (width + 1)] + noise;
          if (exactly) {  // of what the smoothed state was before y's own update
            const double left = noise - std::min(S[m * (width + 1)], kMostKnown * noise);
            e *= noise / left;
            variance = noise * noise / left;
          }
          found[static_cast<std::size_t>(use)].add(m, block, e, variance, unit[m]);
        }
      }
    }
  };

  UseScores scores;
  try {
    std::vector<infer::SeriesView> whole, shown;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      whole.push_back(data_.view(pieces_[p].steps));
      shown.push_back(whole.back());
      shown.back().y = hidden_[p].data();
    }
    const bool exactly = left_out == LeftOut::Exactly;
    if (exactly) {
      infer::FilterPass pass = infer::run_pass(model, whole, {true, true, true}, team, name);
      infer::smooth_pass(pass, team, name);
      add(pass, pass.moments.predicted, Use::Filter, [](char) { return true; }, false);
      add(pass, pass.moments.smoothed, Use::Smooth, [](char) { return true; }, true);
    }
    infer::FilterPass pass = infer::run_pass(model, shown, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    if (!exactly) {
      add(pass, pass.moments.predicted, Use::Filter, [](char use) { return use == 0; }, false);
      add(pass, pass.moments.smoothed, Use::Smooth, [](char use) { return use == kSingle; }, false);
    }
    add(pass, pass.moments.smoothed, Use::Gaps, [](char use) { return use == kRun; }, false);
    add(pass, pass.moments.filtered, Use::Forecast, [](char use) { return use == kRun; }, false);
  } catch (const NumericalError&) {
    for (std::vector<double>& blocks : scores.blocks) blocks.assign(kBlocks, kNowhere);
    return scores;
  }
  for (std::size_t u = 0; u < kUses; ++u) scores.blocks[u] = found[u].blocks();
  return scores;
}

}  // namespace kalmia::train
