// Model's filter, smoother and innovations: one pass gives whatever is asked for.
#include <algorithm>
#include <cmath>

#include "infer/combined.hpp"
#include "infer/series_run.hpp"
#include "model/smoothers.hpp"

namespace kalmia {
namespace {

constexpr int kMostIterations = 1000;

}  // namespace

Estimates Model::filter(const Dataset& data, int threads) const {
  return infer::analyse(*this, data, threads, {.filtered = true}).filtered;
}

Estimates Model::smooth(const Dataset& data, int threads, const SmoothOptions& options) const {
  return infer::analyse(*this, data, threads, {.smoothed = true}, options).smoothed;
}

std::vector<Innovations> Model::innovations(const Dataset& data, int threads) const {
  return infer::analyse(*this, data, threads, {.innovations = true}).innovations;
}

Analysis Model::analyse(const Dataset& data, int threads, const SmoothOptions& options) const {
  return infer::analyse(*this, data, threads, {true, true, true}, options);
}

std::optional<double> Model::leak(const Dataset& data, int threads) const {
  double sum = 0;
  int count = 0;
  for (const auto& member : impl_->members) {
    if (member->smoother() == nullptr) continue;
    const model::EvenSteps even = infer::even_steps(*member, data);
    const double leak = infer::SeriesRun(*member, even.data(), threads).leak();
    if (std::isnan(leak)) return std::nullopt;
    sum += leak;
    ++count;
  }
  return count > 0 ? std::optional(sum / count) : std::nullopt;
}

void SmoothOptions::validate(const std::string& trained) const {
  const bool of_networks =
      std::ranges::find(model::smoother_table(), method, &model::SmootherEntry::method) !=
      model::smoother_table().end();
  if (method != "auto" && method != "linearized" && !of_networks)
    throw ConfigError("method = \"" + method +
                      "\", but it must be auto, linearized, fused, recurrent or recursive");
  if (of_networks && !trained.starts_with(method))
    throw ConfigError("method = \"" + method + "\", but the model has no " + method + " smoother" +
                      (trained.empty() ? "" : ", it has a " + trained + " one") +
                      "; fit it with smoother = " + method);
  if (iterations < 0 || iterations > kMostIterations)
    throw ConfigError("iterations = " + std::to_string(iterations) + ", but it must be in 0.." +
                      std::to_string(kMostIterations));
  if (of_networks && iterations > 0)
    throw ConfigError("iterations = " + std::to_string(iterations) +
                      ", but only the linearized smoother is iterated");
}

}  // namespace kalmia
