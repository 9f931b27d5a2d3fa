#include "train/hidden_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/random.hpp"
#include "infer/calibrated.hpp"
#include "infer/combined.hpp"
#include "infer/mixture.hpp"
#include "infer/step_factors.hpp"
#include "kalman/student.hpp"

namespace kalmia::train {
namespace {

// Values that are shown after a hidden run for each hidden one, in the mean, and at least: what is
// around a hidden run should be there as it usually is.
constexpr int kShownPerHidden = 6;
constexpr int kFewestShown = 8;
// Channels are hidden one at a time; if there are more than this, several in each pass, evenly.
constexpr int kMostGroups = 8;
// Single values are hidden so many steps apart, in as many passes.
constexpr int kSingleDistance = 8;

// Which steps of each series are hidden, in every `groups`-th channel from `group` on.
struct Pattern {
  std::vector<std::vector<char>> steps;
  std::size_t groups = 1, group = 0;

  bool hides(std::size_t series, std::size_t k, std::size_t m) const {
    return m % groups == group && steps[series][k] != 0;
  }
};

// Runs in a random order with random distances: none of their own could be in step with the data.
// There are so many groups of channels, each hidden in as many of the passes.
std::vector<Pattern> hidden_runs(const ShownData& shown, const HiddenRuns& runs,
                                 std::size_t groups) {
  const std::size_t rounds = (static_cast<std::size_t>(runs.passes) + groups - 1) / groups;
  std::vector<Pattern> patterns;
  for (std::size_t p = 0; p < rounds * groups; ++p) {
    Pattern& pattern = patterns.emplace_back();
    pattern.groups = groups;
    pattern.group = p % groups;
    for (std::size_t s = 0; s < shown.data.series.size(); ++s) {
      RandomStream random(p, "hidden runs of " + std::to_string(groups), s);
      std::vector<char>& steps = pattern.steps.emplace_back();
      const auto size = static_cast<std::size_t>(shown.data.series[s].steps);
      while (steps.size() < size) {
        const auto run = static_cast<std::size_t>(runs.lengths[random.below(runs.lengths.size())]);
        steps.insert(steps.end(), kFewestShown + random.below(2 * kShownPerHidden * run), 0);
        steps.insert(steps.end(), run, 1);
      }
      steps.resize(size);
    }
  }
  return patterns;
}

// Of all channels at once.
std::vector<Pattern> hidden_singles(const ShownData& shown) {
  std::vector<Pattern> patterns(kSingleDistance);
  for (std::size_t p = 0; p < kSingleDistance; ++p)
    for (const Series& series : shown.data.series) {
      std::vector<char>& steps =
          patterns[p].steps.emplace_back(static_cast<std::size_t>(series.steps));
      for (std::size_t k = p; k < steps.size(); k += kSingleDistance) steps[k] = 1;
    }
  return patterns;
}

// Whether channels are missing together: where a value is missing, most others are, too.
bool misses_together(const Dataset& data) {
  const std::size_t M = data.y_names.size();
  double missing = 0, others = 0;
  for (const Series& series : data.series)
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
      double here = 0;
      for (std::size_t m = 0; m < M; ++m) here += std::isnan(series.y[k * M + m]) ? 1 : 0;
      missing += here;
      others += here * (here - 1);
    }
  return M > 1 && 2 * others > missing * static_cast<double>(M - 1);
}

bool has_networks(const Model::Impl& model) { return !model.first().is_static(); }

// What the predictions of one data set are compared with, and where they are put.
class Comparison {
 public:
  Comparison(const Model& model, const ShownData& shown, const HiddenRuns& runs)
      : model_(model.impl().first()),
        shown_(shown),
        M_(static_cast<std::size_t>(model.meas_dim())),
        N_(static_cast<std::size_t>(model.state_dim())) {
    const std::vector<int> channels = infer::channels_of_states(model_);
    alike_ = M_ > 1 && std::ranges::all_of(channels, [](int channel) { return channel < 0; });
    std::vector<double> R(M_ * M_);
    int count = 0;
    for (const auto& member : model.impl().members)
      infer::add_to_mean(++count, member->emission().R(), R);
    const double tails = model_.description().tails;
    const double wider = tails > 0 ? student_interval_variance(tails) : 1;
    for (std::size_t m = 0; m < M_; ++m) noise_.push_back(wider * R[m * (M_ + 1)]);
    std::int64_t counted = 0;
    for (std::size_t s = 0; s < shown.data.series.size(); ++s) {
      before_.push_back(counted);
      counted += std::max(0, shown.data.series[s].steps - shown.first[s]);
    }
    // Neighbours in a run err together, and so may those in the next one.
    constexpr int kMostBlocks = 40, kFewestBlocks = 5, kRunsInBlock = 3;
    const int longest = std::max(1, std::ranges::max(runs.lengths));
    const auto blocks =
        std::clamp<std::int64_t>(counted / (kRunsInBlock * longest), kFewestBlocks, kMostBlocks);
    block_ = std::max<std::int64_t>(1, (counted + blocks - 1) / blocks);
  }

  PredictedValues empty() const {
    PredictedValues values;
    values.distances_of_one = alike_ ? M_ : 1;
    return values;
  }

  // Residuals and covariances of measurements, with the part of these that is noise.
  void add(const std::vector<Innovations>& innovations,
           const std::vector<infer::Distances>& distances,
           std::vector<double> infer::Distances::*kind, PredictedValues& to) const {
    for (std::size_t s = 0; s < innovations.size(); ++s) {
      const Innovations& each = innovations[s];
      for_each_step(s, [&](std::size_t k) {
        for (std::size_t m = 0; m < M_; ++m) {
          const std::size_t i = k * M_ + m;
          if (std::isnan(each.residual[i])) continue;
          const double unit = model_.description().units.y_scale[m];
          put(s, k, m, each.residual[i] * each.residual[i] / (unit * unit),
              (each.covariance[i * M_ + m] - each.noise[i]) / (unit * unit), 0,
              (distances[s].*kind).data() + k * M_, to);
        }
      });
    }
  }

  // States where values are hidden.
  void add(const Pattern& pattern, const Estimates& states,
           const std::vector<std::vector<double>>& noise,
           const std::vector<infer::Distances>& distances,
           std::vector<double> infer::Distances::*kind, PredictedValues& to) const {
    const model::Units& units = model_.description().units;
    std::vector<double> x(N_), P(N_ * N_), V(N_ * N_), y(M_), HPH(M_ * M_), HVH(M_ * M_);
    for (std::size_t s = 0; s < states.series.size(); ++s)
      for_each_step(s, [&](std::size_t k) {
        bool known = false;
        for (std::size_t m = 0; m < M_; ++m) {
          const double measured = shown_.data.series[s].y[k * M_ + m];
          if (!pattern.hides(s, k, m) || std::isnan(measured)) continue;
          if (!std::exchange(known, true)) {
            for (std::size_t n = 0; n < N_; ++n)
              x[n] = (states.series[s].mean[k * N_ + n] - units.x_offset[n]) / units.x_scale[n];
            for (std::size_t n = 0; n < N_ * N_; ++n) {
              const double unit = units.x_scale[n / N_] * units.x_scale[n % N_];
              P[n] = states.series[s].covariance[k * N_ * N_ + n] / unit;
              V[n] = noise[s][k * N_ * N_ + n] / unit;
            }
            infer::predict_measurement(model_, x.data(), V.data(), y.data(), HVH.data());
            infer::predict_measurement(model_, x.data(), P.data(), y.data(), HPH.data());
          }
          const double e = (measured - units.y_offset[m]) / units.y_scale[m] - y[m];
          const double kept = HVH[m * (M_ + 1)];
          put(s, k, m, e * e, HPH[m * (M_ + 1)] - kept, kept, (distances[s].*kind).data() + k * M_,
              to);
        }
      });
  }

 private:
  template <typename Take>
  void for_each_step(std::size_t s, const Take& take) const {
    for (auto k = static_cast<std::size_t>(shown_.first[s]);
         k < static_cast<std::size_t>(shown_.data.series[s].steps); ++k)
      take(k);
  }

  void put(std::size_t s, std::size_t k, std::size_t m, double square, double state, double kept,
           const double* distances, PredictedValues& to) const {
    double noise = noise_[m];
    const Series& series = shown_.data.series[s];
    if (!series.y_std.empty())
      noise *= std::pow(series.y_std[k * M_ + m] / model_.noise_std()[m], 2);
    const auto first = static_cast<std::size_t>(shown_.first[s]);
    const std::int64_t counted = before_[s] + static_cast<std::int64_t>(k - first);
    to.values.push_back({static_cast<int>(m), static_cast<int>(counted / block_), square,
                         std::max(state, 0.0), kept + noise});
    if (alike_)
      to.distances.insert(to.distances.end(), distances, distances + M_);
    else
      to.distances.push_back(distances[m]);
  }

  const model::LearnedModel<float>& model_;
  const ShownData& shown_;
  std::size_t M_, N_;
  bool alike_ = false;         // all states have the same factor
  std::vector<double> noise_;  // variances of the channels, in the model's units
  std::vector<std::int64_t> before_;
  std::int64_t block_ = 1;  // steps
};

Dataset with_hidden(const ShownData& shown, const Pattern& pattern) {
  Dataset hidden = shown.data;
  const std::size_t M = hidden.y_names.size();
  for (std::size_t s = 0; s < hidden.series.size(); ++s)
    for (auto i = static_cast<std::size_t>(shown.first[s]) * M; i < hidden.series[s].y.size(); ++i)
      if (pattern.hides(s, i / M, i % M))
        hidden.series[s].y[i] = std::numeric_limits<double>::quiet_NaN();
  return hidden;
}

}  // namespace

double student_interval_variance(double degrees_of_freedom) {
  constexpr double kBar = 1.959964, kShare = 0.05;
  const kalman::StudentNodes nodes(degrees_of_freedom);
  const auto beyond = [&](double x) {
    double share = 0;
    for (int k = 0; k < nodes.count; ++k) {
      const auto n = static_cast<std::size_t>(k);
      share += std::exp(nodes.log_share[n]) * std::erfc(x * std::sqrt(0.5 * nodes.weight[n]));
    }
    return share;
  };
  double low = 1, high = 1000;
  while (high - low > 1e-9 * high) {
    const double middle = 0.5 * (low + high);
    (beyond(middle) > kShare ? low : high) = middle;
  }
  return std::pow(low / kBar, 2);
}

std::vector<MethodPredictions> predict_hidden(const Model& model, const ShownData& shown,
                                              const HiddenRuns& runs, int threads) {
  using infer::Distances;
  const Comparison compare(model, shown, runs);
  const std::string trained = model.impl().trained_smoother();
  std::vector<MethodPredictions> methods{{"filter", compare.empty()},
                                         {"linearized", compare.empty()}};
  if (!trained.empty()) methods.push_back({trained, compare.empty()});

  // The data as they are.
  const bool exactly = !has_networks(model.impl());
  const infer::RawAnalysis whole = infer::analyse_members(
      model.impl(), shown.data, threads,
      {.smoothed = exactly, .innovations = true, .left_out = exactly, .noise = true},
      {.method = "linearized"});
  compare.add(whole.analysis.innovations, whole.distances, &Distances::since, methods[0].values);
  if (exactly) compare.add(whole.left_out, whole.distances, &Distances::between, methods[1].values);

  // With values hidden: in all channels for the filter, whose long distances are those of
  // forecasts, and for smoothers as the data's own gaps are.
  const bool together = model.meas_dim() == 1 || misses_together(shown.data);
  const std::size_t groups =
      together ? 1 : static_cast<std::size_t>(std::min(model.meas_dim(), kMostGroups));
  const auto predict = [&](const Pattern& pattern, std::size_t method, bool filter, bool smoother) {
    const Dataset hidden = with_hidden(shown, pattern);
    const infer::RawAnalysis raw = infer::analyse_members(
        model.impl(), hidden, threads, {.filtered = filter, .smoothed = smoother, .noise = true},
        {.method = method == 1 ? "linearized" : "auto"});
    if (filter)
      compare.add(pattern, raw.analysis.filtered, raw.filtered_noise, raw.distances,
                  &Distances::since, methods[0].values);
    if (smoother)
      compare.add(pattern, raw.analysis.smoothed, raw.smoothed_noise, raw.distances,
                  &Distances::between, methods[method].values);
  };
  for (const Pattern& pattern : hidden_runs(shown, runs, 1)) predict(pattern, 1, true, together);
  for (std::size_t method = 1; method < methods.size(); ++method) {
    if (!together || method > 1)
      for (const Pattern& pattern : hidden_runs(shown, runs, groups))
        predict(pattern, method, false, true);
    if (!exactly)
      for (const Pattern& pattern : hidden_singles(shown)) predict(pattern, method, false, true);
  }
  return methods;
}

}  // namespace kalmia::train
