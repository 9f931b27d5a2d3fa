// Model::sample: trajectories from the smoothing distribution.
#include "base/random.hpp"
#include "infer/calibrated.hpp"
#include "infer/combined.hpp"
#include "infer/series_run.hpp"
#include "infer/usable.hpp"
#include "model/filters.hpp"

namespace kalmia {

namespace {

// The member that trajectory c of series s is drawn from.
std::size_t member_of(std::uint64_t seed, std::size_t s, std::size_t c, std::size_t members) {
  if (members == 1) return 0;
  RandomStream random(seed, "members of samples of series " + std::to_string(s), c);
  return random.below(members);
}

// The trajectories of one member; returns the log-likelihood.
double sample_member(const model::LearnedModel<float>& model, const Dataset& data,
                     std::uint64_t seed, int threads, std::size_t samples, std::size_t member,
                     std::size_t members, Estimates& estimates) {
  const model::EvenSteps even = infer::even_steps(model, data);
  infer::SeriesRun run(model, even.data(), threads);
  const auto N = static_cast<std::size_t>(model.state_dim());
  const model::Units& units = model.description().units;
  double nll = 0;
  run.for_each_pass(
      {true, true, true}, [&](infer::FilterPass& pass, const std::vector<int>& chunk) {
        run.team().run(static_cast<int>(chunk.size()), [&](int i, int) {
          const auto s = static_cast<std::size_t>(chunk[static_cast<std::size_t>(i)]);
          const Series& series = data.series[s];
          std::vector<RandomStream> random;
          std::vector<std::size_t> drawn;
          for (std::size_t c = 0; c < samples; ++c) {
            if (member_of(seed, s, c, members) != member) continue;
            random.emplace_back(seed, "samples of series " + std::to_string(s), c);
            drawn.push_back(c);
          }
          const auto steps = static_cast<std::size_t>(even.data().series[s].steps);
          std::vector<double> paths(drawn.size() * steps * N);
          infer::sample_pass(pass, i, random, paths);
          for (std::size_t d = 0; d < drawn.size(); ++d) {
            StateEstimates& out = estimates.series[s * samples + drawn[d]];
            out.key = (series.key.empty() ? "" : series.key + "#") + std::to_string(drawn[d] + 1);
            out.steps = series.steps;
            out.t = series.t;
            const auto path = paths.begin() + static_cast<std::ptrdiff_t>(d * steps * N);
            out.mean = even.own_rows(
                s, std::vector<double>(path, path + static_cast<std::ptrdiff_t>(steps * N)), N);
            for (std::size_t j = 0; j < out.mean.size(); ++j)
              out.mean[j] = units.x_offset[j % N] + units.x_scale[j % N] * out.mean[j];
          }
        });
        for (const double each : pass.moments.log_likelihood) nll += each;
      });
  return run.log_likelihood(nll);
}

}  // namespace

Estimates Model::sample(const Dataset& data, int count, std::uint64_t seed, int threads) const {
  if (count < 1) throw ConfigError("count = " + std::to_string(count) + ", but it must be >= 1");
  if (!impl_->first().description().recursive())
    throw ConfigError("the model has a " +
                      std::string(model::filter_name(impl_->first().description().head)) +
                      " filter, which says nothing of how a state follows from the one "
                      "before; trajectories need a recursive one (fit with filter = recursive)");
  const auto& members = impl_->members;
  const auto samples = static_cast<std::size_t>(count);
  Estimates estimates = infer::SeriesRun(impl_->first(), data, threads).empty_estimates();
  if (estimates.key_name.empty()) estimates.key_name = "sample";
  estimates.series.resize(data.series.size() * samples);
  for (std::size_t j = 0; j < members.size(); ++j)
    estimates.log_likelihood =
        sample_member(*members[j], data, seed, threads, samples, j, members.size(), estimates);
  if (!impl_->is_combined()) {
    infer::require_usable(data.source, estimates);
    return estimates;
  }
  const bool calibrated = impl_->calibration.has_value();
  const SmoothOptions linearized{.method = "linearized"};
  infer::RawAnalysis before = infer::analyse_members(
      *impl_, data, threads, {.smoothed = calibrated, .innovations = calibrated, .noise = calibrated},
      linearized);
  const Estimates smoothed = before.analysis.smoothed;
  const Estimates after = infer::calibrated(*this, std::move(before), linearized).smoothed;
  estimates.log_likelihood = after.log_likelihood;
  const auto N = static_cast<std::size_t>(state_dim());
  for (std::size_t s = 0; s < after.series.size(); ++s)
    for (std::size_t c = 0; c < samples; ++c) {
      std::vector<double>& path = estimates.series[s * samples + c].mean;
      for (std::size_t k = 0; k * N < path.size(); ++k)
        infer::stretch(static_cast<int>(N), after.series[s].mean.data() + k * N,
                       smoothed.series[s].covariance.data() + k * N * N,
                       after.series[s].covariance.data() + k * N * N, path.data() + k * N);
    }
  infer::require_usable(data.source, estimates);
  return estimates;
}

}  // namespace kalmia
