// Model::forecast: the steps after the end of each series.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "infer/model_impl.hpp"
#include "infer/series_run.hpp"
#include "infer/stream_impl.hpp"

namespace kalmia {
namespace {

// Times of the steps after the end of a series; NaN for one that never began.
std::vector<double> times_after(const Dataset& data, const Series& series, double dt, int horizon) {
  std::vector<double> t;
  if (data.time_kind == TimeKind::None) return t;
  const double last = series.t.empty() ? std::nan("") : series.t.back();
  for (int i = 1; i <= horizon; ++i) t.push_back(last + i * dt);
  return t;
}

}  // namespace

Estimates Model::forecast(const Dataset& data, int horizon, int threads) const {
  if (horizon < 1)
    throw ConfigError("horizon = " + std::to_string(horizon) + ", but it must be >= 1");
  const model::LearnedModel<float>& model = *impl_->learned;
  infer::SeriesRun run(model, data, threads);
  Estimates estimates = run.empty_estimates();
  estimates.series.resize(data.series.size());
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  std::vector<std::unique_ptr<Stream::Impl>> streams(static_cast<std::size_t>(run.team().size()));
  std::vector<double> nll(data.series.size());
  const double dt = run.dt();
  run.team().run(static_cast<int>(data.series.size()), [&](int s, int thread) {
    auto& stream = streams[static_cast<std::size_t>(thread)];
    if (stream)
      stream->restart();
    else
      stream = std::make_unique<Stream::Impl>(impl_);
    const Series& series = data.series[static_cast<std::size_t>(s)];
    StateEstimates& out = estimates.series[static_cast<std::size_t>(s)];
    out = infer::room_for(series, horizon, model.state_dim());
    out.t = times_after(data, series, dt, horizon);
    // Beyond the data the prediction of y takes its place (paper, Sec. 5), and inputs stay as they
    // were.
    std::vector<double> shown(M), missing(M, std::numeric_limits<double>::quiet_NaN());
    for (int k = 0; k < series.steps + horizon; ++k) {
      const bool given = k < series.steps;
      const double* y = given ? run.y(s, k) : missing.data();
      const model::StreamResult step =
          stream->step(y, given ? run.dt_ratio(s, k) : run.dt() / model.description().dt,
                       k == 0 ? nullptr : run.inputs(s, std::min(k, series.steps) - 1),
                       given ? run.weight(s, k) : nullptr);
      if (step.failed || !stream->finite())
        throw NumericalError(run.name(s) + ", step " + std::to_string(k + 1) + ": the " +
                             (given ? "likelihood" : "forecast") + " is not finite");
      nll[static_cast<std::size_t>(s)] += step.nll;
      if (given)
        std::copy_n(y, M, shown.begin());
      else
        model.measure(stream->state.x.data(), shown.data());
      stream->show(shown.data());
      if (given) continue;
      const auto h = static_cast<std::size_t>(k - series.steps);
      model.description().units.to_user(stream->state.x.data(), stream->state.P.data(),
                                        out.mean.data() + h * N, out.covariance.data() + h * N * N);
    }
  });
  estimates.log_likelihood = run.log_likelihood(std::accumulate(nll.begin(), nll.end(), 0.0));
  return estimates;
}

}  // namespace kalmia
