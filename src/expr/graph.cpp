#include "expr/graph.hpp"

#include <algorithm>
#include <bit>

namespace kalmia::expr {

std::size_t Graph::Hash::operator()(const Entry& entry) const {
  std::uint64_t hash = static_cast<std::uint64_t>(entry.op);
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(entry.a.index), static_cast<std::uint64_t>(entry.b.index),
        static_cast<std::uint64_t>(entry.symbol), std::bit_cast<std::uint64_t>(entry.value)}) {
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return static_cast<std::size_t>(hash);
}

Node Graph::intern(const Entry& entry) {
  const auto [found, is_new] =
      index_.try_emplace(entry, static_cast<std::int32_t>(entries_.size()));
  if (is_new) entries_.push_back(entry);
  return {found->second};
}

Node Graph::intern_ordered(Op op, Node a, Node b) {
  const auto place = [this](Node node) { return is_constant(node) ? -1 : node.index; };
  return place(a) <= place(b) ? intern(op, a, b) : intern(op, b, a);
}

Node Graph::constant(double value) {
  Entry entry;
  entry.value = value == 0 ? 0.0 : value;  // -0 is 0
  // A NaN does not equal itself, so it is never found and each is a node of its own. No parsed
  // expression has one.
  return intern(entry);
}

Node Graph::symbol(int number) {
  Entry entry;
  entry.op = Op::Symbol;
  entry.symbol = number;
  return intern(entry);
}

std::vector<Node> Graph::order(std::span<const Node> roots, const std::vector<Node>& known) const {
  std::int32_t last = -1;
  for (const Node root : roots) last = std::max(last, root.index);
  std::vector<bool> seen(static_cast<std::size_t>(last + 1));
  std::vector<Node> found, stack;
  const auto visit = [&](Node node) {
    const std::size_t i = static_cast<std::size_t>(node.index);
    if (seen[i] || (i < known.size() && known[i].index >= 0)) return;
    seen[i] = true;
    stack.push_back(node);
  };
  for (const Node root : roots) {
    visit(root);
    while (!stack.empty()) {
      const Node node = stack.back();
      stack.pop_back();
      found.push_back(node);
      const Entry& entry = (*this)[node];
      if (arity(entry.op) >= 1) visit(entry.a);
      if (arity(entry.op) == 2) visit(entry.b);
    }
  }
  std::sort(found.begin(), found.end(), [](Node a, Node b) { return a.index < b.index; });
  return found;
}

std::vector<Node> Graph::substitute(std::span<const Node> nodes, const std::map<int, Node>& by) {
  std::vector<Node> replaced(entries_.size());
  const auto at = [&replaced](Node node) -> Node& {
    return replaced[static_cast<std::size_t>(node.index)];
  };
  for (const Node node : order(nodes)) {
    const Entry entry = (*this)[node];  // a copy: building moves the entries
    if (entry.op == Op::Symbol) {
      const auto found = by.find(entry.symbol);
      at(node) = found == by.end() ? node : found->second;
    } else if (entry.op == Op::Constant) {
      at(node) = node;
    } else {
      at(node) = apply(entry.op, at(entry.a), arity(entry.op) == 2 ? at(entry.b) : Node{});
    }
  }
  std::vector<Node> result;
  for (const Node node : nodes) result.push_back(at(node));
  return result;
}

Node Graph::substitute(Node node, const std::map<int, Node>& by) {
  return substitute(std::span(&node, 1), by).front();
}

}  // namespace kalmia::expr
