// What a learned model consists of: its sizes, its parameters and the rows its decoder puts out.
#pragma once

#include <string>
#include <vector>

#include "lanes/panel.hpp"
#include "nn/encoder.hpp"
#include "nn/mlp.hpp"
#include "nn/parameters.hpp"

namespace kalmia::model {

/// Which of the paper's transition models the networks parameterise.
struct ArchitectureOptions {
  /// N, the number of states.
  int state_dim = 0;
  /// M, the number of measured components.
  int meas_dim = 0;
  /// Features the encoder reads at each step (the measurement, and what else the caller adds).
  int input_dim = 0;
  /// What reads the features. The paper's is the GRU.
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  /// Inputs a convolutional encoder looks back on, the newest among them; others do not read it.
  int taps = 16;
  /// Hidden units of each encoder.
  int hidden = 64;
  /// Widths of the decoder's hidden layers.
  std::vector<int> decoder = {64};
  /// true: p(x[k] | x[k-1], ...), the recursive models. false: p(x[k] | ...) directly, F = 0, the
  /// recurrent models.
  bool recursive = true;
  /// true: a second encoder reads the future, y[k+1], y[k+2], ...: the smoothers.
  bool two_sided = false;
  /// true: the decoder's N x N rows are a gain G that leads from the expert's prediction toward the
  /// centre, F = (I - G) F_expert, e = (I - G) e_expert + G c + e_out, instead of a residual of F.
  /// Recursive models with an expert map and a centre.
  bool toward_centre = false;
  /// true: the posterior of a recursive model is evaluated with x[k-1] held fixed, as in the
  /// paper's last appendix, instead of from the prediction (window_alternative-inl.h).
  bool alternative = false;
  /// true: what the future adds to a filter, read by an encoder that runs backwards in time (so the
  /// caller gives it series in reverse). The outputs e and L stand for the state as the future sees
  /// it, about the centre, and the root U of its information; there is no recursion over states.
  /// One-sided and recurrent.
  bool fusion = false;
  /// More than 0: there are no states and no measurements (state_dim = meas_dim = 0, recurrent).
  /// The decoder puts out so many numbers, and a sigmoid makes gains of them (window_gains.cpp).
  int gains = 0;

  /// Throws ConfigError that names every violated rule.
  void validate() const;
};

/// The parameters of a model, in one block, and the meaning of the decoder's output rows.
///
/// Parameters, in this order: those of the encoder, named after its kind (gru_fwd.*, lstm_fwd.* or
/// conv_fwd.*), the same for the backward direction (gru_bwd.* and so on) if two-sided, decoder.{0,
/// 1, ...}.{weight, bias}, initial.e (N), initial.L (packed triangle; its diagonal goes through
/// softplus, like the decoder's).
///
/// Output rows: F by rows (N N, recursive models only), e (N), the packed lower triangle of L; or
/// the gains.
struct Architecture {
  explicit Architecture(const ArchitectureOptions& options);

  ArchitectureOptions options;
  nn::ParameterLayout parameters;
  nn::EncoderLayout encoder_fwd;
  nn::EncoderLayout encoder_bwd;  ///< two-sided models only
  nn::MlpLayout decoder;
  std::ptrdiff_t initial_e = 0;
  std::ptrdiff_t initial_L = 0;

  int state_dim() const { return options.state_dim; }
  int meas_dim() const { return options.meas_dim; }
  int directions() const { return options.two_sided ? 2 : 1; }
  /// What the encoder remembers between steps, per sequence (see nn::EncoderRows).
  int encoder_state_rows() const { return nn::encoder_rows(encoder_fwd).state; }
  int e_row() const { return options.recursive ? state_dim() * state_dim() : 0; }
  int L_row() const { return e_row() + state_dim(); }
  int output_rows() const { return L_row() + lanes::triangle_size(state_dim()) + options.gains; }

  /// FLOP of the networks per time step, forward only (a training step takes three times that).
  double network_flops() const;
};

/// Sets `values` (architecture.parameters.size() numbers) to a starting point: encoders and
/// hidden layers uniform within 1/sqrt(fan-in) as PyTorch does, the decoder's last layer zero but
/// for L, so that the residual F and e start at zero and Q at `scale`^2 I; initial.e zero,
/// initial.L likewise `initial_scale`. Streams are keyed by the parameter's name.
template <typename T>
void initialise(const Architecture& architecture, std::uint64_t seed, double scale,
                double initial_scale, T* values);

}  // namespace kalmia::model
