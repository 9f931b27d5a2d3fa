// Model::forecast: the steps after the end of each series.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "infer/combined.hpp"
#include "infer/future.hpp"
#include "infer/mixture.hpp"
#include "infer/series_run.hpp"
#include "infer/step_factors.hpp"
#include "infer/stream.hpp"
#include "infer/usable.hpp"

namespace kalmia {
namespace {

// What one member says of the steps after the end of each series; `nll`: of the series themselves,
// `since`: how far away the last value of each channel is at each step of the forecast.
void forecast_member(const model::LearnedModel<float>& model, const Dataset& data,
                     const std::vector<infer::Future>& futures, infer::SeriesRun& run,
                     Estimates& estimates, std::vector<double>& nll,
                     std::vector<std::vector<double>>& since) {
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  std::vector<std::unique_ptr<infer::MemberStream>> streams(
      static_cast<std::size_t>(run.team().size()));
  const std::size_t U = model.description().input_names.size();
  run.team().run(static_cast<int>(data.series.size()), [&](int s, int thread) {
    auto& stream = streams[static_cast<std::size_t>(thread)];
    if (stream)
      stream->restart();
    else
      stream = std::make_unique<infer::MemberStream>(model);
    const Series& series = data.series[static_cast<std::size_t>(s)];
    StateEstimates& out = estimates.series[static_cast<std::size_t>(s)];
    const infer::Future& future = futures[static_cast<std::size_t>(s)];
    const int horizon = static_cast<int>(future.dt_ratio.size());
    out = infer::room_for(series, horizon, model.state_dim());
    out.t = future.t;
    // The inputs that act during the step to k are those at k - 1.
    const auto inputs_to = [&](int k) -> const double* {
      if (k == 0 || U == 0) return nullptr;
      if (k <= series.steps) return run.inputs(s, k - 1);
      return future.u.data() + static_cast<std::size_t>(k - 1 - series.steps) * U;
    };
    // Beyond the data nothing is measured: a forecast is a gap.
    const std::vector<double> missing(M, std::numeric_limits<double>::quiet_NaN());
    for (int k = 0; k < series.steps + horizon; ++k) {
      const bool given = k < series.steps;
      const double* y = given ? run.y(s, k) : missing.data();
      const heads::StreamResult step = stream->step(
          y,
          given ? run.dt_ratio(s, k) : future.dt_ratio[static_cast<std::size_t>(k - series.steps)],
          inputs_to(k), given ? run.weight(s, k) : nullptr);
      if (step.failed || !stream->finite())
        throw NumericalError(run.name(s) + ", step " + std::to_string(k + 1) + ": the " +
                             (given ? "likelihood" : "forecast") + " is not finite");
      nll[static_cast<std::size_t>(s)] += step.nll;
      stream->show(y);
      if (given) continue;
      const auto h = static_cast<std::size_t>(k - series.steps);
      std::vector<double>& distances = since[static_cast<std::size_t>(s)];
      distances.insert(distances.end(), stream->since.begin(), stream->since.end());
      model.description().units.to_user(stream->state.x.data(), stream->state.P.data(),
                                        out.mean.data() + h * N, out.covariance.data() + h * N * N);
    }
  });
}

}  // namespace

Estimates Model::forecast(const Dataset& data, int horizon, int threads,
                          const Dataset* future) const {
  if (horizon < 1)
    throw ConfigError("horizon = " + std::to_string(horizon) + ", but it must be >= 1");
  const std::string place = (data.source.empty() ? "the data" : data.source) + ", forecast";
  Estimates estimates;
  std::vector<std::vector<double>> since;  // of each series; the same for all members
  int count = 0;
  for (const auto& member : impl_->members) {
    infer::SeriesRun run(*member, data, threads);
    Estimates one = run.empty_estimates();
    one.series.resize(data.series.size());
    std::vector<double> nll(data.series.size());
    std::vector<infer::Future> futures;
    for (int s = 0; s < static_cast<int>(data.series.size()); ++s)
      futures.push_back(infer::future_of(member->description(), run, data, s, future, horizon));
    since.assign(data.series.size(), {});
    forecast_member(*member, data, futures, run, one, nll, since);
    one.log_likelihood = run.log_likelihood(std::accumulate(nll.begin(), nll.end(), 0.0));
    if (++count == 1) {
      estimates = std::move(one);
      continue;
    }
    for (std::size_t s = 0; s < one.series.size(); ++s)
      infer::add_to_mixture(count, state_dim(), one.series[s].mean, one.series[s].covariance,
                            estimates.series[s].mean, estimates.series[s].covariance);
  }
  if (!impl_->is_combined()) {
    infer::require_usable(place, estimates);
    return estimates;
  }
  // Nothing is measured in a forecast: all of its covariance is a prediction's.
  if (impl_->calibration) {
    infer::StepFactors factors(impl_->first(), impl_->calibration->filter);
    const auto M = static_cast<std::size_t>(meas_dim());
    const auto size = static_cast<std::size_t>(state_dim() * state_dim());
    for (std::size_t s = 0; s < since.size(); ++s)
      for (std::size_t h = 0; h * M < since[s].size(); ++h) {
        factors.set({since[s].data() + h * M, M});
        factors.scale_states({}, {estimates.series[s].covariance.data() + h * size, size});
      }
  }
  infer::require_usable(place, estimates);
  estimates.log_likelihood = infer::analyse(*this, data, threads, {}).filtered.log_likelihood;
  return estimates;
}

}  // namespace kalmia
