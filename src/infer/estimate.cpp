// Model's filter, smoother and innovations: one pass gives whatever is asked for.
#include "infer/combined.hpp"

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

void SmoothOptions::validate(bool has_fused) const {
  if (method != "auto" && method != "linearized" && method != "fused")
    throw ConfigError("method = \"" + method + "\", but it must be auto, linearized or fused");
  if (method == "fused" && !has_fused)
    throw ConfigError(
        "method = \"fused\", but the model has no fused smoother; fit it with smoother = fused");
  if (iterations < 0 || iterations > kMostIterations)
    throw ConfigError("iterations = " + std::to_string(iterations) + ", but it must be in 0.." +
                      std::to_string(kMostIterations));
  if (method == "fused" && iterations > 0)
    throw ConfigError("iterations = " + std::to_string(iterations) +
                      ", but only the linearized smoother is iterated");
}

}  // namespace kalmia
