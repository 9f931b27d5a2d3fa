#include "reproduce/summary.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::reproduction {
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
