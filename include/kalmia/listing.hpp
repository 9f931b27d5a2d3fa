/// \file
/// What files of estimates list: what is measured, under the names of its columns, then states.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kalmia/model.hpp"

namespace kalmia {

struct ListOptions {
  /// Every state, not those of equations alone that the user wrote.
  bool all_states = false;
  /// Under the measured columns' names stand measurements as they would be: their covariances hold
  /// the measurement noise as well (of Student-t noise its variance nu / (nu - 2) R; where it has
  /// none, 1.96 standard deviations hold 95 % of it).
  bool measurements = false;
  /// What each part of a sum adds to each channel, as `<channel>:<part>`; the parts of a channel
  /// add up to its value. Its mean is in the first part that nothing pulls back (level, trend); if
  /// it has none, `<channel>:mean` is the mean, a constant, and all parts vary about zero. A model
  /// whose prior is no sum, nor a motion of each channel, is refused, as is one of a recurrent
  /// filter. A recurrent smoother knows no parts either (Model::smooths_by_map).
  bool parts = false;
};

/// From the moments of a model's states to those of what is listed; the decomposition of a series
/// is `Listing(model, {.parts = true}).of(model.smooth(data))`:
///
///   measured columns   h(x) with H P H', H at the mean (Model::measured)
///   states             those of equations that the user wrote, or all, as they are
///   parts              of a sum, where they are asked for: what each adds to each channel
///
/// so that the columns are the same whichever of the maps with a name was taken. A state that is
/// what the column of its name measures is not listed twice. One that is something else gets
/// `_state` added to its name.
class Listing {
 public:
  explicit Listing(const Model& model, const ListOptions& options = {});
  ~Listing();
  Listing(Listing&&) noexcept;
  Listing& operator=(Listing&&) noexcept;

  /// Of what is listed, K in all, the measured ones first.
  const std::vector<std::string>& names() const;

  /// The moments (K, K x K) of what is listed of one state (N, N x N), in the user's units. An
  /// empty covariance stays empty. `y_std`: deviations of the noise of each measured value at that
  /// step, as Series::y_std; empty: the usual ones.
  void at(std::span<const double> mean, std::span<const double> covariance,
          std::span<double> listed_mean, std::span<double> listed_covariance,
          std::span<const double> y_std = {}) const;
  /// The same of estimates that the model gave. `data`: those they are of, for their y_std; without
  /// them, and for forecasts, the noise is the usual one.
  Estimates of(const Estimates& states, const Dataset* data = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kalmia
