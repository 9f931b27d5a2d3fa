/// \file
/// What `kalmia stream` answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kalmia/listing.hpp"

namespace kalmia::cli {

/// Collects answers, one line each, and sends them to standard output.
class StreamAnswers {
 public:
  /// `listing`: what answers hold. `keyed`: they begin with the key. `json`: they are JSON objects,
  /// else CSV, whose names and keys are shown as `printable` has them where people read them: on a
  /// terminal.
  StreamAnswers(Listing listing, bool keyed, bool json);

  /// The line that names the columns.
  void add_header();
  /// The moments of the stream's last step.
  void add(std::string_view key, const Stream& stream);
  void add_empty() { text_ += '\n'; }
  /// Sends all. Throws IoError.
  void flush();

 private:
  void add_csv(std::string_view key);
  void add_json(std::string_view key, double log_likelihood);
  void add_json_value(std::string_view label, double number);
  /// Value i of the means followed by the standard deviations.
  double moment(std::size_t i) const;

  Listing listing_;
  std::vector<double> mean_, covariance_;  ///< of what is listed
  bool keyed_;
  bool json_;
  bool terminal_;
  std::vector<std::string> names_;   ///< what is listed, then the standard deviations
  std::vector<std::string> labels_;  ///< the names as JSON writes them, each with its colon
  std::string text_;
};

}  // namespace kalmia::cli
