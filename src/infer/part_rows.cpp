#include "infer/part_rows.hpp"

#include <algorithm>

#include "infer/measured_map.hpp"
#include "kalmia/error.hpp"
#include "model/filters.hpp"
#include "prior/parts_text.hpp"

namespace kalmia::infer {
namespace {

using prior::ChannelPart;
using prior::Part;

void require_parts(const model::ModelDescription& description) {
  const prior::PriorEntry& prior = prior::prior_entry(description.prior.kind);
  if (prior.family != prior::PriorFamily::Motion && !prior::adds_parts(description.prior))
    throw ConfigError(
        "parts: the model's prior is " + std::string(prior.name) +
        ", but it must be a sum of parts, as trend + season(24) or lorenz + level is, "
        "or a motion of each channel, as constant-velocity is");
  if (!description.recursive())
    throw ConfigError("parts: a " + std::string(model::filter_name(description.head)) +
                      " filter estimates what is measured, not the parts of it; fit with filter = "
                      "recursive");
}

// The rows of one channel, from what it measures: y + H x.
class ChannelRows {
 public:
  ChannelRows(const model::ModelDescription& description, std::size_t channel, double y,
              const double* H)
      : x_offset_(description.units.x_offset),
        channel_(description.measured_names[channel]),
        mean_(y),
        H_(H) {}

  // Beside equations, called `map`.
  std::vector<PartRow> beside(const std::string& map, int channel,
                              const std::vector<ChannelPart>& own,
                              const prior::DataAxes& axes) const {
    std::vector<PartRow> rows = rows_of(own, axes);
    PartRow rest{channel_ + ":" + map, 0, std::vector<double>(x_offset_.size()), channel};
    for (const PartRow& each : rows)
      for (std::size_t n = 0; n < rest.row.size(); ++n) rest.row[n] -= each.row[n];
    rows.insert(rows.begin(), std::move(rest));
    return rows;
  }

  std::vector<PartRow> of(const std::vector<ChannelPart>& own, const prior::DataAxes& axes) {
    std::vector<PartRow> rows = rows_of(own, axes);
    const auto base = std::ranges::find_if(
        own, [](const ChannelPart& each) { return prior::carries_level(each.part); });
    if (base != own.end()) {
      rows[static_cast<std::size_t>(base - own.begin())].offset = mean_;
      return rows;
    }
    for (PartRow& each : rows) {
      for (std::size_t n = 0; n < each.row.size(); ++n) each.offset -= each.row[n] * x_offset_[n];
      mean_ -= each.offset;
    }
    rows.insert(rows.begin(), {channel_ + ":mean", mean_, std::vector<double>(x_offset_.size())});
    return rows;
  }

 private:
  std::vector<PartRow> rows_of(const std::vector<ChannelPart>& own,
                               const prior::DataAxes& axes) const {
    std::vector<Part> parts;
    for (const ChannelPart& each : own) parts.push_back(each.part);
    const std::vector<std::string> names = prior::part_names(parts, axes);
    std::vector<PartRow> rows;
    for (std::size_t p = 0; p < own.size(); ++p)
      rows.push_back({channel_ + ":" + names[p], 0, row_of(own[p])});
    return rows;
  }

  std::vector<double> row_of(const ChannelPart& each) const {
    std::vector<double> row(x_offset_.size());
    const auto begin = static_cast<std::size_t>(each.begin);
    std::copy_n(H_ + begin, prior::part_states(each.part),
                row.begin() + static_cast<std::ptrdiff_t>(begin));
    return row;
  }

  const std::vector<double>& x_offset_;
  const std::string& channel_;
  double mean_;  // of what is in no part yet
  const double* H_;
};

}  // namespace

std::vector<PartRow> part_rows(const model::LearnedModel<float>& model) {
  const model::ModelDescription& description = model.description();
  require_parts(description);
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const prior::DataAxes axes{description.measured_names, description.dt,
                             description.time == TimeKind::Date};
  const prior::Expert& expert = model.expert();
  const std::vector<ChannelPart> parts =
      prior::channel_parts(description.prior, model.meas_dim(), expert.map_states);
  std::vector<double> origin(N), y(M), H(M * N);
  MeasuredMap(model).at(origin.data(), y.data(), H.data());
  std::vector<PartRow> rows;
  for (std::size_t m = 0; m < M; ++m) {
    std::vector<ChannelPart> own;
    std::ranges::copy_if(parts, std::back_inserter(own), [m](const ChannelPart& each) {
      return each.channel == static_cast<int>(m);
    });
    ChannelRows channel(description, m, y[m], H.data() + m * N);
    for (PartRow& row : expert.map_states > 0
                            ? channel.beside(expert.parts[0], static_cast<int>(m), own, axes)
                            : channel.of(own, axes))
      rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kalmia::infer
