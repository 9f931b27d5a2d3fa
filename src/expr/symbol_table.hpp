// The names an expression may use.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "expr/graph.hpp"

namespace kalmia::expr {

/// What each name stands for: a symbol, a constant, or any other node of the graph.
class SymbolTable {
 public:
  /// Throws ConfigError, which names `place`, unless `name` is a letter or underscore followed by
  /// letters, digits and underscores, is no function and not pi, and is new.
  void add(const std::string& name, Node node, const std::string& place);

  std::optional<Node> find(std::string_view name) const;
  /// In the order in which they were added.
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>()(name);
    }
  };

  std::vector<std::string> names_;
  std::unordered_map<std::string, Node, Hash, std::equal_to<>> nodes_;
};

/// Whether `c` may begin a name, or stand in one.
bool begins_name(char c);
bool continues_name(char c);

}  // namespace kalmia::expr
