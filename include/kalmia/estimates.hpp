/// \file
/// Estimates of states, and the files they are written to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia {

/// The states of one series, in the user's units.
struct StateEstimates {
  std::string key;
  int steps = 0;
  std::vector<double> t;           ///< time of each step; empty: none
  std::vector<double> mean;        ///< (steps, N)
  std::vector<double> covariance;  ///< (steps, N, N)
};

/// What a filter, smoother or forecast gives.
struct Estimates {
  std::vector<std::string> state_names;  ///< N
  /// So many of them, from the first on, are not states but what is measured of these, under the
  /// names of its columns (Model::measured, Listing).
  std::size_t measured_columns = 0;
  std::string key_name;
  std::string time_name;
  TimeKind time_kind = TimeKind::None;
  std::vector<StateEstimates> series;
  double log_likelihood = 0;        ///< of all measurements, in the user's units; natural logarithm
  std::size_t measured_values = 0;  ///< the measured values it is the sum over
};

/// Writes estimates: CSV (key and time if there are any, then each mean under its name, with its
/// standard deviation `<name>_std`), NPZ (mean, covariance, names, t), JSON lines (one row a line),
/// NPY (mean alone); .wav/.flac: the means of what is measured, or of all if there are states
/// alone. "-" is standard output, as CSV. The file appears whole or not at all.
void write_estimates(const std::string& path, const Estimates& estimates);

}  // namespace kalmia
