#include "infer/series_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/value_checks.hpp"
#include "infer/leak.hpp"
#include "infer/refine.hpp"
#include "kalman/classical/batch.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/text.hpp"

namespace kalmia::infer {
namespace {

using kalman::number_text;
using kalman::row_at;

// Steps that are worked on at a time.
constexpr std::size_t kChunkSteps = std::size_t{1} << 21;

std::string source(const Dataset& data) {
  return data.source.empty() ? std::string("the data") : data.source;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text;
}

void check_channels(const model::LearnedModel<float>& model, const Dataset& data) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  if (data.y_names.size() != M)
    throw DataError(source(data) + ": the data have " + std::to_string(data.y_names.size()) +
                    " measured columns, but the model has " + std::to_string(M) + " (" +
                    list(model.description().measured_names) + "); name them with --measure");
  for (const Series& series : data.series) {
    if (series.y.size() != static_cast<std::size_t>(series.steps) * M)
      throw DataError("series \"" + printable(series.key) + "\" has " +
                      std::to_string(series.y.size()) + " values, but " +
                      std::to_string(series.steps) + " steps of " + std::to_string(M) +
                      " channels");
    for (std::size_t i = 0; i < series.y.size(); ++i)
      if (std::isinf(series.y[i]))
        throw DataError(source(data) +
                        (series.key.empty() ? "" : ", series \"" + printable(series.key) + "\"") +
                        ", step " + std::to_string(i / M + 1) + ", column " +
                        printable(data.y_names[i % M]) +
                        ": the value is infinite; leave it empty to mark it as missing");
  }
}

bool has_steps(const Dataset& data) {
  return std::any_of(data.series.begin(), data.series.end(),
                     [](const Series& series) { return series.t.size() > 1; });
}

void check_time(const model::LearnedModel<float>& model, const Dataset& data) {
  model::check_time(data, model.description().time, model.description().dt, source(data));
}

void check_inputs(const model::LearnedModel<float>& model, const Dataset& data) {
  const std::vector<std::string>& needed = model.description().input_names;
  if (data.u_names.size() != needed.size())
    throw DataError(source(data) + ": the data have " + std::to_string(data.u_names.size()) +
                    " input columns, but the model has " + std::to_string(needed.size()) +
                    (needed.empty() ? std::string() : " (" + list(needed) + ")") +
                    "; name them with --inputs");
}

void check_noise(const model::LearnedModel<float>& model, const Dataset& data) {
  data::check_stds(data);
  if (data.std_names.empty() && !model.description().noise_std.empty())
    throw DataError(source(data) +
                    ": the model was fitted to data that say how noisy each value is, but these do "
                    "not; name the columns that do with --noise-columns");
}

const Dataset& checked(const model::LearnedModel<float>& model, const Dataset& data) {
  check_channels(model, data);
  check_time(model, data);
  check_inputs(model, data);
  check_noise(model, data);
  return data;
}

}  // namespace

SeriesRun::SeriesRun(const model::LearnedModel<float>& model, const Dataset& data, int threads)
    : model_(model),
      data_(checked(model, data)),
      team_(threads),
      scaled_(data, model.description().units, model.description().dt) {
  scaled_.set_weights(data, model.noise_std());
  for (int s = 0; s < scaled_.series_count(); ++s)
    measured_.add(scaled_.measured(scaled_.series(s)));
}

double SeriesRun::dt() const {
  return has_steps(data_) ? data_.step_size() : model_.description().dt;
}

std::string SeriesRun::name(int series) const {
  const std::string& key = data_.series[static_cast<std::size_t>(series)].key;
  return source(data_) + (key.empty() ? "" : ", series \"" + printable(key) + "\"");
}

// Series of similar length. A chunk is as wide as its longest series, which comes first.
std::vector<std::vector<int>> SeriesRun::chunks() const {
  const auto steps = [&](int s) { return data_.series[static_cast<std::size_t>(s)].steps; };
  std::vector<int> order(data_.series.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return steps(a) > steps(b); });
  std::vector<std::vector<int>> result;
  for (const int s : order) {
    if (result.empty() ||
        (result.back().size() + 1) * static_cast<std::size_t>(steps(result.back()[0])) >
            kChunkSteps)
      result.emplace_back();
    result.back().push_back(s);
  }
  return result;
}

void SeriesRun::for_each_pass(const RequestedMoments& wanted, const Take& take) {
  for (const std::vector<int>& chunk : chunks()) {
    std::vector<SeriesView> pieces;
    for (const int s : chunk) pieces.push_back(scaled_.view(scaled_.series(s)));
    FilterPass pass = run_pass(model_, pieces, wanted, team_, [&](int piece) {
      return name(chunk[static_cast<std::size_t>(piece)]);
    });
    take(pass, chunk);
  }
}

std::vector<SeriesView> SeriesRun::pieces_of(const std::vector<int>& series) const {
  std::vector<SeriesView> pieces;
  for (const int s : series) pieces.push_back(scaled_.view(scaled_.series(s)));
  return pieces;
}

void SeriesRun::smooth(FilterPass& pass, const std::vector<int>& series,
                       const SmoothOptions& options) {
  const auto name_of = [&](int piece) { return name(series[static_cast<std::size_t>(piece)]); };
  const bool networks =
      options.method == "auto"
          ? model_.smoother() != nullptr && options.iterations == 0 && !scaled_.weighted()
          : options.method != "linearized";
  if (networks) return smooth_by_networks(model_, pieces_of(series), pass, team_, name_of);
  smooth_pass(pass, team_, name_of);
  refine_pass(model_, pieces_of(series), pass,
              {options.iterations, model_.description().iterated_noise}, team_, name_of);
}

double SeriesRun::leak() {
  std::vector<int> all(static_cast<std::size_t>(scaled_.series_count()));
  std::iota(all.begin(), all.end(), 0);
  return measure_leak(model_, pieces_of(all), team_);
}

Estimates SeriesRun::empty_estimates() const {
  Estimates estimates;
  estimates.state_names = model_.expert().state_names;
  estimates.key_name = data_.key_name;
  estimates.time_name = data_.time_name;
  estimates.time_kind = data_.time_kind;
  estimates.measured_values = static_cast<std::size_t>(measured_.values);
  return estimates;
}

model::EvenSteps even_steps(const model::LearnedModel<float>& model, const Dataset& data) {
  return {checked(model, data), model.description().dt, model.most_empty_steps()};
}

StateEstimates room_for(const Series& series, int steps, int state_dim) {
  const auto rows = static_cast<std::size_t>(steps) * static_cast<std::size_t>(state_dim);
  StateEstimates result;
  result.key = series.key;
  result.steps = steps;
  result.mean.resize(rows);
  result.covariance.resize(rows * static_cast<std::size_t>(state_dim));
  return result;
}

}  // namespace kalmia::infer
