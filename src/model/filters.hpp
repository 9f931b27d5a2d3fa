// The filters there are: what each is called and what its networks compute.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "heads/architecture.hpp"

namespace kalmia::model {

/// One row of the table in filters.cpp.
struct FilterEntry {
  heads::HeadKind head;
  std::string_view name;     ///< as users write it: ModelOptions::filter
  std::string_view meaning;  ///< for those who choose
};

std::span<const FilterEntry> filter_table();
/// Null if no filter has that name.
const FilterEntry* find_filter(const std::string& name);
std::string_view filter_name(heads::HeadKind head);
/// Throws ConfigError for a name that is not in the table.
heads::HeadKind filter_of_name(const std::string& name);

}  // namespace kalmia::model
