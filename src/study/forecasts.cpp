#include "study/forecasts.hpp"

#include <algorithm>
#include <cmath>

#include "infer/model_impl.hpp"
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

std::vector<Origin> origins(const Dataset& data, TruthKind truth, int horizon) {
  std::vector<Origin> all;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const int steps = data.series[s].steps;
    const int warmup = std::min(kWarmup, steps - horizon);
    if (warmup < 1 || (truth != TruthKind::None && data.series[s].x.empty())) continue;
    for (int begin = 0; begin + warmup + horizon <= steps; begin += warmup + horizon)
      all.push_back({s, begin, begin + warmup});
  }
  return all;
}

Dataset stretches(const Dataset& data, const std::vector<Origin>& from) {
  Dataset cut = data;
  cut.x_names.clear();
  cut.series.clear();
  for (const Origin& origin : from) {
    const Series& whole = data.series[origin.series];
    Series& part = cut.series.emplace_back();
    part.key = std::to_string(cut.series.size());
    part.steps = origin.end - origin.begin;
    const auto copy = [&](const std::vector<double>& values, std::vector<double>& to) {
      if (values.empty()) return;
      const auto width = static_cast<std::ptrdiff_t>(values.size()) / whole.steps;
      to.assign(values.begin() + origin.begin * width, values.begin() + origin.end * width);
    };
    copy(whole.y, part.y);
    copy(whole.t, part.t);
    copy(whole.u, part.u);
    copy(whole.y_std, part.y_std);
  }
  return cut;
}

}  // namespace

std::vector<ForecastScore> score_forecasts(const Model& model, const Dataset& data, TruthKind truth,
                                           int horizon, int threads) {
  // What channels to compare with is known for linear emissions alone.
  if (truth != TruthKind::States && model.impl().learned->expert().emission != nullptr) return {};
  const std::vector<Origin> from = origins(data, truth, horizon);
  if (from.empty())
    throw DataError((data.source.empty() ? "evaluate" : data.source) +
                    ": horizon = " + std::to_string(horizon) +
                    ", but no series to compare with is longer; choose a smaller one");
  const Estimates found = model.forecast(stretches(data, from), horizon, threads);
  const std::vector<double> H = model.emission(), R = model.noise();
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  std::vector<Mean> squares(static_cast<std::size_t>(horizon)), within(squares.size());
  for (std::size_t i = 0; i < from.size(); ++i)
    for (std::size_t h = 0; h < squares.size(); ++h) {
      const std::size_t k = static_cast<std::size_t>(from[i].end) + h;
      const Series& series = data.series[from[i].series];
      const double* x = found.series[i].mean.data() + h * N;
      const double* P = found.series[i].covariance.data() + h * N * N;
      const auto add = [&](double error, double variance) {
        squares[h].add(error * error);
        within[h].add(within_95(error, variance));
      };
      if (truth == TruthKind::States) {
        for (std::size_t n = 0; n < N; ++n) add(x[n] - series.x[k * N + n], P[n * (N + 1)]);
        continue;
      }
      for (std::size_t m = 0; m < M; ++m) {
        double y = 0, variance = 0;
        if (truth == TruthKind::None)
          variance = series.y_std.empty() ? R[m * (M + 1)] : std::pow(series.y_std[k * M + m], 2);
        for (std::size_t a = 0; a < N; ++a) {
          y += H[m * N + a] * x[a];
          for (std::size_t b = 0; b < N; ++b)
            variance += H[m * N + a] * P[a * N + b] * H[m * N + b];
        }
        add(y - (truth == TruthKind::None ? series.y : series.x)[k * M + m], variance);
      }
    }
  std::vector<ForecastScore> scores;
  for (std::size_t h = 0; h < squares.size(); ++h)
    scores.push_back({squares[h].value(), within[h].value()});
  return scores;
}

}  // namespace kalmia::study
