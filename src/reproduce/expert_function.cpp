#include "reproduce/expert_function.hpp"

#include "base/buffer.hpp"
#include "lanes/panel.hpp"

namespace kalmia::reproduction {

NonlinearModel::Function expert_function(const prior::ExpertSpec& spec,
                                         const std::vector<std::string>& channels, double dt) {
  const prior::Expert expert = prior::make_expert(spec, channels);
  // A map works on lines of lanes: every lane gets the same state, and the first one's result
  // counts.
  return [map = expert.map, theta = expert.theta(), dt](
             std::span<const double> x, int, std::span<double> value, std::span<double> jacobian) {
    constexpr std::size_t kLanes = lanes::kLineLanes<double>;
    const std::size_t N = x.size();
    Buffer<double> in((N + 1) * kLanes), out((N * N + N) * kLanes), scratch(map->scratch_size());
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = i / kLanes < N ? x[i / kLanes] : dt;
    double* const F = out.data();
    double* const e = F + N * N * kLanes;
    map->forward({in.data(), in.data() + N * kLanes, nullptr, theta.data()}, F, e, scratch.data());
    for (std::size_t i = 0; i < N; ++i) {
      value[i] = e[i * kLanes];
      for (std::size_t j = 0; j < N; ++j) {
        jacobian[i * N + j] = F[(i * N + j) * kLanes];
        value[i] += jacobian[i * N + j] * x[j];
      }
    }
  };
}

}  // namespace kalmia::reproduction
