// One line of lanes of a window (8 sequences, in double): where its rows lie in the panels, and
// what all passes over it do alike.

#if defined(KALMIA_HEADS_STATE_LINE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_HEADS_STATE_LINE_INL_H_
#undef KALMIA_HEADS_STATE_LINE_INL_H_
#else
#define KALMIA_HEADS_STATE_LINE_INL_H_
#endif

#include <algorithm>
#include <limits>

#include "engine/network_pass-inl.h"
#include "heads/state_window.hpp"
#include "lanes/scratch.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::heads::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines of this instruction set
using engine::RecordRows;
using lanes::kLineLanes;

template <typename T>
struct StateLine {
  static constexpr int kLanes = kLineLanes<double>;
  static constexpr lanes::LaneBits kAllLanes = (lanes::LaneBits{1} << kLanes) - 1;
  using D = Line<double>;

  const engine::NetworkInput<T>& in;
  const Measurements& measured;
  engine::NetworkWorkspace<T>& ws;
  const int first;  ///< lane of the line

  std::ptrdiff_t panel(int rows) const { return static_cast<std::ptrdiff_t>(rows) * in.lanes; }

  void read_panel(const double* from, int rows, double* to) const {
    for (int i = 0; i < rows; ++i) store(load(from + panel(i) + first), to + i * kLanes);
  }
  void write_panel(const double* from, int rows, double* to) const {
    for (int i = 0; i < rows; ++i) store(load(from + i * kLanes), to + panel(i) + first);
  }
  /// The panel of step k of several; `to` may be null.
  void write_step(const double* from, int rows, double* to, int k) const {
    if (to != nullptr) write_panel(from, rows, to + k * panel(rows));
  }

  /// A step's record on the networks' tape.
  T* record(const RecordRows& rows, int k) const {
    return ws.records.data() + static_cast<std::ptrdiff_t>(k) * panel(rows.total);
  }

  /// Before the first step.
  void clear_likelihood() const {
    store(zero<double>(), ws.lane_nll.data() + first);
    std::fill_n(ws.failed_step.data() + first, kLanes, -1);
  }
  /// Notes the lanes whose likelihood of step k is not finite; `covariance`: those whose S was not
  /// positive definite.
  void note_failures(int k, const D& nll, lanes::LaneBits covariance) const {
    const D infinity = broadcast(std::numeric_limits<double>::infinity());
    const lanes::LaneBits lost = ~bits_of(greater(infinity, abs(nll))) & kAllLanes;
    if (lost == 0) return;
    for (int b = 0; b < kLanes; ++b) {
      const auto lane = static_cast<std::size_t>(first + b);
      if (((lost >> b) & 1) == 0 || ws.failed_step[lane] >= 0) continue;
      ws.failed_step[lane] = k;
      ws.failed_covariance[lane] = static_cast<std::uint8_t>((covariance >> b) & 1);
    }
  }
  /// Lanes that did not fail.
  LineMask<double> lanes_ok() const {
    alignas(kLineBytes) double ok[kLanes];
    for (int b = 0; b < kLanes; ++b)
      ok[b] = ws.lane_ok[static_cast<std::size_t>(first + b)] != 0 ? 1.0 : 0.0;
    return nonzero(load(ok));
  }

  /// Sets y (M lines) and, if anything is missing at step k, observed; returns observed or null.
  const double* read_measurement(int k, int M, double* y, double* observed) const {
    read_panel(measured.y + k * panel(M), M, y);
    bool ended = false;
    for (int b = 0; b < kLanes && in.length != nullptr; ++b)
      ended = ended || k >= in.length[first + b];
    if (measured.observed == nullptr && !ended) return nullptr;
    bool all = true;
    for (int i = 0; i < M; ++i)
      for (int b = 0; b < kLanes; ++b) {
        const bool seen = k < in.lane_length(first + b) &&
                          (measured.observed == nullptr ||
                           measured.observed[k * panel(M) + panel(i) + first + b] != 0);
        observed[i * kLanes + b] = seen ? 1.0 : 0.0;
        all = all && seen;
      }
    return all ? nullptr : observed;
  }
  /// Weights of the measurements' noise at step k (M lines), or null where there are none.
  const double* read_weight(int k, int M, double* weight) const {
    if (measured.weight == nullptr) return nullptr;
    read_panel(measured.weight + k * panel(M), M, weight);
    return weight;
  }
};

}  // namespace kalmia::heads::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
