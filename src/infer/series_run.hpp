// A data set on its way through a model: checked against it, in its units, taken chunk by chunk.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "infer/filter_pass.hpp"
#include "infer/scaled_data.hpp"
#include "kalmia/model.hpp"
#include "model/even_steps.hpp"

namespace kalmia::infer {

class SeriesRun {
 public:
  /// Throws DataError if the data have not the model's channels, inputs and time, or an infinite
  /// value.
  /// Both must outlive the run.
  SeriesRun(const model::LearnedModel<float>& model, const Dataset& data, int threads);

  /// Filters all series, some at a time so that memory stays bounded, and hands over each pass with
  /// the series in it.
  using Take = std::function<void(FilterPass& pass, const std::vector<int>& series)>;
  void for_each_pass(const RequestedMoments& wanted, const Take& take);
  /// The smoother over a pass, with messages that name these series: the one that `options` ask
  /// for.
  void smooth(FilterPass& pass, const std::vector<int>& series, const SmoothOptions& options);

  /// The leak of the trained smoother over all series.
  double leak();

  /// Estimates without series yet: names, and how many values were measured.
  Estimates empty_estimates() const;
  /// The log-likelihood of all measured values in the user's units, from the engine's nll.
  double log_likelihood(double nll) const { return measured_.log_likelihood(nll); }
  /// Time between steps: the data's, or the model's where no series has two of them.
  double dt() const;
  /// How messages call a series.
  std::string name(int series) const;
  const double* y(int series, int step) const { return scaled_.at(series, step); }
  double dt_ratio(int series, int step) const {
    const double* ratio = scaled_.dt_ratio(series, step);
    return ratio == nullptr ? 1 : *ratio;
  }
  /// Weights of the noise, M numbers; null: all are 1.
  const double* weight(int series, int step) const { return scaled_.weight(series, step); }
  /// A whole series, in the model's units.
  SeriesView view(int series) const { return scaled_.view(scaled_.series(series)); }
  const double* inputs(int series, int step) const { return scaled_.inputs(series, step); }
  ThreadTeam& team() { return team_; }

 private:
  std::vector<std::vector<int>> chunks() const;
  std::vector<SeriesView> pieces_of(const std::vector<int>& series) const;

  const model::LearnedModel<float>& model_;
  const Dataset& data_;
  ThreadTeam team_;
  ScaledData scaled_;
  Measured measured_;
};

/// The data with their long steps cut up, as the model needs them. Throws what SeriesRun throws.
model::EvenSteps even_steps(const model::LearnedModel<float>& model, const Dataset& data);

/// Room for the moments of `steps` steps.
StateEstimates room_for(const Series& series, int steps, int state_dim);

}  // namespace kalmia::infer
