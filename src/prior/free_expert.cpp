// No knowledge at all: a linear map that is learned, of the measured channels y and latent states
// z,
//
//   [y; z][k] = F [y; z][k-1]      H = [I 0]
//
// Paper: Sec. 3, the remark on states without a meaning.
//
// F is a departure (ExpertSpec) from where it starts. The likelihood does not change with the
// coordinates of z, so that there are directions without a gradient, and from z = 0 none at all
// leads to states that are of use. So z starts as earlier values of the channels, which are coupled
// weakly to the next ones: a map of lags, which the data then change.
#include <algorithm>

#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

constexpr double kStartCoupling = 0.1;

}  // namespace

ExpertDraft draft_free(const std::vector<std::string>& channels, int latent) {
  const int M = static_cast<int>(channels.size());
  const int N = M + latent;
  ExpertDraft draft;
  Expert& expert = draft.expert;
  expert.name = prior_name(PriorKind::None);
  expert.state_names = channels;
  for (int m = 0; m < M; ++m) {
    expert.measured_state.push_back(m);
    expert.states.push_back({m, 0});
  }
  draft.symbols.states = N;
  draft.map.F.assign(static_cast<std::size_t>(N * N), draft.graph.constant(0));
  draft.map.e.assign(static_cast<std::size_t>(N), draft.graph.constant(0));
  const auto F = [&](int i, int j) -> expr::Node& {
    return draft.map.F[static_cast<std::size_t>(i * N + j)];
  };
  for (int z = 0; z < latent; ++z) {
    const std::string name = "latent_" + std::to_string(z + 1);
    if (std::find(channels.begin(), channels.end(), name) != channels.end())
      throw ConfigError("latent = " + std::to_string(latent) + ": the measured column " + name +
                        " has the name of a latent state; rename it");
    expert.state_names.push_back(name);
    // Lag z / M + 1 of channel z % M.
    expert.states.push_back({.channel = z % M, .role = StateRole::Remembered});
    F(M + z, z) = draft.graph.constant(1);
    F(z % M, M + z) = draft.graph.constant(kStartCoupling);
  }
  return draft;
}

}  // namespace kalmia::prior
