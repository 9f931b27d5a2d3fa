// Data for the tests of the smoother's training, and a filter with a small smoother.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/fusion_feed.hpp"
#include "train/member_smoothers.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {

/// A static model of positions with noise of variance 1, in the model's units.
struct FusionFixture {
  Case c;
  std::unique_ptr<model::LearnedModel<float>> model;
  ThreadTeam team{1};

  explicit FusionFixture(const Dataset& data) : c(data, "constant-position") {
    StaticResult start;
    start.description = c.description;
    const auto M = static_cast<std::size_t>(data.meas_dim());
    start.output.assign(M * M + M + M * (M + 1) / 2, 0.5);
    std::fill_n(start.output.begin(), M * M + M, 0.0);
    start.initial_e.assign(M, 0);
    start.initial_L.assign(M * (M + 1) / 2, 3);
    start.R.assign(M * M, 0.0);
    for (std::size_t m = 0; m < M; ++m) start.R[m * (M + 1)] = 1;
    model = start.alone<float>();
    const model::SmootherSizes sizes{4, {}};
    const heads::Architecture architecture(
        model::smoother_options(model->description(), model->expert(), sizes));
    std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
    heads::initialise<float>(architecture, 1, 1, 1, parameters.data());
    model->set_smoother(sizes, parameters);
  }

  FusionData data(std::vector<StepRange> stretches, double gaps = 0, std::uint64_t seed = 1) {
    return {*model, c.scaled, std::move(stretches), gaps, seed, team};
  }
  // The value of a step in the user's units.
  double user(double y) const {
    const model::Units& units = c.description.units;
    return units.y_offset[0] + units.y_scale[0] * y;
  }
};

/// One channel; a value tells which step of which series it is.
inline Dataset numbered(const std::vector<int>& lengths) {
  std::vector<std::vector<double>> all;
  for (const int steps : lengths) {
    const double first = 10000.0 * static_cast<double>(all.size() + 1);
    std::vector<double>& y = all.emplace_back();
    for (int k = 0; k < steps; ++k) y.push_back(first + k);
  }
  return dataset_of(all);
}

/// A static filter, and all that training a smoother for it needs.
struct SmootherTraining {
  Case c;
  FitOptions options;
  Split split;
  std::unique_ptr<model::LearnedModel<float>> model;
  double filter_held_out = 0;
  NoiseBound bound;
  FitSmootherSummary summary;
  ThreadTeam team{1};

  SmootherTraining(const Dataset& data, const std::string& kind, int updates, double tails = 0)
      : c(data, "constant-velocity") {
    c.description.tails = tails;
    options.model.effort = "quick";
    options.model.smoother = kind;
    options.model.hidden = 8;
    options.model.decoder = {8};
    options.train.updates = updates;
    options.train.batch = 32;
    options.train.patience = 1000;
    options.train.learning_rate = 1e-2;
    std::vector<int> lengths;
    for (const Series& series : data.series) lengths.push_back(series.steps);
    split = split_data(lengths, 0.2, 1);
    model =
        fit_static(c.description, c.channels, {}, c.scaled, split.training, team).alone<float>();
    filter_held_out = held_out_loss(*model, c.scaled, split.held_out, team);
  }

  TrainingContext context(ThreadTeam& with, const Report& progress = {}) const {
    return {c.scaled, split, parse_options(options), with, progress, bound};
  }
  void train(ThreadTeam& with, const Report& progress = {}) {
    summary = train_smoother(context(with, progress), *model, filter_held_out);
  }
};

}  // namespace kalmia::train
