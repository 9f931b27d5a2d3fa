/// \file
/// What filter, smooth, forecast and sample share: a model, data, and a file of estimates.
#pragma once

#include <functional>
#include <string>

#include "kalmia/listing.hpp"
#include "parser.hpp"

namespace kalmia::cli {

struct EstimateCommand {
  std::string model;
  std::string data;
  std::string output = "-";
  ListOptions list;
  bool ahead = false;  ///< the estimates are of steps after the data
  /// Where a forecast takes its inputs from: `given`, `held`; empty: this is none, or has no
  /// inputs.
  std::string inputs;
  FieldOptions<DataOptions> columns;
  CommonOptions common;

  /// Adds the arguments; what a command has of its own comes before `add_common`.
  void add_to(Parser& parser);
  void add_measurements(Parser& parser);
  void add_common(Parser& parser);

  using Estimator = std::function<Estimates(const Model&, const Dataset&)>;
  /// Loads, estimates, writes and reports.
  void run(const Estimator& estimate) const;
};

/// Throws ConfigError if smoothing with this model again would change nothing.
void refuse_idle_iterations(const Model& model, int iterations);

/// How a model's user wants its data read: as at the fit, but for the options given.
DataOptions data_options(const Model& model, const FieldOptions<DataOptions>& given,
                         bool needs_truth);

}  // namespace kalmia::cli
