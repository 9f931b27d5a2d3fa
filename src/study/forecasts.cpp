#include "study/forecasts.hpp"

#include <algorithm>
#include <cmath>

#include "infer/measured_map.hpp"
#include "kalmia/error.hpp"
#include "study/scores.hpp"

namespace kalmia::study {
namespace {

// Steps that a forecast starts from: the filter has settled by then.
constexpr int kWarmup = 200;

// A stretch of a series that is forecast from.
struct Origin {
  std::size_t series = 0;
  int begin = 0, end = 0;
};

std::vector<Origin> origins(const Dataset& data, const Truth& truth, int horizon) {
  const bool compares = truth.states || truth.channels;
  std::vector<Origin> all;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const int steps = data.series[s].steps;
    const int warmup = std::min(kWarmup, steps - horizon);
    if (warmup < 1 || (compares && data.series[s].x.empty())) continue;
    for (int begin = 0; begin + warmup + horizon <= steps; begin += warmup + horizon)
      all.push_back({s, begin, begin + warmup});
  }
  return all;
}

// Steps begin..end-1 of a series.
Series part_of(const Series& whole, int begin, int end) {
  Series part;
  part.steps = end - begin;
  const auto copy = [&](const std::vector<double>& values, std::vector<double>& to) {
    if (values.empty()) return;
    const auto width = static_cast<std::ptrdiff_t>(values.size()) / whole.steps;
    to.assign(values.begin() + begin * width, values.begin() + end * width);
  };
  copy(whole.y, part.y);
  copy(whole.t, part.t);
  copy(whole.u, part.u);
  copy(whole.y_std, part.y_std);
  return part;
}

// The stretches to forecast from, and the rows that follow each.
struct Stretches {
  Dataset before, after;

  Stretches(const Dataset& data, const std::vector<Origin>& from, int horizon)
      : before(data), after(data) {
    before.x_names.clear();
    before.series.clear();
    after = before;
    for (const Origin& origin : from) {
      const Series& whole = data.series[origin.series];
      before.series.push_back(part_of(whole, origin.begin, origin.end));
      after.series.push_back(part_of(whole, origin.end, origin.end + horizon));
      before.series.back().key = after.series.back().key = std::to_string(before.series.size());
    }
  }
};

}  // namespace

std::vector<ForecastScore> score_forecasts(const Model& model, const Dataset& data,
                                           const Truth& truth, int horizon, int threads) {
  const std::vector<Origin> from = origins(data, truth, horizon);
  if (from.empty())
    throw DataError((data.source.empty() ? "evaluate" : data.source) +
                    ": horizon = " + std::to_string(horizon) +
                    ", but no series to compare with is longer; choose a smaller one");
  const Stretches stretches(data, from, horizon);
  const Estimates states = model.forecast(stretches.before, horizon, threads, &stretches.after);
  const bool compares = truth.states || truth.channels;
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const Measure measure = measure_of(model);
  const infer::MeasurementNoise noise(model);
  std::vector<double> y(M), S(M * M), R(M * M);
  std::vector<Mean> squares(static_cast<std::size_t>(horizon)), within(squares.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t h = 0; h < squares.size(); ++h) {
      const std::size_t s = from[i].series, k = static_cast<std::size_t>(from[i].end) + h;
      const Series& series = data.series[s];
      const double* x = states.series[i].mean.data() + h * N;
      const double* P = states.series[i].covariance.data() + h * N * N;
      const auto add = [&](double error, double variance) {
        squares[h].add(error * error);
        within[h].add(within_95(error, variance));
      };
      if (truth.states) {
        for (std::size_t n = 0; n < N; ++n) add(x[n] - truth.x[s][k * N + n], P[n * (N + 1)]);
        continue;
      }
      measure.at(x, P, y.data(), S.data());
      if (!compares) noise.at(series.y_std.empty() ? nullptr : &series.y_std[k * M], R.data());
      for (std::size_t m = 0; m < M; ++m) {
        const std::size_t d = m * (M + 1);
        add(y[m] - (compares ? truth.y[s] : series.y)[k * M + m], S[d] + (compares ? 0 : R[d]));
      }
    }
  std::vector<ForecastScore> scores;
  for (std::size_t h = 0; h < squares.size(); ++h)
    scores.push_back({squares[h].value(), within[h].value()});
  return scores;
}

}  // namespace kalmia::study
