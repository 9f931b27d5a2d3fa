#include "expr/symbol_table.hpp"

#include <algorithm>

#include "expr/quote.hpp"
#include "kalmia/error.hpp"

namespace kalmia::expr {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

void SymbolTable::add(const std::string& name, Node node, const std::string& place) {
  const auto refuse = [&](const std::string& rule) {
    throw ConfigError(place + ": the name " + quoted(name) + " " + rule);
  };
  if (name.empty() || !begins_name(name.front()) ||
      !std::all_of(name.begin(), name.end(), continues_name))
    refuse("must be a letter or underscore followed by letters, digits and underscores");
  if (name == "pi") refuse("is taken by the number; choose another");
  for (const Function& function : functions())
    if (name == function.name) refuse("is taken by the function; choose another");
  if (find(name)) refuse("is used twice; choose another");
  names_.push_back(name);
  nodes_.emplace(name, node);
}

std::optional<Node> SymbolTable::find(std::string_view name) const {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return std::nullopt;
  return found->second;
}

}  // namespace kalmia::expr
