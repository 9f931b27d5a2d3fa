// What a run has finished, on disk as soon as it is: a killed run goes on where it was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reproduce/method.hpp"
#include "reproduce/rows.hpp"

namespace kalmia::reproduction {

/// A cell with its results.
struct FinishedCell {
  std::string task;      ///< the name of its first method
  std::string settings;  ///< Task::settings
  int n = 0;
  std::uint64_t seed = 0;
  std::vector<Outcome> outcomes;
};

/// JSON lines: first what all cells have in common, then one line a cell. A line that a kill tore
/// apart, which can only be the last, is dropped. One run at a time may have it open.
class Journal {
 public:
  /// Opens `path`, or makes it. Throws ConfigError if it belongs to a run of another kind (`kind`,
  /// an object, is not that of the file) or to one that is still running, IoError, DataError if a
  /// line before the last is no cell.
  /// `fresh`: what is there is thrown away, whatever it is.
  Journal(std::string path, const Json& kind, bool fresh = false);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Those that were there when it was opened.
  const std::vector<FinishedCell>& finished() const { return finished_; }

  /// Appends, and returns when it is on disk.
  void add(const FinishedCell& cell);

 private:
  void read(const Json& kind);
  void append(const std::string& line);

  std::string path_;
  int file_ = -1;
  std::vector<FinishedCell> finished_;
};

}  // namespace kalmia::reproduction
