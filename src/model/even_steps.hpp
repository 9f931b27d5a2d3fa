// Long steps of a series as the empty steps that they stand for.
#pragma once

#include <optional>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::model {

/// A step of more than this many usual ones is cut up.
inline constexpr double kLongestStep = 1.5;
/// A step of more usual ones than this is a mistake in the time column, or another unit of time.
inline constexpr int kMostEmptySteps = 1'000'000;

/// Into how many steps one of `ratio` usual lengths is cut: all but the last are as long as usual,
/// the last is 0.5 to 1.5 times as long, and 1 if the whole is a multiple. At most `most` are
/// empty; the last is then as long as it takes.
int parts_of_step(double ratio, int most);

/// How many empty steps one may become. `any_step`: the map holds for a step of any length, so that
/// nothing has to be cut up; networks have learned steps about as long as usual, and rest after
/// the first of a gap.
int most_empty_steps(bool any_step, bool networks);

/// A data set with its long steps cut up. In an empty step nothing is measured, and inputs stay as
/// they are.
class EvenSteps {
 public:
  /// `dt`: the usual length of a step. `most`: empty steps that one may become. Throws DataError
  /// that names the place if a step is longer than kMostEmptySteps usual ones and would have to be
  /// cut up whole (`most` as large). `data` must outlive this object.
  EvenSteps(const Dataset& data, double dt, int most);

  const Dataset& data() const { return changed_ ? *changed_ : data_; }
  bool changed() const { return changed_.has_value(); }
  /// The rows of a series' own steps out of `values`, which has `width` numbers a step.
  std::vector<double> own_rows(std::size_t series, const std::vector<double>& values,
                               std::size_t width) const;

 private:
  const Dataset& data_;
  std::optional<Dataset> changed_;
  std::vector<std::vector<int>> place_;  // of each series' steps among those of data()
};

}  // namespace kalmia::model
