// Runs the filter of a learned model over whole series, many at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "infer/lane_fill.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// Which moments a run is asked for.
struct Wanted {
  bool predicted = false;
  bool filtered = false;
  bool transition = false;  ///< F
};

/// The moments of one lane over one window; step i of it is step first + i of the piece.
class LaneMoments {
 public:
  LaneMoments(const model::WindowMoments& panels, int lanes, int lane)
      : panels_(panels), lanes_(lanes), lane_(lane) {}
  void x_pred(int i, int N, double* out) const { copy(panels_.x_pred, i, N, out); }
  void P_pred(int i, int N, double* out) const { copy(panels_.P_pred, i, N * N, out); }
  void x_filt(int i, int N, double* out) const { copy(panels_.x_filt, i, N, out); }
  void P_filt(int i, int N, double* out) const { copy(panels_.P_filt, i, N * N, out); }
  void F(int i, int N, double* out) const { copy(panels_.F, i, N * N, out); }
  double nll(int i) const { return panels_.nll[i * lanes_ + lane_]; }

 private:
  void copy(const double* panel, int i, int rows, double* out) const {
    const double* from = panel + static_cast<std::ptrdiff_t>(i) * rows * lanes_ + lane_;
    for (int r = 0; r < rows; ++r) out[r] = from[static_cast<std::ptrdiff_t>(r) * lanes_];
  }
  model::WindowMoments panels_;
  int lanes_, lane_;
};

/// Takes `count` steps of a piece, `first` being its step in the piece. Called from the thread that
/// runs the piece; the windows of a piece come in order.
using Sink = std::function<void(int piece, int first, int count, const LaneMoments& moments)>;

/// Filters all pieces, each from the model's initial state. The likelihoods are always there. A
/// piece that breaks down throws NumericalError; `name(piece)` says which it is.
template <typename T>
void run_filter(const model::LearnedModel<T>& model, std::span<const Piece> pieces,
                const Wanted& wanted, ThreadTeam& team, const Sink& sink,
                const std::function<std::string(int piece)>& name);

}  // namespace kalmia::infer
