// Series as JSON lines: one object a row, such as {"t": 0.1, "y1": 1.2, "y2": null}.
#pragma once

#include <string>
#include <string_view>

#include "base/atomic_file.hpp"
#include "data/table.hpp"
#include "kalmia/data.hpp"

namespace kalmia::data {

/// Reads rows by the rules of CSV. The columns are all names that occur, in the order they first
/// do; one that an object lacks, or that is null, is missing. Text is read like the text of a CSV
/// field. Blank lines are passed over. `source` names the file in messages. Throws DataError.
Dataset read_json_lines(const std::string& source, std::string_view text,
                        const DataOptions& options);

/// Missing values become null, and so does what JSON has no number for.
void write_json_lines(const Table& table, AtomicFile& file);

}  // namespace kalmia::data
