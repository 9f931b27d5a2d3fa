#include "train/constant_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "kalmia/error.hpp"
#include "train/segments.hpp"

namespace kalmia::train {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::infinity();

// Starts lie within this factor of what is given.
constexpr double kReach = 15;
// Of a constant that is given as 0.
constexpr double kReachOfZero = 100;
// What is between two bounds comes no closer to them than this share.
constexpr double kOffBound = 1e-3;

// Starts: some, and more for each constant.
constexpr int kStarts = 10;
constexpr int kStartsPerConstant = 6;
// A filter whose map is wrong and whose noise is small loses its way, and then the likelihood says
// nothing about the map: the process noise that starts have, over the usual one.
constexpr double kNoise[] = {4, 1, 16};

// How many starts a round follows (0: all), and for how many iterations.
struct Round {
  int points, iterations;
};
constexpr Round kSearchRounds[] = {{0, 8}, {8, 12}, {3, 30}};
constexpr int kLastPoints = 2;
// Maxima whose values differ by less than this are the same.
constexpr double kSame = 1e-5;

bool is_constant(const prior::ExpertParameter& parameter) {
  return parameter.learn && !std::isfinite(parameter.prior_std);
}

// `given` times or over kReach at most.
double near(double given, double u) { return given * std::pow(kReach, 2 * u - 1); }

// The value of a constant that u in [0, 1) stands for.
double start_of(const Parameter& p, double u, bool anything) {
  const bool above = std::isfinite(p.lower), below = std::isfinite(p.upper);
  if (above && below) {
    const double range = p.upper - p.lower;
    const double v = anything                       ? p.lower + range * u
                     : p.lower >= 0 || p.value == 0 ? p.lower + near(p.value - p.lower, u)
                     : p.upper <= 0                 ? p.upper - near(p.upper - p.value, u)
                                                    : near(p.value, u);
    return std::clamp(v, p.lower + kOffBound * range, p.upper - kOffBound * range);
  }
  if (above) return p.lower + near(p.value - p.lower, u);
  if (below) return p.upper - near(p.upper - p.value, u);
  // The last quarter has the other sign; of 0, the last half.
  const double same = p.value == 0 ? 0.5 : 0.75;
  const double sign = u < same ? 1 : -1;
  const double share = u < same ? u / same : (u - same) / (1 - same);
  if (p.value == 0) return sign * std::pow(kReachOfZero, 2 * share - 1);
  return sign * near(p.value, share);
}

}  // namespace

int learned_constants(const prior::Expert& expert) {
  return static_cast<int>(std::ranges::count_if(expert.parameters, is_constant));
}

std::vector<std::vector<double>> constant_starts(
    const std::vector<prior::ExpertParameter>& parameters, int count) {
  std::vector<double> given;
  for (const prior::ExpertParameter& each : parameters) given.push_back(each.value);
  std::vector<std::vector<double>> starts(static_cast<std::size_t>(count), given);
  const auto others = static_cast<std::uint64_t>(count - 1);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!is_constant(parameters[i])) continue;
    RandomStream random(0, "starts of a constant", i);
    std::vector<std::size_t> place(others);
    std::iota(place.begin(), place.end(), std::size_t{0});
    for (std::uint64_t n = others; n > 1; --n)
      std::swap(place[n - 1], place[static_cast<std::size_t>(random.below(n))]);
    for (std::size_t c = 0; c < others; ++c) {
      const double u =
          (static_cast<double>(place[c]) + random.uniform()) / static_cast<double>(others);
      starts[c + 1][i] = start_of(parameters[i], u, c % 2 == 1);
    }
  }
  return starts;
}

std::vector<ConstantPoint> search_constants(model::LearnedModel<double>& model,
                                            const NoiseFactor& noise, const ScaledData& data,
                                            const std::vector<StepRange>& training,
                                            ThreadTeam& team, const std::vector<double>& small,
                                            const ConstantSearchOptions& options) {
  const int count = kStarts + kStartsPerConstant * learned_constants(model.expert());
  StaticLikelihood part(model, noise, data, small_part(training), team, small);
  // The given values first, with the usual noise and with more.
  std::vector<ConstantPoint> points;
  bool stopped = false;
  const auto follow = [&](ConstantPoint& point, const BfgsOptions& bfgs) {
    part.begin_constants_at(point.theta);
    try {
      const BfgsResult result =
          minimise_bfgs([&](std::span<const double> at,
                            std::span<double> gradient) { return part(at, gradient); },
                        point.variables, bfgs,
                        [&](int, double value) {
                          stopped = stopped || (options.go_on && !options.go_on(part.loss(value)));
                          return !stopped;
                        },
                        &point.curvature);
      point.value = result.value;
    } catch (const NumericalError&) {
      point.value = kNoValue;
    }
  };
  const std::vector<double> base[] = {part.start(kNoise[0]), part.start(kNoise[1]),
                                      part.start(kNoise[2])};
  const auto add = [&](const std::vector<double>& theta, std::size_t ratio) {
    part.begin_constants_at(theta);
    ConstantPoint& point = points.emplace_back();
    point.theta = theta;
    point.value = kNoValue;
    point.variables = base[ratio];
    const std::vector<double> begun = part.start();
    for (const StaticLikelihood::Constant& each : part.constants())
      point.variables[each.variable] = begun[each.variable];
  };
  const std::vector<std::vector<double>> starts = constant_starts(model.expert().parameters, count);
  add(starts[0], 1);
  points.back().given = true;
  for (std::size_t c = 0; c < starts.size(); ++c) add(starts[c], c % 3);
  points[1].given = true;

  // The best so far first. Those that end at the same maximum are one.
  const auto keep_best = [&](int most) {
    std::ranges::stable_sort(points, {}, &ConstantPoint::value);
    std::vector<ConstantPoint> kept;
    bool given = false;
    for (ConstantPoint& each : points) {
      if (!std::isfinite(each.value)) break;
      const auto same = std::ranges::find_if(
          kept, [&](const ConstantPoint& other) { return each.value - other.value < kSame; });
      if (same != kept.end()) {
        if (each.given && !same->given) *same = std::move(each);
      } else if (std::ssize(kept) < most || (each.given && !given)) {
        kept.push_back(std::move(each));
      }
      given = given || std::ranges::any_of(kept, &ConstantPoint::given);
    }
    points = std::move(kept);
  };
  for (const Round& round : kSearchRounds) {
    if (round.points > 0) keep_best(round.points);
    BfgsOptions bfgs = options.bfgs;
    bfgs.max_iterations = round.iterations;
    for (ConstantPoint& each : points)
      if (!stopped) follow(each, bfgs);
  }
  keep_best(kLastPoints);
  return points;
}

}  // namespace kalmia::train
