/// \file
/// Time series as users have them, and the files they live in.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia {

/// One series. Arrays are (steps, dim), row-major; NaN stands for a missing value. The arrays `x`,
/// `u`, `t` and `y_std` are empty where there is no such thing.
struct Series {
  std::string key;        ///< which of the file's series this is; empty if the file holds one
  int steps = 0;          ///< length
  std::vector<double> y;  ///< measurements, steps x meas_dim
  std::vector<double> x;  ///< truth, for scoring only, steps x truth_dim
  std::vector<double> u;  ///< inputs, steps x input_dim
  std::vector<double> t;  ///< time of each step
  /// Standard deviation of each measurement's noise, steps x meas_dim; of a missing one anything.
  std::vector<double> y_std;
};

/// What the numbers of a time axis are.
enum class TimeKind {
  None,    ///< no time axis: steps are counted
  Number,  ///< plain numbers, as in the file
  Date,    ///< seconds since 1970-01-01 00:00 UTC, read from and written as ISO 8601
};

/// The series of a file, with the names of its columns.
struct Dataset {
  std::string source;  ///< where it came from, for messages
  std::string key_name;
  std::string time_name;
  TimeKind time_kind = TimeKind::None;
  std::vector<std::string> y_names;
  std::vector<std::string> x_names;
  std::vector<std::string> u_names;
  std::vector<Series> series;
  /// Columns of y_std, one for each measured one; empty: the data do not say how noisy they are.
  std::vector<std::string> std_names;

  int meas_dim() const { return static_cast<int>(y_names.size()); }
  int truth_dim() const { return static_cast<int>(x_names.size()); }
  int input_dim() const { return static_cast<int>(u_names.size()); }
  /// Steps of all series together.
  std::size_t total_steps() const;
  /// The time between steps: the median over all series; 1 where there is no time axis.
  double step_size() const;
};

/// Which columns of a file are what. An empty field takes the default that it names.
struct DataOptions {
  /// Measured columns. Default: `y`, or those named y0, y1, ... or y1, y2, ...; else the only
  /// column of numbers that is neither time, key nor truth.
  std::vector<std::string> measure;
  /// Columns with the truth, for scoring only. Default: those whose name begins with `true_`.
  std::vector<std::string> truth;
  /// Columns with control inputs. Default: those named u, u0, u1, ...
  std::vector<std::string> inputs;
  /// Column of time: numbers, or ISO 8601 dates. Default: `t`, `time`, `ds`, `date` or `timestamp`.
  std::string time;
  /// Column that says which series a row belongs to. Default: `unique_id` or `key`.
  std::string key;
  /// Columns with the standard deviation of each measured value's noise: one for each measured
  /// column, in their order, or one for all. Default: none, the noise is the same at every step.
  std::vector<std::string> noise_columns;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, DataOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit(
      "measure", o.measure,
      "measured columns, separated by commas (default: y, or y0, y1, ...; else the only column of "
      "numbers)");
  visit("truth", o.truth, "columns with the truth, for scoring only (default: those named true_*)");
  visit("inputs", o.inputs, "columns with control inputs (default: u, u0, u1, ...)");
  visit("time", o.time,
        "column of time: numbers or ISO 8601 (default: t, time, ds, date or timestamp)");
  visit("key", o.key, "column that tells the series of a file apart (default: unique_id or key)");
  visit("noise_columns", o.noise_columns,
        "columns with the standard deviation of each measured value (one for each measured column, "
        "or one for all)");
}

/// Reads a file; its format follows from the name: .csv (also .tsv, .txt), .npy, .npz (arrays y, x,
/// mask, t, u, y_std), .wav, .flac, .jsonl (also .ndjson). "-" is standard input, as CSV. Throws
/// IoError if the file cannot be read, DataError with file, line and column if its content cannot
/// be used.
Dataset read_dataset(const std::string& path, const DataOptions& options = {});

/// Throws ConfigError, naming the formats, unless data and estimates can be written to a file of
/// that name. For finding a mistake before long work.
void check_output_name(const std::string& path);

/// Writes a data set in the format of the name; "-" is standard output, as CSV. Truth gets names
/// that begin with `true_`, so that it is read back as such. Some formats hold less: .npy and audio
/// the measurements alone, audio one series; WAV 32-bit floats, FLAC 24 bits within [-1, 1] and
/// none missing. The file appears whole or not at all. Throws DataError for what the format cannot
/// hold.
void write_dataset(const std::string& path, const Dataset& data);

}  // namespace kalmia
