// The truth of a data set, sorted by what it is of.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/model.hpp"

namespace kalmia::study {

/// What is measured of a state, without noise.
struct Measure {
  std::size_t states = 0, channels = 0;  ///< N, M
  /// For each channel the state that it is, -1 where it is none.
  std::vector<int> measured_state;
  /// Sets y (M) to h(x); S (M x M) to H P H' with H at x, unless P is null.
  std::function<void(const double* x, const double* P, double* y, double* S)> at;

  /// The channels are all the states, in their order.
  bool is_identity() const;
};

Measure measure_of(const Model& model);
/// y = H x; H (M x N), row-major.
Measure linear_measure(std::span<const double> H, std::size_t channels);

struct Truth {
  bool channels = false;  ///< some channel has truth, its own or that of the states behind it
  bool states = false;    ///< some state has truth that is not that of a channel alone
  /// Of each series, (steps, M) and (steps, N), NaN where there is none.
  std::vector<std::vector<double>> y, x;
};

/// A column of truth named `true_<channel>` (or as the channel itself) is the truth of that
/// channel, one named `true_<state>` that of that state; columns of neither name are left out. A
/// channel without truth of its own gets h of the states', a state that is a channel the channel's
/// if so all states get one. If no column has such a name, their number decides: they are the
/// channels or all states, in order. Throws DataError that names `--truth` if it does not decide,
/// or if a name belongs to a channel and to a state that is something else.
Truth truth_by_name(const Dataset& data, const std::vector<std::string>& state_names,
                    const std::vector<std::string>& channel_names, const Measure& measure);

/// By the number of columns alone; as many channels as states are the channels.
Truth truth_in_order(const Dataset& data, const Measure& measure);

}  // namespace kalmia::study
