// Comma-separated values: data sets from them, tables to them.
#pragma once

#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "data/table.hpp"
#include "kalmia/data.hpp"

namespace kalmia::data {

/// Reads a text whose first line names the columns, separated by commas, semicolons or tabs. Blank
/// lines may stand at the end; in a file of one column a blank line before the end is a missing
/// value. Only the columns that are asked for are looked at. `source` names the file in messages.
Dataset read_csv(const std::string& source, std::string_view text, const DataOptions& options);

/// Writes header and rows. Numbers take the shortest form that reads back the same, missing ones an
/// empty field; names and keys are quoted where they must be.
void write_csv(const Table& table, AtomicFile& file);

}  // namespace kalmia::data
