#include "model/filters.hpp"

#include <algorithm>

#include "base/alternatives.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

using heads::HeadKind;

constexpr FilterEntry kTable[] = {
    {.head = HeadKind::Recursion, .name = "recursive"},
    {.head = HeadKind::Direct, .name = "recurrent"},
    {.head = HeadKind::Diagonal, .name = "diagonal"},
};

}  // namespace

std::span<const FilterEntry> filter_table() { return kTable; }

const char* filter_name(HeadKind head) {
  const auto* found = std::ranges::find(kTable, head, &FilterEntry::head);
  if (found == std::end(kTable)) throw ConfigError("model: its networks describe no filter");
  return found->name;
}

HeadKind filter_of_name(const std::string& name) {
  for (const FilterEntry& each : kTable)
    if (name == each.name) return each.head;
  throw ConfigError("filter = \"" + name + "\", but it must be " + alternatives(kTable));
}

}  // namespace kalmia::model
