/// \file
/// The paper's simulated experiments, complete: every method, over sizes of training data and
/// seeds, next to the paper's numbers and to what is possible at all.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia {

/// Which part of an experiment to run, and where it is kept.
struct ReproduceOptions {
  /// `linear` (Sec. 8.1) or `lorenz` (Sec. 8.2).
  std::string experiment = "linear";
  /// Fewer sizes and one seed, a shorter validation and test, without the slowest method: under a
  /// minute on two cores.
  bool quick = false;
  /// Training steps. Empty: 128, 512, 2048, 8192, 32768 and 131072 (quick: the first three).
  std::vector<int> sizes;
  /// Number of seeds, each with trajectories and networks of its own. 0: 5 of linear, 3 of lorenz
  /// (quick: 1).
  int seeds = 0;
  /// By name; empty: all of reproduce_methods() (quick: without polynomial-fused).
  std::vector<std::string> methods;
  /// Steps of the validation trajectory; 0: 16384 (quick: 2048).
  int validation = 0;
  /// Steps of the test trajectory; 0: 32768 (quick: 8192).
  int test = 0;
  /// Folder for the journal, the rows and the trajectories; it is made if need be. Empty: nothing
  /// is written, and a run that is killed begins anew.
  std::string out;
  /// Throw away what an earlier run left in `out`.
  bool fresh = false;
  /// The first of the seeds.
  std::uint64_t seed = 1;
  /// Cells run side by side; 0: as many as the machine has threads. Rows do not depend on it.
  int threads = 0;

  /// The same with sizes, seeds, lengths and, if quick, methods that are 0 or empty filled in.
  /// Throws ConfigError that names every violated rule, or the first method there is not.
  ReproduceOptions resolved() const;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, ReproduceOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("quick", o.quick,
        "sizes 128 to 2048, one seed, 2048 steps of validation, 8192 of test, without "
        "polynomial-fused: under a minute on two cores");
  visit("sizes", o.sizes,
        "training steps (default: 128,512,2048,8192,32768,131072; quick: the first three)");
  visit("seeds", o.seeds, "number of seeds (default: 5 of linear, 3 of lorenz; quick: 1)");
  visit("methods", o.methods, "methods to run (default: all; --list shows them)");
  visit("validation", o.validation,
        "steps of the validation trajectory (default: 16384; quick: 2048)");
  visit("test", o.test, "steps of the test trajectory (default: 32768; quick: 8192)");
  visit("out", o.out,
        "folder for journal, rows and trajectories (default: reproduce-EXPERIMENT, with -quick "
        "after it if quick)");
  visit("fresh", o.fresh, "throw away what an earlier run left in the folder");
  visit("seed", o.seed, "the first of the seeds");
  visit("threads", o.threads, "cells run side by side; 0: all the machine has");
}

/// A way to estimate the states.
struct ReproduceMethod {
  std::string name;
  std::string description;       ///< one line
  bool self_supervised = false;  ///< learns from noisy measurements, or not at all
  bool smooths = false;          ///< estimates a state from all measurements, not from those before
  bool in_paper = false;         ///< the paper has it too
  /// The state error that the paper's text reports for it.
  std::optional<double> paper_state_mse;
  std::string settings = {};  ///< all that it is fitted with besides data and seed; empty: nothing
};

/// Those of an experiment, in the order of its table. Throws ConfigError for an unknown experiment.
std::vector<ReproduceMethod> reproduce_methods(const std::string& experiment);

/// What one method reached, learned from the first `n` steps of one seed's training trajectory, on
/// that seed's test trajectory. Figures that do not apply are empty.
struct ReproduceRow {
  std::string method;
  int n = 0;
  std::uint64_t seed = 0;
  std::optional<double> state_mse;     ///< mean square over all states and steps
  std::optional<double> position_mse;  ///< the same over what is measured
  std::optional<double> nees;          ///< per dimension; 1 if the covariances are right
  std::optional<double> coverage95;    ///< share of the truth within the 95 % bars
  double seconds = 0;                  ///< training and estimating, one thread, with what it shares

  /// The paper's App. D, of the filter's predictions, mean squares per channel:
  /// E|y_pred - y|^2 = E|y_pred - H x|^2 + tr(R).
  std::optional<double> self_supervised_error;  ///< y_pred - y
  std::optional<double> reducible_error;        ///< the same less the noise: needs no truth
  std::optional<double> prediction_error;       ///< y_pred - H x: what it estimates
  std::optional<double> reducible_error_std;    ///< standard error of the estimate

  std::optional<double> held_out;  ///< mean negative log-likelihood of a validation value
  std::optional<double> leak;      ///< of smoothers made of networks (Model::leak)
  /// Whether the networks were better than what they started from, and kept. If not, the row is of
  /// that. Empty where there are none.
  std::optional<bool> networks_kept;
  std::string error;  ///< why there are no figures
};

/// One method at one size over all seeds.
struct ReproduceSpread {
  std::optional<double> median, low, high;
};
struct ReproduceSummary {
  std::string method;
  int n = 0;
  int seeds = 0;  ///< that have figures
  ReproduceSpread state_mse, position_mse;
  std::optional<double> nees, coverage95;  ///< medians
};

/// The linearized smoother against the posterior of all states together, which is known where
/// everything is linear: largest differences, in standard deviations and relative variances.
struct ReproduceSmootherCheck {
  int steps = 0;
  double mean_difference = 0;
  double variance_difference = 0;
};

/// A piece of the test trajectory with what methods made of it: the qualitative figure.
struct ReproduceTrajectory {
  std::string name;            ///< `noisy`, `truth`, or a method
  std::vector<double> values;  ///< (steps, channels)
};

/// Where a run stands.
struct ReproduceProgress {
  int finished = 0;  ///< cells, those of the journal included
  int cells = 0;
  int resumed = 0;          ///< taken from the journal
  double share = 0;         ///< of the work, by its expected cost
  double seconds = 0;       ///< since the start
  double seconds_left = 0;  ///< a guess before any cell is finished
  std::string last;         ///< the cell that was finished last
};

struct Reproduction {
  ReproduceOptions options;  ///< with everything filled in
  std::vector<ReproduceMethod> methods;
  std::vector<ReproduceRow> rows;  ///< by method, size, seed
  std::vector<ReproduceSummary> summary;
  std::optional<ReproduceSmootherCheck> smoother_check;  ///< of linear
  int trajectory_n = 0;  ///< training steps of the methods in `trajectories`
  std::vector<std::string> trajectory_channels;
  std::vector<ReproduceTrajectory> trajectories;
  bool complete = false;  ///< false: stopped on the way
  int resumed = 0;        ///< cells taken from the journal
  double seconds = 0;     ///< of this run
  std::string started;    ///< ISO 8601, UTC

  std::string to_text() const;  ///< tables and curves
  std::string to_json() const;  ///< rows, medians, theory, provenance
  std::string to_csv() const;   ///< the rows
};

/// Runs an experiment. Cells (a method at a size with a seed) run side by side, one thread each.
/// With a folder, each finished cell goes to its journal at once and is not run again; at the end
/// rows.csv, rows.json and trajectories.csv are written beside it. `progress` is called now and
/// then, by one thread at a time; when it returns false, running cells are given up and what is
/// finished is returned. A method that fails leaves a row with its error. Throws ConfigError (also
/// if the folder has the journal of another experiment), IoError.
Reproduction reproduce(const ReproduceOptions& options,
                       const std::function<bool(const ReproduceProgress&)>& progress = {});

}  // namespace kalmia
