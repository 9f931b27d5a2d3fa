// Rows as JSON and CSV, and rows of several seeds in one.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kalmia/reproduce.hpp"

namespace kalmia::reproduction {

using Json = nlohmann::ordered_json;

/// A figure that there is not, or that is not finite, is null.
Json optional_json(const std::optional<double>& value);

/// One row; `networks_kept` and `error` only where they say something.
Json row_json(const ReproduceRow& row);
/// The inverse. Throws nlohmann::json::exception for an object that is no row.
ReproduceRow row_from_json(const Json& json);

/// A header, and one line a row; empty fields where there is no figure. Texts are quoted where need
/// be.
std::string rows_csv(const std::vector<ReproduceRow>& rows);

/// A text as a field of CSV: quoted where need be.
std::string csv_text(const std::string& text);

/// The pieces of the trajectories side by side: `step`, then `<name>_<channel>` columns.
std::string trajectories_csv(const std::vector<ReproduceTrajectory>& trajectories,
                             const std::vector<std::string>& channels);

/// Median (the mean of the two in the middle), least and largest of the values that there are.
ReproduceSpread spread_of(std::vector<double> values);

/// One for each method and size of the rows, in their order.
std::vector<ReproduceSummary> summarise(const std::vector<ReproduceRow>& rows);

}  // namespace kalmia::reproduction
