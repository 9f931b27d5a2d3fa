#include "model/filters.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

using heads::HeadKind;

constexpr FilterEntry kFilters[] = {
    {.head = HeadKind::Recursion,
     .name = "recursive",
     .meaning = "how a state follows from the one before"},
    {.head = HeadKind::Direct,
     .name = "recurrent",
     .meaning = "the state, directly from what was measured"},
    {.head = HeadKind::Diagonal, .name = "diagonal", .meaning = "recurrent, without correlations"},
};

}  // namespace

std::span<const FilterEntry> filter_table() { return kFilters; }

const FilterEntry* find_filter(const std::string& name) {
  const auto* found = std::ranges::find(kFilters, std::string_view(name), &FilterEntry::name);
  return found == std::end(kFilters) ? nullptr : found;
}

std::string_view filter_name(HeadKind head) {
  const auto* found = std::ranges::find(kFilters, head, &FilterEntry::head);
  if (found == std::end(kFilters)) throw ConfigError("model: its networks describe no filter");
  return found->name;
}

HeadKind filter_of_name(const std::string& name) {
  if (const FilterEntry* entry = find_filter(name)) return entry->head;
  throw ConfigError("filter = \"" + name + "\", but it must be " +
                    name_rule(name, choices_in(filter_table())));
}

}  // namespace kalmia::model
