// The filters there are: what each is called and what its networks compute.
#pragma once

#include <span>
#include <string>

#include "heads/architecture.hpp"

namespace kalmia::model {

/// One row of the table in filters.cpp.
struct FilterEntry {
  heads::HeadKind head;
  const char* name;  ///< as users write it: ModelOptions::filter
};

std::span<const FilterEntry> filter_table();
const char* filter_name(heads::HeadKind head);
/// Throws ConfigError for a name that is not in the table.
heads::HeadKind filter_of_name(const std::string& name);

}  // namespace kalmia::model
