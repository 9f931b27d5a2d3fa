#include "train/part_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numbers>

#include "infer/filter_pass.hpp"
#include "kalman/classical/batch.hpp"
#include "prior/parts_text.hpp"
#include "support/expert_spec.hpp"
#include "train/first_description.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

using prior::PartKind;

constexpr int kSearchedSteps = 1 << 11;
constexpr double kTurn = 2 * std::numbers::pi;

// A signal that tests search the parts of, and what is measured of it.
struct Signal {
  std::vector<double> truth, measured;
};

Signal in_noise(std::vector<double> truth, double r, std::uint64_t seed) {
  RandomStream random(seed, "noise");
  Signal signal{std::move(truth), {}};
  for (const double x : signal.truth) signal.measured.push_back(x + r * random.normal());
  return signal;
}

std::vector<double> walk(int steps, double q, std::uint64_t seed) {
  RandomStream random(seed, "walk");
  std::vector<double> x;
  double level = 0;
  for (int k = 0; k < steps; ++k) x.push_back(level += q * random.normal());
  return x;
}

// A walk of the slope, which keeps `kept` of itself in a step.
std::vector<double> sloping(int steps, double q, double kept, std::uint64_t seed) {
  RandomStream random(seed, "slope");
  std::vector<double> x;
  double level = 0, slope = 0;
  for (int k = 0; k < steps; ++k) {
    slope = kept * slope + q * random.normal();
    x.push_back(level += slope);
  }
  return x;
}

// A cycle of period 24 with two harmonics that hardly changes.
std::vector<double> daily(int steps) {
  std::vector<double> x;
  for (int k = 0; k < steps; ++k)
    x.push_back(3 * std::sin(kTurn * k / 24) + 1.5 * std::cos(2 * kTurn * k / 24));
  return x;
}

// An oscillation about a period that loses its phase.
std::vector<double> swinging(int steps, double period, double lasting, std::uint64_t seed) {
  RandomStream random(seed, "swing");
  const double kept = std::exp(-1 / lasting), c = std::cos(kTurn / period),
               s = std::sin(kTurn / period), push = std::sqrt(1 - kept * kept);
  std::vector<double> x;
  double a = 1, b = 0;
  for (int k = 0; k < steps; ++k) {
    const double next = kept * (c * a - s * b) + push * random.normal();
    b = kept * (s * a + c * b) + push * random.normal();
    a = next;
    x.push_back(a);
  }
  return x;
}

// What search_parts reads.
struct Searched {
  Dataset data;
  FitSpec spec;
  ThreadTeam team;
  ProgressReport report;
  FitData checked;
  FitContext context;

  explicit Searched(Dataset the_data, int threads = 1,
                    std::function<bool(const FitProgress&)> progress = {})
      : data(std::move(the_data)),
        team(threads),
        report(std::move(progress)),
        checked(data, spec.model),
        context(checked, spec, {}, team, report) {}

  FoundSum found() const { return search_parts(context, kSearchedSteps, {4, 12}); }
  std::string text(const std::vector<prior::Part>& parts) const {
    return prior::parts_text(parts, step_length(context));
  }
  StaticResult fitted(const std::string& parts) {
    const model::ModelDescription description =
        first_description(context, test::sum_of_parts(parts, {"y"}));
    const ScaledData scaled(data, description.units, description.dt);
    return fit_static(description, context.channels, context.noise, scaled,
                      context.split().training, team);
  }
};

bool has(const std::vector<prior::Part>& parts, PartKind kind) {
  return std::ranges::find(parts, kind, &prior::Part::kind) != parts.end();
}

// Root mean square errors of filtered and of smoothed values of another signal, after 200 steps.
struct TrueErrors {
  double filter = 0, smooth = 0;
};
TrueErrors true_errors(const StaticResult& fitted, const Signal& other) {
  const auto model = fitted.alone<float>();
  const model::Units& units = fitted.description.units;
  const ScaledData scaled(dataset_of({other.measured}), units, fitted.description.dt);
  const std::vector<infer::SeriesView> views{scaled.view(scaled.series(0))};
  ThreadTeam team(1);
  const auto name = [](int) { return std::string("other"); };
  infer::FilterPass pass = infer::run_pass(*model, views, {true, true, true}, team, name);
  infer::smooth_pass(pass, team, name);
  const std::vector<double>& H = model->expert().H;
  const auto error = [&](const auto& mean) {
    double sum = 0;
    const std::size_t N = H.size();
    for (std::size_t k = 200; k < other.truth.size(); ++k) {
      double y = 0;
      for (std::size_t n = 0; n < N; ++n) y += H[n] * mean[k * N + n];
      sum += std::pow(units.y_offset[0] + units.y_scale[0] * y - other.truth[k], 2);
    }
    return std::sqrt(sum / static_cast<double>(other.truth.size() - 200));
  };
  return {error(pass.moments.filtered.mean), error(pass.moments.smoothed.mean)};
}

// What was found is as good as `right`, on other data with truth: by no more than 5 % worse.
void expect_as_good(const std::function<Signal(std::uint64_t)>& make, const std::string& right) {
  Searched searched(dataset_of({make(1).measured}));
  const FoundSum found = searched.found();
  const Signal other = make(2);
  const TrueErrors own = true_errors(found.fitted, other),
                   best = true_errors(searched.fitted(right), other);
  const std::string what = searched.text(found.parts) + " in place of " + right;
  EXPECT_LT(own.filter, 1.05 * best.filter) << what;
  EXPECT_LT(own.smooth, 1.05 * best.smooth) << what;
}

TEST(PartSearch, FindsALevel) {
  expect_as_good([](std::uint64_t seed) { return in_noise(walk(1200, 0.3, seed), 1, seed); },
                 "level");
}

TEST(PartSearch, FindsATrend) {
  expect_as_good([](std::uint64_t seed) { return in_noise(sloping(1200, 0.05, 1, seed), 1, seed); },
                 "trend");
}

TEST(PartSearch, FindsATrendThatFades) {
  expect_as_good(
      [](std::uint64_t seed) { return in_noise(sloping(1200, 0.3, 0.9, seed), 1, seed); },
      "damped-trend");
}

TEST(PartSearch, FindsALevelAndASeason) {
  expect_as_good(
      [](std::uint64_t seed) {
        std::vector<double> x = walk(700, 0.1, seed);
        const std::vector<double> cycle = daily(700);
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += cycle[k];
        return in_noise(x, 1, seed);
      },
      "level + season(24, 2)");
}

TEST(PartSearch, FindsAnOscillator) {
  expect_as_good(
      [](std::uint64_t seed) {
        std::vector<double> x = swinging(1200, 20, 60, seed);
        for (double& value : x) value = 50 + 3 * value;
        return in_noise(x, 1, seed);
      },
      "level + oscillator(20)");
}

TEST(PartSearch, AMemoryIsMuchShorterThanTheData) {
  using prior::Part;
  const Part memory{PartKind::Memory}, motion{PartKind::DampedVelocity}, trend{PartKind::Trend};
  const auto ends = [](const std::vector<Part>& parts, const std::vector<double>& rates) {
    return ends_with_the_data(parts, rates, 1000);
  };
  EXPECT_FALSE(ends({memory}, {1 / 200.0}));
  EXPECT_TRUE(ends({memory}, {1 / 300.0}));
  EXPECT_TRUE(ends({memory}, {0}));
  // A motion that does not return is one.
  EXPECT_FALSE(ends({motion}, {1 / 200.0, 0.3}));
  EXPECT_TRUE(ends({motion}, {1 / 300.0, 0.3}));
  EXPECT_FALSE(ends({motion}, {0, 0.3}));
  // Each part has its own rates.
  EXPECT_TRUE(ends({trend, motion, memory}, {1 / 20.0, 0.001, 1 / 300.0}));
  EXPECT_FALSE(ends({trend, motion, memory}, {1 / 20.0, 0.001, 1 / 30.0}));
}

// Of white noise about a constant nothing else is found.
TEST(PartSearch, WhiteNoiseHasNoParts) {
  for (const std::uint64_t seed : {11, 12}) {
    const Signal signal = in_noise(std::vector<double>(1200, 7.0), 2, seed);
    const Searched searched(dataset_of({signal.measured}));
    const FoundSum found = searched.found();
    const std::string text = searched.text(found.parts);
    EXPECT_EQ(found.parts.size(), 1u) << text;
    EXPECT_FALSE(has(found.parts, PartKind::Season)) << text;
    EXPECT_FALSE(has(found.parts, PartKind::Oscillator)) << text;
    EXPECT_LE(prior::part_states(found.parts[0]), 2) << text;
    // A mean of 1,000 values is known to 0.06; a level that hardly wanders, not much worse.
    const TrueErrors errors = true_errors(found.fitted, signal);
    EXPECT_LT(errors.smooth, 0.2) << text;
    EXPECT_LT(errors.filter, 0.4) << text;
  }
}

// What is told of it: each sum once, the last one that was kept is the result, and what networks
// may learn from is one part.
TEST(PartSearch, SaysWhatWasTried) {
  const Searched searched(dataset_of({in_noise(sloping(800, 0.05, 1, 21), 1, 21).measured}));
  const FoundSum found = searched.found();
  std::vector<std::string> names;
  std::string kept;
  for (const TriedModel& each : found.tried) {
    names.push_back(each.what);
    EXPECT_TRUE(std::isfinite(each.loss())) << each.what;
    EXPECT_GT(each.penalty, 0) << each.what;
    for (const std::vector<double>& blocks : each.scores.blocks) EXPECT_FALSE(blocks.empty());
    if (each.kept) kept = each.what;
  }
  EXPECT_EQ(kept.rfind(searched.text(found.parts), 0), 0u) << kept;  // it may have been tuned
  EXPECT_NE(std::ranges::find(names, "level"), names.end());
  EXPECT_EQ(found.fitted.description.prior.parts, found.parts);
  EXPECT_EQ(found.predictor.size(), 1u);
  EXPECT_EQ(found.predictor_fitted.description.prior.parts, found.predictor);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(PartSearch, AStopEndsItWithTheBestSoFar) {
  const Dataset data = dataset_of({in_noise(walk(800, 0.3, 22), 1, 22).measured});
  const std::size_t all = Searched(data).found().tried.size();
  // In the first sum, and in a later one.
  for (const std::string& at : {std::string("search level"), std::string("search trend")}) {
    int asked = 0;
    const Searched stopped(data, 1, [&](const FitProgress& now) {
      asked += now.stage == at ? 1 : 0;
      return asked < 2;
    });
    const FoundSum found = stopped.found();
    EXPECT_TRUE(stopped.report.stopped()) << at;
    EXPECT_LT(found.tried.size(), all) << at;
    EXPECT_FALSE(found.parts.empty()) << at;
    EXPECT_TRUE(std::isfinite(found.fitted.training_loss)) << at;
  }
}

TEST(PartSearch, ThreadsDoNotChangeIt) {
  const Dataset data = dataset_of({in_noise(swinging(700, 20, 60, 23), 0.5, 23).measured});
  const Searched one(data), two(data, 2);
  const FoundSum a = one.found(), b = two.found();
  EXPECT_EQ(a.parts, b.parts);
  EXPECT_EQ(a.fitted.output, b.fitted.output);
  EXPECT_EQ(a.fitted.R, b.fitted.R);
  EXPECT_EQ(a.predictor, b.predictor);
  ASSERT_EQ(a.tried.size(), b.tried.size());
  for (std::size_t i = 0; i < a.tried.size(); ++i) {
    EXPECT_EQ(a.tried[i].what, b.tried[i].what);
    EXPECT_EQ(a.tried[i].scores.blocks, b.tried[i].scores.blocks);
  }
}

// To those who ask for one use alone, the others do not matter.
TEST(PartSearch, ThePurposeDecides) {
  const Signal signal = in_noise(sloping(1000, 0.1, 0.95, 24), 1, 24);
  for (const auto& [purpose, use] : {std::pair{model::Purpose::Filter, Use::Filter},
                                     std::pair{model::Purpose::Forecast, Use::Forecast}}) {
    Searched searched(dataset_of({signal.measured}));
    searched.spec.model.purpose = purpose;
    const FoundSum found = searched.found();
    const auto loss = [use = use](const TriedModel& each) {
      return each.scores.loss(use) + each.penalty;
    };
    const TriedModel& best = *std::ranges::min_element(found.tried, {}, loss);
    for (const TriedModel& each : found.tried)
      if (each.what == searched.text(found.parts)) {
        // The simplest of those that chance does not tell from the best, step by step.
        EXPECT_LT(loss(each) - loss(best),
                  2 * difference(each.scores, best.scores, use).error + 0.01);
      }
  }
}

}  // namespace
}  // namespace kalmia::train
