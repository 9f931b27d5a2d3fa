// Where things lie on the networks' tape of a window, and in which portions it is read.
#pragma once

#include "engine/network.hpp"

namespace kalmia::engine {

/// Steps whose weight gradients are taken together: the transposed hidden states of a column tile
/// (32 lanes x 32 features) stay in the L1 cache.
inline constexpr int kChunkSteps = 8;

/// Steps after which networks and head take turns, so that each finds what the other wrote in the
/// cache. Measured: at N = 16 reading the decoder's output took 14 % of a training step with whole
/// windows and takes 8 % with turns. Divides kChunkSteps.
inline constexpr int kTurnSteps = 4;

/// Rows of one step's record; a row is `lanes` numbers.
///
///   h        hidden units, forward then backward direction; what else an encoder keeps, likewise
///   gates    what the encoder's adjoint needs, per direction; the adjoints of its sums replace it
///            (gru-inl.h and so on)
///   hidden   the decoder's hidden layers
///   out      the decoder's output, later its adjoint
///   positive the rows that go through softplus, after it; later their adjoints
///   d_h_bwd  adjoint of the backward direction's h
struct RecordRows {
  int h = 0, gates = 0, hidden = 0, out = 0, positive = 0, d_h_bwd = 0, total = 0;

  RecordRows(const NetworkLayout& layout, bool training) {
    const int directions = layout.directions();
    const nn::EncoderRows encoder = nn::encoder_rows(layout.encoder_fwd);
    gates = directions * encoder.step;
    hidden = gates + (training ? directions * encoder.tape : 0);
    out = hidden + layout.decoder.hidden_rows();
    positive = out + layout.output_rows();
    d_h_bwd = positive + static_cast<int>(layout.rows.positive.size());
    total = d_h_bwd + (training ? (directions - 1) * layout.networks.hidden : 0);
  }
};

}  // namespace kalmia::engine
