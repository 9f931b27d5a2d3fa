// What a model of states consists of: the sizes of its networks, what their rows mean and its
// parameters.
#pragma once

#include <string>

#include "base/buffer.hpp"
#include "engine/network.hpp"
#include "lanes/panel.hpp"

namespace kalmia::heads {

/// What the rows of the decoder are. Each head has a folder of its own.
enum class HeadKind {
  /// How x[k] follows from x[k-1]: p(x[k] | x[k-1], ...). Rows: F by rows (N N), e (N), L.
  Recursion,
  /// x[k] itself, F = 0: p(x[k] | ...), the recurrent models. Rows: e (N), L.
  Direct,
  /// The same with a diagonal covariance. Rows: e (N), standard deviations (N). One-sided.
  Diagonal,
  /// What the future adds to a filter, read by an encoder that runs backwards in time (so the
  /// caller gives it series in reverse): the state as the future sees it, about the centre, and the
  /// root U of its information. Rows: e (N), U. One-sided.
  Fusion,
};

/// How the rows of a recursion change the expert's map.
enum class TransitionRule {
  /// F = F_expert + F_out, e = e_expert + e_out.
  Residual,
  /// The rows of F_out are a gain G that leads from the expert's prediction toward the centre:
  /// F = (I - G) F_expert, e = (I - G) e_expert + G c + e_out. Needs an expert map and a centre.
  TowardCentre,
};

/// How the posterior of a recursion is evaluated.
enum class PosteriorRule {
  Predicted,    ///< from the prediction (paper: App. A)
  Alternative,  ///< with x[k-1] held fixed, as in the paper's last appendix (alternative-inl.h)
};

/// Sizes of the networks, and which model they parameterise.
struct ArchitectureOptions : engine::NetworkOptions {
  int state_dim = 0;  ///< N, the number of states
  int meas_dim = 0;   ///< M, the number of measured components
  HeadKind head = HeadKind::Recursion;
  TransitionRule transition = TransitionRule::Residual;  ///< of recursions
  PosteriorRule posterior = PosteriorRule::Predicted;    ///< of recursions

  bool recursive() const { return head == HeadKind::Recursion; }
  /// Throws ConfigError that names every violated rule.
  void validate() const;
};

/// The parameters of a model, in one block, and the meaning of the decoder's output rows.
///
/// Parameters: those of the networks, then initial.e (N) and initial.L (packed triangle; its
/// diagonal goes through softplus, like the decoder's).
struct Architecture : engine::NetworkLayout {
  explicit Architecture(const ArchitectureOptions& options);

  ArchitectureOptions options;
  std::ptrdiff_t initial_e = 0;
  std::ptrdiff_t initial_L = 0;

  int state_dim() const { return options.state_dim; }
  int meas_dim() const { return options.meas_dim; }
  int e_row() const { return options.recursive() ? state_dim() * state_dim() : 0; }
  int L_row() const { return e_row() + state_dim(); }
  /// The row of a state's own deviation: of the diagonal of L.
  int deviation_row(int state) const { return rows.positive[static_cast<std::size_t>(state)]; }
};

/// The state before the first measurement, N(initial.e, initial.L initial.L'), from a parameter
/// block.
struct InitialState {
  Buffer<double> e;        ///< N
  Buffer<double> L;        ///< packed triangle, diagonal after softplus
  Buffer<double> L_slope;  ///< d softplus / d raw for the diagonal, N

  template <typename T>
  void set(const Architecture& architecture, const T* parameters);
};

/// What kernels read of a parameter block.
template <typename T>
struct PackedModel : engine::PackedNetwork<T> {
  InitialState initial;

  void pack(const Architecture& architecture, const T* parameters) {
    engine::PackedNetwork<T>::pack(architecture, parameters);
    initial.set(architecture, parameters);
  }
};

/// Sets `values` (architecture.parameters.size() numbers) to a starting point: as
/// engine::initialise_network, but for L, so that the residual F and e start at zero and Q at
/// `scale`^2 I; initial.e zero, initial.L likewise `initial_scale`.
template <typename T>
void initialise(const Architecture& architecture, std::uint64_t seed, double scale,
                double initial_scale, T* values);

}  // namespace kalmia::heads
