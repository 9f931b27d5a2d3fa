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
  printf("%s: %s; filter %g %g smooth %g %g tried %zu\n", right.c_str(), searched.text(found.parts).c_str(), own.filter, best.filter, own.smooth, best.smooth, found.tried.size());
  const std::string what = searched.text(found.parts) + " in place of " + right;
  EXPECT_LT(own.filter, 1.05 * best.filter) << what;
  EXPECT_LT(own.smooth, 1.05 * best.smooth) << what;
}

TEST(PartSearch, FindsALevel) {
  expect_as_good(
      [](std::uint64_t seed) { return in_noise(walk(1200, 0.3, seed), 1, seed); }, "level");
}

TEST(PartSearch, FindsATrend) {
  expect_as_good(
      [](std::uint64_t seed) { return in_noise(sloping(1200, 0.05, 1, seed), 1, seed); }, "trend");
}

TEST(PartSearch, FindsATrendThatFades) {
  expect_as_good(
      [](std::uint64_t seed) { return in_noise(sloping(1200, 0.3, 0.9, seed), 1, seed); },
      "damped-trend");
}

TEST(PartSearch, FindsALevelAndASeason) {
  expect_as_good(
      [](std::uint64_t seed) {
        std::vector<double> x = walk(1500, 0.1, seed);
        const std::vector<double> cycle = daily(1500);
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

}  // namespace
}  // namespace kalmia::train
