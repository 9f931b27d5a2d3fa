// Model::sample: trajectories from the smoothing distribution.
#include "base/random.hpp"
#include "infer/model_impl.hpp"
#include "infer/series_run.hpp"

namespace kalmia {

Estimates Model::sample(const Dataset& data, int count, std::uint64_t seed, int threads) const {
  if (count < 1) throw ConfigError("count = " + std::to_string(count) + ", but it must be >= 1");
  const model::LearnedModel<float>& model = *impl_->learned;
  infer::SeriesRun run(model, data, threads);
  Estimates estimates = run.empty_estimates();
  if (estimates.key_name.empty()) estimates.key_name = "sample";
  const auto samples = static_cast<std::size_t>(count);
  estimates.series.resize(data.series.size() * samples);
  const auto N = static_cast<std::size_t>(model.state_dim());
  const model::Units& units = model.description().units;
  double nll = 0;
  run.for_each_pass(
      {true, true, true}, [&](infer::FilterPass& pass, const std::vector<int>& chunk) {
        run.team().run(static_cast<int>(chunk.size()), [&](int i, int) {
          const auto s = static_cast<std::size_t>(chunk[static_cast<std::size_t>(i)]);
          const Series& series = data.series[s];
          std::vector<RandomStream> random;
          for (std::size_t c = 0; c < samples; ++c)
            random.emplace_back(seed, "samples of series " + std::to_string(s), c);
          const std::size_t size = static_cast<std::size_t>(series.steps) * N;
          std::vector<double> paths(samples * size);
          infer::sample_pass(pass, i, random, paths);
          for (std::size_t c = 0; c < samples; ++c) {
            StateEstimates& out = estimates.series[s * samples + c];
            out.key = (series.key.empty() ? "" : series.key + "#") + std::to_string(c + 1);
            out.steps = series.steps;
            out.t = series.t;
            out.mean.resize(size);
            for (std::size_t j = 0; j < size; ++j)
              out.mean[j] = units.x_offset[j % N] + units.x_scale[j % N] * paths[c * size + j];
          }
        });
        for (const double each : pass.moments.log_likelihood) nll += each;
      });
  estimates.log_likelihood = run.log_likelihood(nll);
  return estimates;
}

}  // namespace kalmia
