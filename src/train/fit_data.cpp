#include "train/fit_data.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "data/value_checks.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "kalmia/text.hpp"
#include "model/outliers.hpp"
#include "model/state_size.hpp"
#include "prior/expert.hpp"

namespace kalmia::train {
namespace {

const Dataset& checked(const Dataset& data) {
  if (data.y_names.empty()) throw DataError("fit: the data have no measured columns");
  if (data.y_names.size() > prior::kMostStates)
    throw ConfigError((data.source.empty() ? std::string("the data") : data.source) + ": " +
                      std::to_string(data.y_names.size()) +
                      " measured columns, but a model has at most " +
                      std::to_string(prior::kMostStates) + "; name fewer of them with --measure");
  for (const Series& series : data.series)
    if (series.y.size() != static_cast<std::size_t>(series.steps) * data.y_names.size())
      throw DataError("fit: series \"" + printable(series.key) + "\" has " +
                      std::to_string(series.y.size()) + " values, but " +
                      std::to_string(series.steps) + " steps of " +
                      std::to_string(data.y_names.size()) + " channels");
  data::check_stds(data);
  return data;
}

void check_validation(const Dataset& data, const Dataset& validation) {
  const std::string place =
      "validation data" + (validation.source.empty() ? "" : " " + validation.source);
  const auto same = [&](const char* what, const std::vector<std::string>& found,
                        const std::vector<std::string>& rule) {
    if (found != rule)
      throw DataError(place + ": " + what + " are " + name_list(found) +
                      ", but they must be those of the data, " + name_list(rule));
  };
  same("measured columns", validation.y_names, data.y_names);
  same("inputs", validation.u_names, data.u_names);
  same("noise columns", validation.std_names, data.std_names);
  const auto time_axis = [](const Dataset& of) {
    return of.time_kind == TimeKind::None     ? "no time axis"
           : of.time_kind == TimeKind::Number ? "times that are numbers"
                                              : "times that are dates";
  };
  if (validation.time_kind != data.time_kind)
    throw DataError(place + ": has " + time_axis(validation) + ", but it must have, as the data, " +
                    time_axis(data));
  model::check_time(validation, data.time_kind, data.step_size(), place);
  checked(validation);
  std::ptrdiff_t values = 0;
  for (const Series& series : validation.series)
    values += std::count_if(series.y.begin(), series.y.end(), [](double y) { return y == y; });
  if (static_cast<double>(values) < kFewestHeldOut)
    throw DataError(place + ": " + std::to_string(values) + " measured values, but at least " +
                    kalman::number_text(kFewestHeldOut) + " are needed to choose a model by");
}

const Dataset& checked(const Dataset& data, const Dataset& validation) {
  checked(data);
  check_validation(data, validation);
  return data;
}

std::size_t empty_ends_of(const Dataset& data) {
  const std::size_t M = data.y_names.size();
  std::size_t steps = 0;
  for (const Series& series : data.series) {
    const auto last = std::find_if(series.y.rbegin(), series.y.rend(),
                                   [](double value) { return !std::isnan(value); });
    steps += static_cast<std::size_t>(last - series.y.rbegin()) / M;
  }
  return steps;
}

// How many empty steps a long one becomes.
int most_empty_steps(const model::ModelSpec& spec) {
  const bool any_step = model::any_step(spec.prior);
  const bool exact = !(spec.departure.std > 0.0) && spec.departure.degree <= 1;
  return model::most_empty_steps(any_step && exact && spec.networks.recursive(),
                                 spec.networks.any());
}

}  // namespace

FitData::FitData(const Dataset& data, const model::ModelSpec& spec)
    : drive_(model::drive_statistics(checked(data))),
      even_(data, drive_.dt, most_empty_steps(spec)),
      empty_end_steps_(empty_ends_of(data)) {}

FitData::FitData(const Dataset& data, const Dataset& validation, const model::ModelSpec& spec)
    : FitData(checked(data, validation), spec) {
  const model::EvenSteps even(validation, drive_.dt, most_empty_steps(spec));
  joined_ = even_.data();
  joined_->series.insert(joined_->series.end(), even.data().series.begin(),
                         even.data().series.end());
  empty_end_steps_ += empty_ends_of(validation);
}

namespace {

// The column `channel` of rows of `width` numbers.
std::vector<double> column_of(const std::vector<double>& rows, std::size_t width,
                              std::size_t channel) {
  std::vector<double> column;
  for (std::size_t i = channel; i < rows.size(); i += width) column.push_back(rows[i]);
  return column;
}

Dataset one_channel(const Dataset& data, std::size_t channel, bool outliers) {
  Dataset one;
  one.time_kind = data.time_kind;
  one.source = data.source;
  one.y_names = {data.y_names[channel]};
  if (!data.std_names.empty()) one.std_names = {data.std_names[channel]};
  one.u_names = data.u_names;
  for (const Series& from : data.series) {
    Series& to = one.series.emplace_back();
    to.key = from.key;
    to.steps = from.steps;
    to.t = from.t;
    to.u = from.u;
    to.y = column_of(from.y, data.y_names.size(), channel);
    if (!data.std_names.empty()) to.y_std = column_of(from.y_std, data.y_names.size(), channel);
  }
  return outliers ? one : model::isolated_outliers_missing(std::move(one));
}

}  // namespace

FitData FitData::of_channel(std::size_t channel, bool outliers) const {
  FitData one = *this;
  one.channel_ = one_channel(training(), channel, outliers);
  if (joined_) one.joined_ = one_channel(*joined_, channel, outliers);
  return one;
}

std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text.empty() ? "none" : text;
}

namespace {

// With fewer measured values there is nothing to hold out.
constexpr double kFewestValues = 500;

// Steps up to the last that has a value: arrays of series are often padded.
int measured_length(const Series& series, std::size_t M) {
  std::size_t size = series.y.size();
  while (size > 0 && std::isnan(series.y[size - 1])) --size;
  return static_cast<int>((size + M - 1) / M);
}

double measured_values(const Dataset& data, const StepRange& stretch) {
  const auto M = static_cast<std::ptrdiff_t>(data.meas_dim());
  const auto y = data.series[static_cast<std::size_t>(stretch.series)].y.begin();
  return static_cast<double>(std::count_if(y + stretch.begin * M, y + stretch.end * M,
                                           [](double value) { return !std::isnan(value); }));
}

void hold_out_share(const Dataset& data, const std::vector<int>& lengths,
                    const TrainOptions& options, Holdout& holdout) {
  holdout.little_data = holdout.values < kFewestValues;
  if (!holdout.little_data) {
    holdout.split = split_data(lengths, options.holdout, options.seed);
    double held_out = 0;
    for (const HeldOut& each : holdout.split.held_out)
      held_out += measured_values(data, {each.stretch.series, each.score_from, each.stretch.end});
    holdout.little_data = held_out < kFewestHeldOut || holdout.values - held_out < kFewestHeldOut;
  }
  if (holdout.little_data) holdout.split = split_data(lengths, 0, options.seed);
}

}  // namespace

std::size_t Holdout::held_out_steps() const {
  std::size_t steps = 0;
  for (const HeldOut& each : split.held_out)
    steps += static_cast<std::size_t>(each.stretch.end - each.score_from);
  return steps;
}

Holdout choose_holdout(const FitData& data, const std::vector<model::ChannelStatistics>& channels,
                       const TrainOptions& options) {
  std::vector<int> lengths;
  for (const Series& series : data.all().series)
    lengths.push_back(measured_length(series, data.all().y_names.size()));
  Holdout holdout;
  for (const auto& channel : channels) holdout.values += static_cast<double>(channel.measured);
  if (data.has_validation()) {
    holdout.split = split_series(lengths, static_cast<int>(data.training().series.size()));
    holdout.little_data = holdout.values < kFewestHeldOut;
  } else {
    hold_out_share(data.all(), lengths, options, holdout);
  }
  return holdout;
}

}  // namespace kalmia::train
