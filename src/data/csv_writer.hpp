// Tables as comma-separated values.
#pragma once

#include "base/atomic_file.hpp"
#include "data/table.hpp"

namespace kalmia::data {

/// Writes header and rows. Numbers take the shortest form that reads back the same, missing ones an
/// empty field; names and keys are quoted where they must be.
void write_csv(const Table& table, AtomicFile& file);

}  // namespace kalmia::data
