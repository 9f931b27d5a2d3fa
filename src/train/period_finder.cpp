#include "train/period_finder.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <unsupported/Eigen/FFT>

namespace kalmia::train {
namespace {

// Shorter series, and fewer cycles, show no period: a track or a level that wanders has such bumps,
// too. Where dates speak for a period of the calendar, fewer are enough.
constexpr std::size_t kFewestSteps = 48;
constexpr double kFewestCycles = 10;
constexpr double kFewestDatedCycles = 4;
constexpr double kShortestPeriod = 2.5;
// A grid of usual steps is at most this much longer than the series.
constexpr double kSparsest = 8;
// Of n ordinates of white noise, the highest is below log(n) + kRare times their mean in all but
// one case in exp(kRare).
constexpr double kRare = 6;
// The median of exponential variables over their mean.
constexpr double kMedian = std::numbers::ln2;
// The level around a peak is that of the frequencies from its own over this to times this.
constexpr double kAround = 1.5;
// The level that a power law gives has to be exceeded by this many of its standard errors more.
constexpr double kLevelErrors = 2;
constexpr int kMostHarmonic = 12;
// A cycle's shape is told by its first harmonics. A higher one that is stronger by this than all
// others but its own multiples is a cycle of its own, as the day is in a week.
constexpr double kShapeHarmonics = 3, kOwnCycle = 2;
// A shape that repeats itself shows with fewer cycles than a peak does, if it is much clearer:
// whole numbers of steps, up to the longest. It has to gain this many nats by Schwarz's criterion;
// in 1,800 series of 60 to 300 steps without a period (walks, noise, oscillations, smooth tracks)
// 0.2 was the most, and in six years of monthly accidents, which have a season, it is 33.
constexpr double kFewestShapes = 3.5;
constexpr std::size_t kShortestShape = 4, kLongestShape = 400;
constexpr double kClearShape = 10;
// What is left of differences once so many before them are known has no colour to speak of.
constexpr int kWhiteningOrder = 3;
// Deviations from which on such a remainder is cut off.
constexpr double kOutlying = 4;
// The calendar's, in seconds: an hour, a day, a week, a month, a year.
constexpr double kCalendar[] = {3600, 86400, 604800, 2629800, 31557600};

// The values of a series at multiples of dt, interpolated; nothing where they are too sparse.
std::vector<double> on_grid(const Series& series, std::size_t M, std::size_t channel, double dt) {
  std::vector<double> t, y;
  for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
    const double value = series.y[k * M + channel];
    if (std::isnan(value)) continue;
    t.push_back(series.t.empty() ? static_cast<double>(k) : (series.t[k] - series.t[0]) / dt);
    y.push_back(value);
  }
  if (t.size() < kFewestSteps || t.back() - t.front() > kSparsest * static_cast<double>(t.size()))
    return {};
  std::vector<double> grid;
  std::size_t next = 1;
  for (double at = t.front(); at <= t.back(); at += 1) {
    while (next + 1 < t.size() && t[next] < at) ++next;
    const double share = (at - t[next - 1]) / (t[next] - t[next - 1]);
    grid.push_back(y[next - 1] + share * (y[next] - y[next - 1]));
  }
  return grid;
}

// Less the line of least squares.
void remove_line(std::vector<double>& y) {
  const auto n = static_cast<Eigen::Index>(y.size());
  Eigen::Map<Eigen::VectorXd> values(y.data(), n);
  Eigen::VectorXd x = Eigen::VectorXd::LinSpaced(n, -1, 1);
  values.array() -= values.mean();
  values -= x * (x.dot(values) / x.squaredNorm());
}

// Power at the frequencies i / size, of values that are padded with zeros to `size`.
std::vector<double> power_of(std::vector<double> y, std::size_t size) {
  const auto n = static_cast<double>(y.size());
  for (std::size_t k = 0; k < y.size(); ++k)
    y[k] *= 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(k) + 0.5) / n);
  y.resize(size, 0);
  std::vector<std::complex<double>> transform;
  Eigen::FFT<double> fft;
  fft.fwd(transform, y);
  std::vector<double> power(size / 2);
  for (std::size_t i = 0; i < power.size(); ++i) power[i] = std::norm(transform[i]);
  return power;
}

struct Peak {
  double frequency = 0;
  double height = 0;  // over the level around it
};

// Where the spectrum falls steeply, as that of anything smooth does, the level at a frequency is
// not the median of those around it. It follows from a power law through them,
//
//   log power = a + b log(frequency / centre) - gamma + N(0, pi^2 / 6),
//
// as exponential variables have it, found by least squares in which peaks count as no more than a
// high value of noise. Returns a and kLevelErrors of its standard errors.
double power_law_level(const std::vector<double>& power, const std::vector<std::size_t>& around,
                       double centre, double independent) {
  constexpr int kRounds = 4;
  constexpr double kHighest = 1;  // over the level, of a logarithm that counts as it is
  const auto count = static_cast<double>(around.size());
  double a = std::numeric_limits<double>::infinity(), b = 0, error = 0;
  for (int round = 0; round < kRounds; ++round) {
    double x1 = 0, x2 = 0, z1 = 0, xz = 0;
    for (const std::size_t j : around) {
      const double x = std::log(static_cast<double>(j) / centre);
      const double z = std::min(std::log(power[j]) + std::numbers::egamma, a + b * x + kHighest);
      x1 += x / count;
      x2 += x * x / count;
      z1 += z / count;
      xz += x * z / count;
    }
    const double spread = std::max(x2 - x1 * x1, std::numeric_limits<double>::min());
    b = (xz - x1 * z1) / spread;
    a = z1 - b * x1;
    error = std::numbers::pi / std::sqrt(6.0) * std::sqrt((1 + x1 * x1 / spread) / independent);
  }
  return a + kLevelErrors * error;
}

// Peaks that stand out, the highest first. A peak is as wide as Hann's taper makes it: two
// ordinates of the series on either side, `padding` times as many of the padded one.
std::vector<Peak> peaks_of(const std::vector<double>& power, double size, double steps,
                           double fewest_cycles) {
  const auto reach = static_cast<std::size_t>(std::ceil(2.5 * size / steps));
  const auto lowest = static_cast<std::size_t>(std::ceil(fewest_cycles * size / steps));
  const auto highest = std::min(power.size() - 1, static_cast<std::size_t>(size / kShortestPeriod));
  const double limit = (std::log(steps / 2) + kRare) / kMedian;
  std::vector<Peak> peaks;
  for (std::size_t i = std::max<std::size_t>(lowest, 1); i < highest; ++i) {
    if (power[i] < power[i - 1] || power[i] < power[i + 1]) continue;
    std::vector<double> around;
    std::vector<std::size_t> places;
    const auto centre = static_cast<double>(i);
    const auto to = std::min(power.size() - 1,
                             std::max(i + 4 * reach, static_cast<std::size_t>(centre * kAround)));
    const auto from =
        std::min(i > 4 * reach ? i - 4 * reach : 1, static_cast<std::size_t>(centre / kAround));
    const std::size_t stride = std::max<std::size_t>(1, (to - from) / 512);
    for (std::size_t j = std::max<std::size_t>(from, 1); j <= to; j += stride)
      if (j + reach < i || j > i + reach) {
        around.push_back(power[j]);
        places.push_back(j);
      }
    if (around.empty()) continue;
    const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
    std::nth_element(around.begin(), middle, around.end());
    if (!(power[i] > limit * *middle)) continue;
    // Hann's taper leaves two ordinates of three independent.
    const double independent = static_cast<double>(places.size() * stride) * steps / size / 1.5;
    if (!(std::log(power[i]) >
          std::log(limit * kMedian) + power_law_level(power, places, centre, independent)))
      continue;
    // The top of a parabola through the logarithms.
    const double a = std::log(power[i - 1]), b = std::log(power[i]), c = std::log(power[i + 1]);
    const double bend = a - 2 * b + c;
    const double shift = bend < 0 ? std::clamp(0.5 * (a - c) / bend, -0.5, 0.5) : 0;
    peaks.push_back({(centre + shift) / size, power[i] / *middle});
  }
  std::ranges::sort(peaks, std::greater(), &Peak::height);
  return peaks;
}

// What an autoregression cannot tell of the differences of a series, outliers cut off.
Eigen::VectorXd innovations_of(const std::vector<double>& y) {
  const auto n = static_cast<Eigen::Index>(y.size()) - 1;
  const Eigen::Map<const Eigen::VectorXd> values(y.data(), n + 1);
  Eigen::VectorXd d = values.tail(n) - values.head(n);
  d.array() -= d.mean();
  const Eigen::Index rows = n - kWhiteningOrder;
  Eigen::MatrixXd before(rows, kWhiteningOrder);
  for (int lag = 0; lag < kWhiteningOrder; ++lag)
    before.col(lag) = d.segment(kWhiteningOrder - 1 - lag, rows);
  const Eigen::VectorXd now = d.tail(rows);
  Eigen::VectorXd e = now - before * before.colPivHouseholderQr().solve(now);
  e.array() -= e.mean();
  std::vector<double> sizes(e.data(), e.data() + rows);
  for (double& size : sizes) size = std::abs(size);
  const auto middle = sizes.begin() + rows / 2;
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double limit = kOutlying * 1.4826 * *middle;
  return limit > 0 ? e.cwiseMax(-limit).cwiseMin(limit).eval() : e;
}

// The period of fewer than kFewestCycles cycles whose shape, the mean of each phase p over c
// cycles, tells most of the innovations e; 0: none. By Schwarz's criterion it gains
//
//   m / 2 log(sum of e^2 / sum of (e - shape)^2)  -  (p - 1) / 2 log m,     m = c p,
//
// nats over no shape at all.
double repeated_shape(const std::vector<double>& y) {
  const Eigen::VectorXd e = innovations_of(y);
  const auto n = static_cast<std::size_t>(e.size());
  const auto cycles = [n](double fewest) {
    return static_cast<std::size_t>(static_cast<double>(n) / fewest);
  };
  std::size_t best = 0;
  double most = kClearShape;
  for (std::size_t p = std::max(kShortestShape, cycles(kFewestCycles));
       p <= std::min(kLongestShape, cycles(kFewestShapes)); ++p) {
    const auto period = static_cast<Eigen::Index>(p), c = static_cast<Eigen::Index>(n / p);
    const auto m = static_cast<double>(c * period);
    const auto phases = e.tail(c * period).reshaped(period, c);
    const double all = (phases.array() - phases.mean()).square().sum();
    const double left = (phases.colwise() - phases.rowwise().mean()).squaredNorm();
    const double gain =
        0.5 * m * std::log(all / left) - 0.5 * (m / static_cast<double>(c) - 1) * std::log(m);
    if (!(gain > most)) continue;  // nor where all is 0
    most = gain;
    best = p;
  }
  return static_cast<double>(best);
}

// The calendar's period that a period is, as far as the series can tell; 0: none.
double of_calendar(double period, double steps, double dt) {
  for (const double seconds : kCalendar)
    if (seconds / dt > kShortestPeriod && std::abs(1 / period - dt / seconds) < 0.5 / steps)
      return seconds / dt;
  return 0;
}

// The period that is meant: one of the calendar's, a whole number of steps, or as it is.
double rounded(double period, double steps, bool dates, double dt) {
  const double known = dates ? of_calendar(period, steps, dt) : 0;
  if (known > 0) return known;
  const double whole = std::round(period);
  return std::abs(1 / period - 1 / whole) < 0.25 / steps ? whole : period;
}

}  // namespace

std::vector<double> find_periods(const Dataset& data, std::size_t channel, double dt,
                                 std::size_t most) {
  std::vector<double> longest;
  for (const Series& series : data.series) {
    std::vector<double> grid = on_grid(series, data.y_names.size(), channel, dt);
    if (grid.size() > longest.size()) longest = std::move(grid);
  }
  if (longest.size() < kFewestSteps) return {};
  const auto steps = static_cast<double>(longest.size());
  std::size_t size = 1;
  while (size < 2 * longest.size()) size *= 2;
  remove_line(longest);
  const bool dates = data.time_kind == TimeKind::Date;
  const double shape = repeated_shape(longest);
  std::vector<Peak> peaks = peaks_of(power_of(std::move(longest), size), static_cast<double>(size),
                                     steps, dates ? kFewestDatedCycles : kFewestCycles);
  std::erase_if(peaks, [&](const Peak& peak) {
    return peak.frequency * steps < kFewestCycles &&
           of_calendar(1 / peak.frequency, steps, dt) == 0;
  });
  std::vector<double> periods;
  if (shape > 0) periods.push_back(rounded(shape, steps, dates, dt));
  const auto harmonic = [&](double frequency, double of) {  // 0: it is none
    const double times = std::round(frequency / of);
    const bool is =
        times >= 1 && times <= kMostHarmonic && std::abs(frequency - times * of) < 1.5 / steps;
    return is ? times : 0;
  };
  const auto add = [&](double frequency) {
    if (periods.size() < most && std::ranges::none_of(periods, [&](double known) {
          const double of_known = harmonic(frequency, 1 / known);
          const double of_this = harmonic(1 / known, frequency);
          return (of_known > 0 && of_known <= kShapeHarmonics) ||
                 (of_this > 0 && of_this <= kShapeHarmonics);
        })) {
      double period = rounded(1 / frequency, steps, dates, dt);
      for (const double known : periods) {  // a week has seven whole days
        const double times = harmonic(1 / known, frequency);
        if (times > 0 && std::abs(1 / period - 1 / (times * known)) < 0.5 / steps)
          period = times * known;
      }
      periods.push_back(period);
    }
  };
  for (const Peak& peak : peaks) {
    // The lowest peak that this is a harmonic of, if that is no mere bump of its own.
    Peak lowest = peak;
    for (const Peak& other : peaks)
      if (other.frequency < lowest.frequency && other.height > 0.1 * peak.height &&
          harmonic(peak.frequency, other.frequency) > 0)
        lowest = other;
    const double times = harmonic(peak.frequency, lowest.frequency);
    const bool own = times > kShapeHarmonics && std::ranges::none_of(peaks, [&](const Peak& other) {
                       const double of_lowest = harmonic(other.frequency, lowest.frequency);
                       return of_lowest > 1 && std::fmod(of_lowest, times) != 0 &&
                              kOwnCycle * other.height > peak.height;
                     });
    if (own) add(peak.frequency);
    const bool known = std::ranges::any_of(
        periods, [&](double period) { return harmonic(lowest.frequency, 1 / period) > 0; });
    if (!known) add(lowest.frequency);
  }
  return periods;
}

}  // namespace kalmia::train
