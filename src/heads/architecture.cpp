#include "heads/architecture.hpp"

#include <cmath>

#include "kalmia/error.hpp"
#include "nn/softplus.hpp"
#include "prior/expert.hpp"

namespace kalmia::heads {
namespace {

using engine::violation;
using prior::kMostStates;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

const ArchitectureOptions& validated(const ArchitectureOptions& options) {
  options.validate();
  return options;
}

// F where there is a recursion, e and the triangle L, whose diagonal is positive, or that alone.
engine::OutputRows rows_of(const ArchitectureOptions& options) {
  const int N = options.state_dim;
  const int L = (options.recursive() ? N * N : 0) + N;
  const bool diagonal = options.head == HeadKind::Diagonal;
  engine::OutputRows rows;
  rows.count = L + (diagonal ? N : lanes::triangle_size(N));
  for (int i = 0; i < N; ++i)
    rows.positive.push_back(L + (diagonal ? i : lanes::triangle_index(i, i)));
  return rows;
}

}  // namespace

void ArchitectureOptions::validate() const {
  const bool toward_centre = transition == TransitionRule::TowardCentre;
  const bool alternative = posterior == PosteriorRule::Alternative;
  const std::string wrong =
      violation(state_dim >= 1 && state_dim <= kMostStates, "state_dim", state_dim, "in 1..128") +
      violation(meas_dim >= 1 && meas_dim <= kMostStates, "meas_dim", meas_dim, "in 1..128") +
      violations() +
      violation(!alternative || recursive(), "alternative", alternative,
                "false unless the model is recursive") +
      violation(!toward_centre || recursive(), "toward_centre", toward_centre,
                "false unless the model is recursive") +
      violation(head != HeadKind::Fusion || !two_sided, "two_sided", two_sided,
                "false of networks that add the future to a filter") +
      violation(head != HeadKind::Diagonal || !two_sided, "two_sided", two_sided,
                "false of a diagonal filter");
  if (!wrong.empty()) throw ConfigError("invalid architecture:" + wrong);
}

Architecture::Architecture(const ArchitectureOptions& given)
    : NetworkLayout(validated(given), rows_of(given)), options(given) {
  initial_e = parameters.add("initial.e", state_dim());
  initial_L = parameters.add("initial.L", lanes::triangle_size(state_dim()));
}

template <typename T>
void InitialState::set(const Architecture& architecture, const T* parameters) {
  const auto states = static_cast<std::size_t>(architecture.state_dim());
  const int triangle = lanes::triangle_size(architecture.state_dim());
  if (e.empty()) {
    e.resize(states);
    L.resize(static_cast<std::size_t>(triangle));
    L_slope.resize(states);
  }
  for (std::size_t i = 0; i < states; ++i)
    e[i] = static_cast<double>(parameters[architecture.initial_e + static_cast<int>(i)]);
  for (int i = 0; i < triangle; ++i)
    L[static_cast<std::size_t>(i)] = static_cast<double>(parameters[architecture.initial_L + i]);
  for (int i = 0; i < architecture.state_dim(); ++i) {
    double& diagonal = L[static_cast<std::size_t>(lanes::triangle_index(i, i))];
    L_slope[static_cast<std::size_t>(i)] = sigmoid(diagonal);
    diagonal = nn::softplus(diagonal);
  }
}

template <typename T>
void initialise(const Architecture& architecture, std::uint64_t seed, double scale,
                double initial_scale, T* values) {
  engine::initialise_network(architecture, seed, values);
  for (int i = 0; i < architecture.state_dim(); ++i) {
    values[architecture.decoder.bias.back() + architecture.deviation_row(i)] =
        static_cast<T>(nn::inverse_softplus(scale));
    values[architecture.initial_L + lanes::triangle_index(i, i)] =
        static_cast<T>(nn::inverse_softplus(initial_scale));
  }
}

template void InitialState::set<float>(const Architecture&, const float*);
template void InitialState::set<double>(const Architecture&, const double*);
template void initialise<float>(const Architecture&, std::uint64_t, double, double, float*);
template void initialise<double>(const Architecture&, std::uint64_t, double, double, double*);

}  // namespace kalmia::heads
