#include "train/hidden_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "infer/calibrated.hpp"
#include "infer/combined.hpp"
#include "infer/mixture.hpp"
#include "infer/step_factors.hpp"
#include "kalman/student.hpp"

namespace kalmia::train {
namespace {

// Values that are shown after a hidden run, for each hidden one, and at least.
constexpr int kShownPerHidden = 3;
constexpr int kFewestShown = 8;
// Single values are hidden so many steps apart, in as many passes.
constexpr int kSingleDistance = 8;

// Which steps are hidden, over and over; `together`: in all channels at once.
struct Cycle {
  std::vector<char> hidden;
  std::size_t shift = 0;
  bool together = false;

  bool hides(std::size_t k, std::size_t m, std::size_t channels) const {
    const std::size_t phase = together ? 0 : m * hidden.size() / channels;
    return hidden[(k + shift + phase) % hidden.size()] != 0;
  }
};

std::vector<Cycle> cycles_of_runs(const HiddenRuns& runs) {
  std::vector<char> hidden;
  for (const int run : runs.lengths) {
    hidden.insert(hidden.end(),
                  static_cast<std::size_t>(std::max(kFewestShown, kShownPerHidden * run)), 0);
    hidden.insert(hidden.end(), static_cast<std::size_t>(run), 1);
  }
  std::vector<Cycle> cycles;
  const auto passes = static_cast<std::size_t>(runs.passes);
  for (std::size_t p = 0; p < passes; ++p)
    cycles.push_back({hidden, p * hidden.size() / passes, p % 2 == 1});
  return cycles;
}

std::vector<Cycle> cycles_of_singles() {
  std::vector<char> hidden(kSingleDistance, 0);
  hidden[0] = 1;
  std::vector<Cycle> cycles;
  for (int p = 0; p < kSingleDistance; ++p)
    cycles.push_back({hidden, static_cast<std::size_t>(p), p % 2 == 1});
  return cycles;
}

bool has_networks(const Model::Impl& model) { return !model.first().is_static(); }

// What the predictions of one data set are compared with, and where they are put.
class Comparison {
 public:
  Comparison(const Model& model, const ShownData& shown)
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
    steps_ = std::max<std::int64_t>(counted, 1);
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
  void add(const Cycle& cycle, const Estimates& states,
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
          if (!cycle.hides(k, m, M_) || std::isnan(measured)) continue;
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
          put(s, k, m, e * e, HPH[m * (M_ + 1)] - kept, kept,
              (distances[s].*kind).data() + k * M_, to);
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
    to.values.push_back({static_cast<int>(m), static_cast<int>(counted * kFactorBlocks / steps_),
                         square, std::max(state, 0.0), kept + noise});
    if (alike_)
      to.distances.insert(to.distances.end(), distances, distances + M_);
    else
      to.distances.push_back(distances[m]);
  }

  const model::LearnedModel<float>& model_;
  const ShownData& shown_;
  std::size_t M_, N_;
  bool alike_ = false;  // all states have the same factor
  std::vector<double> noise_;  // variances of the channels, in the model's units
  std::vector<std::int64_t> before_;
  std::int64_t steps_ = 1;
};

Dataset with_hidden(const ShownData& shown, const Cycle& cycle) {
  Dataset hidden = shown.data;
  const std::size_t M = hidden.y_names.size();
  for (std::size_t s = 0; s < hidden.series.size(); ++s)
    for (auto i = static_cast<std::size_t>(shown.first[s]) * M; i < hidden.series[s].y.size(); ++i)
      if (cycle.hides(i / M, i % M, M))
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
  const Comparison compare(model, shown);
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
  if (exactly)
    compare.add(whole.left_out, whole.distances, &Distances::between, methods[1].values);

  // With values hidden.
  std::vector<Cycle> cycles = cycles_of_runs(runs);
  const std::size_t of_runs = cycles.size();
  if (!exactly)
    for (Cycle& each : cycles_of_singles()) cycles.push_back(std::move(each));
  for (std::size_t c = 0; c < cycles.size(); ++c) {
    const Dataset hidden = with_hidden(shown, cycles[c]);
    for (std::size_t method = 1; method < methods.size(); ++method) {
      const bool filter = method == 1 && c < of_runs;
      const infer::RawAnalysis raw = infer::analyse_members(
          model.impl(), hidden, threads, {.filtered = filter, .smoothed = true, .noise = true},
          {.method = method == 1 ? "linearized" : "auto"});
      if (filter)
        compare.add(cycles[c], raw.analysis.filtered, raw.filtered_noise, raw.distances,
                    &Distances::since, methods[0].values);
      compare.add(cycles[c], raw.analysis.smoothed, raw.smoothed_noise, raw.distances,
                  &Distances::between, methods[method].values);
    }
  }
  return methods;
}

}  // namespace kalmia::train
