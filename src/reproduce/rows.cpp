#include "reproduce/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kalmia::reproduction {
namespace {

// The figures of a row: (name, member).
template <typename Row, typename Visitor>
void visit_figures(Row& row, Visitor&& visit) {
  visit("state_mse", row.state_mse);
  visit("position_mse", row.position_mse);
  visit("nees", row.nees);
  visit("coverage95", row.coverage95);
}

template <typename Row, typename Visitor>
void visit_extras(Row& row, Visitor&& visit) {
  visit("self_supervised_error", row.self_supervised_error);
  visit("reducible_error", row.reducible_error);
  visit("prediction_error", row.prediction_error);
  visit("reducible_error_std", row.reducible_error_std);
  visit("held_out", row.held_out);
  visit("leak", row.leak);
}

}  // namespace

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

Json optional_json(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json row_json(const ReproduceRow& row) {
  Json json = {{"method", row.method}, {"n", row.n}, {"seed", row.seed}};
  const auto put = [&json](const char* name, const std::optional<double>& value) {
    json[name] = optional_json(value);
  };
  visit_figures(row, put);
  json["seconds"] = row.seconds;
  visit_extras(row, put);
  if (row.networks_kept) json["networks_kept"] = *row.networks_kept;
  if (!row.error.empty()) json["error"] = row.error;
  return json;
}

ReproduceRow row_from_json(const Json& json) {
  ReproduceRow row;
  json.at("method").get_to(row.method);
  json.at("n").get_to(row.n);
  json.at("seed").get_to(row.seed);
  json.at("seconds").get_to(row.seconds);
  const auto take = [&json](const char* name, std::optional<double>& value) {
    if (const Json& found = json.at(name); !found.is_null()) value = found.get<double>();
  };
  visit_figures(row, take);
  visit_extras(row, take);
  if (json.contains("networks_kept")) row.networks_kept = json.at("networks_kept").get<bool>();
  if (json.contains("error")) json.at("error").get_to(row.error);
  return row;
}

std::string rows_csv(const std::vector<ReproduceRow>& rows) {
  std::string text = "method,n,seed";
  const ReproduceRow none;
  const auto name_of = [&text](const char* name, const auto&) { text += fmt::format(",{}", name); };
  visit_figures(none, name_of);
  text += ",seconds";
  visit_extras(none, name_of);
  text += ",networks_kept,error\n";
  for (const ReproduceRow& row : rows) {
    text += fmt::format("{},{},{}", row.method, row.n, row.seed);
    const auto put = [&text](const char*, const std::optional<double>& value) {
      text += value && std::isfinite(*value) ? fmt::format(",{}", *value) : ",";
    };
    visit_figures(row, put);
    text += fmt::format(",{:.3f}", row.seconds);
    visit_extras(row, put);
    text += fmt::format(",{},{}\n", row.networks_kept ? (*row.networks_kept ? "1" : "0") : "",
                        csv_text(row.error));
  }
  return text;
}

std::string trajectories_csv(const std::vector<ReproduceTrajectory>& trajectories,
                             const std::vector<std::string>& channels) {
  std::string text = "step";
  const std::size_t M = channels.size();
  std::size_t steps = 0;
  for (const ReproduceTrajectory& each : trajectories) {
    for (const std::string& channel : channels) text += "," + each.name + "_" + channel;
    steps = std::max(steps, each.values.size() / M);
  }
  text += "\n";
  for (std::size_t k = 0; k < steps; ++k) {
    text += std::to_string(k);
    for (const ReproduceTrajectory& each : trajectories)
      for (std::size_t i = k * M; i < (k + 1) * M; ++i)
        text += i < each.values.size() ? fmt::format(",{}", each.values[i]) : ",";
    text += "\n";
  }
  return text;
}

namespace {

using Member = std::optional<double> ReproduceRow::*;

ReproduceSpread spread_over(const std::vector<const ReproduceRow*>& rows, Member figure) {
  std::vector<double> values;
  for (const ReproduceRow* row : rows)
    if ((row->*figure) && std::isfinite(*(row->*figure))) values.push_back(*(row->*figure));
  return spread_of(std::move(values));
}

}  // namespace

ReproduceSpread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
  return {median, values.front(), values.back()};
}

std::vector<ReproduceSummary> summarise(const std::vector<ReproduceRow>& rows) {
  std::vector<ReproduceSummary> summaries;
  std::vector<std::vector<const ReproduceRow*>> groups;
  for (const ReproduceRow& row : rows) {
    const auto found =
        std::find_if(summaries.begin(), summaries.end(), [&row](const ReproduceSummary& each) {
          return each.method == row.method && each.n == row.n;
        });
    const auto at = static_cast<std::size_t>(found - summaries.begin());
    if (found == summaries.end()) {
      summaries.push_back({row.method, row.n, 0, {}, {}, {}, {}});
      groups.emplace_back();
    }
    groups[at].push_back(&row);
  }
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    ReproduceSummary& each = summaries[i];
    each.seeds = static_cast<int>(std::count_if(
        groups[i].begin(), groups[i].end(), [](const auto* row) { return row->error.empty(); }));
    each.state_mse = spread_over(groups[i], &ReproduceRow::state_mse);
    each.position_mse = spread_over(groups[i], &ReproduceRow::position_mse);
    each.nees = spread_over(groups[i], &ReproduceRow::nees).median;
    each.coverage95 = spread_over(groups[i], &ReproduceRow::coverage95).median;
  }
  return summaries;
}

}  // namespace kalmia::reproduction
