// Where things lie on the tapes of a window.
#pragma once

#include <cstddef>

#include "kalman/general_update.hpp"
#include "kalman/scratch.hpp"
#include "lanes/panel.hpp"
#include "model/architecture.hpp"

namespace kalmia::model {

/// Steps whose weight gradients are taken together: the transposed hidden states of a column tile
/// (32 lanes x 32 features) stay in the L1 cache.
inline constexpr int kChunkSteps = 8;

/// Steps after which networks and recursion take turns, so that each finds what the other wrote in
/// the cache. Measured: at N = 16 reading the decoder's output took 14 % of a training step with
/// whole windows and takes 8 % with turns. Divides kChunkSteps.
inline constexpr int kTurnSteps = 4;

/// Rows of one step's record on the networks' tape; a row is `lanes` numbers.
///
///   h       hidden units, forward then backward direction; an LSTM's c after them, likewise
///   gates   what the encoder's adjoint needs, per direction; the adjoints of its sums replace it
///           (gru-inl.h, lstm-inl.h, conv-inl.h)
///   hidden  the decoder's hidden layers
///   out     the decoder's output, later its adjoint
///   diag    diagonal of L after softplus, later its adjoint
///   d_h_bwd adjoint of the backward direction's h
struct RecordRows {
  int h = 0, gates = 0, hidden = 0, out = 0, diag = 0, d_h_bwd = 0, total = 0;

  RecordRows(const Architecture& a, bool training) {
    const int directions = a.directions();
    const nn::EncoderRows encoder = nn::encoder_rows(a.encoder_fwd);
    gates = directions * encoder.step;
    hidden = gates + (training ? directions * encoder.tape : 0);
    out = hidden + a.decoder.hidden_rows();
    diag = out + a.output_rows();
    d_h_bwd = diag + a.state_dim();
    total = d_h_bwd + (training ? (directions - 1) * a.options.hidden : 0);
  }
};

/// Entries (lines of doubles) of one step's slot on the recursion's tape: the state before the
/// step, and what the update leaves for its adjoint.
struct SlotEntries {
  int x = 0, P = 0, K = 0, v = 0, C = 0, total = 0;

  SlotEntries(int state_dim, int meas_dim) {
    P = state_dim;
    K = P + state_dim * state_dim;
    v = K + state_dim * meas_dim;
    C = v + meas_dim;
    total = C + lanes::triangle_size(meas_dim);
  }
};

/// Lines that a Transition works in (window_transition-inl.h); `inputs` and `parameters` are the
/// map's.
inline int transition_lines(int N, int inputs, int parameters) {
  return 7 * N * N + 8 * N + 3 + 4 * lanes::triangle_size(N) + inputs + parameters;
}

/// Lines that an AlternativePosterior works in (window_alternative-inl.h).
inline int alternative_lines(int N, int M) {
  return 5 * N * N + 5 * M * N + 3 * M * M + 2 * M + N + 2 + kalman::update_tape_lines(N, M) +
         kalman::update_scratch_lines(N, M);
}

/// Lines that a RecursionPass works in (window_recursion-inl.h).
inline int recursion_lines(int N, int M, int inputs, int parameters) {
  return transition_lines(N, inputs, parameters) + 2 * N * N + 3 * N + 3 * M + 2 + parameters +
         kalman::general_update_lines(N, M) + alternative_lines(N, M) +
         kalman::step_scratch_lines(N, M);
}

/// Lines that a FusionPass works in (window_fusion-inl.h); `inputs` and `parameters` are the map's.
inline int fusion_lines(int N, int M, int inputs, int parameters) {
  return 9 * N * N + 9 * N + M * M + 3 * M + 3 + inputs + parameters +
         kalman::update_tape_lines(N, N) + kalman::update_tape_lines(N, M) +
         kalman::general_update_lines(N, M) + kalman::update_scratch_lines(N, N);
}

}  // namespace kalmia::model
