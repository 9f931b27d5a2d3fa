#include "expr/derivative.hpp"

#include <utility>

namespace kalmia::expr {
namespace {

// The chain rule at one node: t d(node)/d(operand), for the first operand or the second. With the
// operand's derivative as t it builds derivatives, with the node's adjoint as t it builds adjoints.
class Chain {
 public:
  Chain(Graph& graph, Node node) : g_(graph), node_(node), entry_(graph[node]) {}

  Node first(Node t) const {
    const Node a = entry_.a, b = entry_.b, n = node_;
    switch (entry_.op) {
      case Op::Constant:
      case Op::Symbol:
      case Op::Sign:
      case Op::Less:
      case Op::Gate:
        break;
      case Op::Negate:
        return g_.negate(t);
      case Op::Sin:
        return g_.multiply(t, g_.apply(Op::Cos, a));
      case Op::Cos:
        return g_.negate(g_.multiply(t, g_.apply(Op::Sin, a)));
      case Op::Tan:  // 1 + tan^2
        return g_.multiply(t, g_.add(one(), square(n)));
      case Op::Asin:
        return g_.divide(t, complement(a));
      case Op::Acos:
        return g_.negate(g_.divide(t, complement(a)));
      case Op::Atan:  // 1 / (1 + a^2)
        return g_.divide(t, g_.add(one(), square(a)));
      case Op::Sinh:
        return g_.multiply(t, g_.apply(Op::Cosh, a));
      case Op::Cosh:
        return g_.multiply(t, g_.apply(Op::Sinh, a));
      case Op::Tanh:  // 1 - tanh^2
        return g_.multiply(t, g_.subtract(one(), square(n)));
      case Op::Exp:
        return g_.multiply(t, n);
      case Op::Log:
        return g_.divide(t, a);
      case Op::Sqrt:  // 1 / (2 sqrt a)
        return g_.divide(g_.multiply(g_.constant(0.5), t), n);
      case Op::Abs:
        return g_.multiply(t, g_.apply(Op::Sign, a));
      case Op::Sigmoid:  // s (1 - s)
        return g_.multiply(t, g_.multiply(n, g_.subtract(one(), n)));
      case Op::Softplus:
        return g_.multiply(t, g_.apply(Op::Sigmoid, a));
      case Op::Add:
      case Op::Subtract:
        return t;
      case Op::Multiply:
        return g_.multiply(t, b);
      case Op::Divide:
        return g_.divide(t, b);
      case Op::Power:  // b a^(b-1)
        return g_.multiply(t, g_.multiply(b, g_.power(a, g_.subtract(b, one()))));
      case Op::Atan2:  // b / (a^2 + b^2)
        return g_.multiply(t, g_.divide(b, squared_radius()));
      case Op::Min:
        return gate(g_.subtract(one(), g_.apply(Op::Less, b, a)), t);
      case Op::Max:
        return gate(g_.subtract(one(), g_.apply(Op::Less, a, b)), t);
    }
    return g_.constant(0);
  }

  Node second(Node t) const {
    const Node a = entry_.a, b = entry_.b, n = node_;
    switch (entry_.op) {
      case Op::Add:
        return t;
      case Op::Subtract:
        return g_.negate(t);
      case Op::Multiply:
        return g_.multiply(t, a);
      case Op::Divide:  // -a / b^2 = -n / b
        return g_.negate(g_.multiply(g_.divide(t, b), n));
      case Op::Power:  // a^b log a, and its limit 0 at a = 0, b > 0
        return g_.multiply(t, gate(a, g_.multiply(n, g_.apply(Op::Log, a))));
      case Op::Atan2:  // -a / (a^2 + b^2)
        return g_.negate(g_.multiply(t, g_.divide(a, squared_radius())));
      case Op::Min:
        return gate(g_.apply(Op::Less, b, a), t);
      case Op::Max:
        return gate(g_.apply(Op::Less, a, b), t);
      case Op::Gate:
        return gate(a, t);
      default:
        return g_.constant(0);
    }
  }

 private:
  Node one() const { return g_.constant(1); }
  Node square(Node a) const { return g_.multiply(a, a); }
  Node gate(Node mask, Node t) const { return g_.apply(Op::Gate, mask, t); }
  // sqrt(1 - a^2), without cancellation near a = 1.
  Node complement(Node a) const {
    return g_.apply(Op::Sqrt, g_.multiply(g_.subtract(one(), a), g_.add(one(), a)));
  }
  Node squared_radius() const { return g_.add(square(entry_.a), square(entry_.b)); }

  Graph& g_;
  const Node node_;
  const Entry entry_;  // a copy: building moves the graph's entries
};

std::size_t place(Node node) { return static_cast<std::size_t>(node.index); }

}  // namespace

Node Graph::derivative(Node node, int symbol) {
  std::vector<Node> known = std::move(derivatives_[symbol]);
  const std::vector<Node> pending = order(std::span(&node, 1), known);
  if (known.size() < size()) known.resize(size());
  for (const Node n : pending) {
    const Entry entry = (*this)[n];
    Node sum = constant(entry.op == Op::Symbol && entry.symbol == symbol ? 1 : 0);
    const Chain chain(*this, n);
    // A derivative of zero stops here, before its factor is built in vain.
    const auto add_to_sum = [&](Node operand, auto factor) {
      const Node t = known[place(operand)];
      if (!is_constant(t, 0)) sum = add(sum, (chain.*factor)(t));
    };
    if (arity(entry.op) >= 1) add_to_sum(entry.a, &Chain::first);
    if (arity(entry.op) == 2) add_to_sum(entry.b, &Chain::second);
    known[place(n)] = sum;
  }
  const Node result = known[place(node)];
  derivatives_[symbol] = std::move(known);
  return result;
}

std::vector<Node> adjoint(Graph& graph, std::span<const Node> outputs,
                          std::span<const Node> d_outputs, int num_symbols) {
  const std::vector<Node> nodes = graph.order(outputs);
  std::vector<Node> result(static_cast<std::size_t>(num_symbols), graph.constant(0));
  std::vector<bool> depends(graph.size());  // on any of the symbols
  for (const Node n : nodes) {
    const Entry& entry = graph[n];
    depends[place(n)] = (entry.op == Op::Symbol && entry.symbol < num_symbols) ||
                        (arity(entry.op) >= 1 && depends[place(entry.a)]) ||
                        (arity(entry.op) == 2 && depends[place(entry.b)]);
  }
  std::vector<Node> d(depends.size(), graph.constant(0));
  for (std::size_t j = 0; j < outputs.size(); ++j)
    d[place(outputs[j])] = graph.add(d[place(outputs[j])], d_outputs[j]);
  for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
    const Node t = d[place(*n)];
    if (!depends[place(*n)] || graph.is_constant(t, 0)) continue;
    const Entry entry = graph[*n];
    if (entry.op == Op::Symbol) {
      result[static_cast<std::size_t>(entry.symbol)] = t;
      continue;
    }
    const Chain chain(graph, *n);
    if (depends[place(entry.a)]) d[place(entry.a)] = graph.add(d[place(entry.a)], chain.first(t));
    if (arity(entry.op) == 2 && depends[place(entry.b)])
      d[place(entry.b)] = graph.add(d[place(entry.b)], chain.second(t));
  }
  return result;
}

}  // namespace kalmia::expr
