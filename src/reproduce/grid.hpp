// The cells of an experiment: what is to be run, in which order, and how long it may take.
#pragma once

#include <cstdint>
#include <vector>

#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {

/// A task at a size with a seed. A task that learns nothing has one cell for each seed, with n = 0.
struct Cell {
  std::size_t task = 0;  ///< of Experiment::tasks
  int n = 0;
  std::uint64_t seed = 0;
  double cost = 0;  ///< expected seconds
};

/// All cells of the options (resolved), the longest first, so that the threads finish together.
std::vector<Cell> make_grid(const Experiment& experiment, const ReproduceOptions& options);

/// Expected time until the last cell is done, from what the finished ones took compared with what
/// was expected of them; as expected before any has finished.
class TimeLeft {
 public:
  /// `threads` cells run side by side.
  explicit TimeLeft(int threads) : threads_(threads) {}

  void finished(double cost, double seconds);
  /// `running`: cells that have begun, `waiting`: cells that have not.
  struct Begun {
    double cost = 0, elapsed = 0;
  };
  double seconds(const std::vector<Begun>& running, const std::vector<double>& waiting) const;

 private:
  int threads_;
  double cost_ = 0, seconds_ = 0;
};

}  // namespace kalmia::reproduction
