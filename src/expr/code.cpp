#include "expr/code.hpp"

#include <algorithm>
#include <initializer_list>

namespace kalmia::expr {
namespace {

std::size_t at(Node node) { return static_cast<std::size_t>(node.index); }

// An instruction whose operands and result are still nodes.
struct Draft {
  std::uint8_t code = 0;
  Node to, a, b, c;
  double k = 0;
};

// Chooses the instruction of each node. A product that only one sum uses is left to that sum.
class Selection {
 public:
  Selection(const Graph& graph, std::span<const Node> outputs, const std::vector<Node>& nodes)
      : g_(graph), uses_(graph.size()) {
    for (const Node n : nodes) {
      const Entry& entry = g_[n];
      if (arity(entry.op) >= 1) ++uses_[at(entry.a)];
      if (arity(entry.op) == 2) ++uses_[at(entry.b)];
    }
    for (const Node n : outputs) uses_[at(n)] += 2;  // never left to a sum
  }

  // Nodes in descending order: sums first, so that they can take their products.
  std::vector<Draft> run(const std::vector<Node>& nodes) {
    std::vector<bool> taken(uses_.size());
    std::vector<Draft> drafts;
    for (auto n = nodes.rbegin(); n != nodes.rend(); ++n) {
      const Op op = g_[*n].op;
      if (op == Op::Symbol || taken[at(*n)]) continue;
      // Operations take their constants with them; only those that cannot load them.
      if (op == Op::Constant && uses_[at(*n)] == 0) continue;
      Node product;
      drafts.push_back(draft(*n, product));
      if (product.index >= 0) taken[at(product)] = true;
    }
    std::reverse(drafts.begin(), drafts.end());
    return drafts;
  }

 private:
  Draft draft(Node n, Node& product) {
    const Entry& e = g_[n];
    Draft out{static_cast<std::uint8_t>(e.op), n, e.a, e.b, {}, e.value};
    if (e.op == Op::Add || e.op == Op::Subtract) {
      if (sum_with_product(e, out, product)) return out;
    }
    const bool first = arity(e.op) == 2 && g_.is_constant(e.a);
    const bool second = arity(e.op) == 2 && g_.is_constant(e.b);
    if (first && e.op == Op::Add) set_constant(out, Fused::AddConstant, e.a, e.b);
    if (first && e.op == Op::Subtract) set_constant(out, Fused::FromConstant, e.a, e.b);
    if (first && e.op == Op::Multiply) set_constant(out, Fused::Scale, e.a, e.b);
    if (first && e.op == Op::Divide) set_constant(out, Fused::DivideConstant, e.a, e.b);
    if (second && e.op == Op::Divide) set_constant(out, Fused::DivideByConstant, e.b, e.a);
    return out;
  }

  void set_constant(Draft& out, Fused code, Node constant, Node operand) {
    out.code = static_cast<std::uint8_t>(code);
    out.k = g_[constant].value;
    out.a = operand;
    out.b = {};
    --uses_[at(constant)];
  }

  bool is_free_product(Node n) const { return g_[n].op == Op::Multiply && uses_[at(n)] == 1; }

  // a b + c, a b - c or c - a b in one instruction, where a may be a constant. A constant c would
  // have to be loaded first, so such sums stay as they are.
  bool sum_with_product(const Entry& e, Draft& out, Node& product) {
    const bool minus = e.op == Op::Subtract;
    if (g_.is_constant(e.a) || g_.is_constant(e.b)) return false;
    const bool second = is_free_product(e.b);
    if (!second && !is_free_product(e.a)) return false;
    product = second ? e.b : e.a;
    const Entry& p = g_[product];
    out.a = p.a;
    out.b = p.b;
    out.c = second ? e.a : e.b;
    Fused code = Fused::MultiplyAdd;
    if (g_.is_constant(p.a)) {
      set_constant(out, Fused::ScaleAdd, p.a, p.b);
      code = minus && !second ? Fused::ScaleSubtract : Fused::ScaleAdd;
      if (minus && second) out.k = -out.k;
    } else if (minus) {
      code = second ? Fused::SubtractProduct : Fused::MultiplySubtract;
    }
    out.code = static_cast<std::uint8_t>(code);
    return true;
  }

  const Graph& g_;
  std::vector<int> uses_;
};

// Gives each node a slot from its instruction until its last use.
class Allocation {
 public:
  Allocation(std::size_t num_nodes, int num_inputs)
      : slot_(num_nodes, -1), last_use_(num_nodes, -1), num_slots_(num_inputs) {}

  void pin(Node n, std::int32_t slot) { slot_[at(n)] = slot; }
  void use(Node n, int time) {
    if (n.index >= 0) last_use_[at(n)] = std::max(last_use_[at(n)], time);
  }
  std::int32_t slot(Node n) const { return n.index >= 0 ? slot_[at(n)] : 0; }
  std::int32_t num_slots() const { return num_slots_; }

  void take(Node n) {
    if (free_.empty()) {
      slot_[at(n)] = num_slots_++;
    } else {
      slot_[at(n)] = free_.back();
      free_.pop_back();
    }
  }
  // Frees the operands whose last use is at `time`, each once, and never the inputs.
  void release(std::initializer_list<Node> operands, int time, int num_inputs) {
    for (const Node n : operands) {
      if (n.index < 0 || last_use_[at(n)] != time || slot_[at(n)] < num_inputs) continue;
      last_use_[at(n)] = -1;
      free_.push_back(slot_[at(n)]);
    }
  }

 private:
  std::vector<std::int32_t> slot_;
  std::vector<int> last_use_;
  std::vector<std::int32_t> free_;
  std::int32_t num_slots_;
};

}  // namespace

Code compile(const Graph& graph, std::span<const Node> outputs, int num_inputs) {
  const std::vector<Node> nodes = graph.order(outputs);
  const std::vector<Draft> drafts = Selection(graph, outputs, nodes).run(nodes);
  const int end = static_cast<int>(drafts.size());

  Allocation slots(graph.size(), num_inputs);
  for (const Node n : nodes)
    if (graph[n].op == Op::Symbol) slots.pin(n, graph[n].symbol);
  for (int time = 0; time < end; ++time) {
    const Draft& draft = drafts[static_cast<std::size_t>(time)];
    for (const Node operand : {draft.a, draft.b, draft.c}) slots.use(operand, time);
  }
  for (const Node output : outputs) slots.use(output, end);

  Code code;
  code.instructions.reserve(drafts.size());
  for (int time = 0; time < end; ++time) {
    const Draft& draft = drafts[static_cast<std::size_t>(time)];
    const std::int32_t a = slots.slot(draft.a), b = slots.slot(draft.b), c = slots.slot(draft.c);
    // The result may go where an operand was: instructions read before they write.
    slots.release({draft.a, draft.b, draft.c}, time, num_inputs);
    slots.take(draft.to);
    code.instructions.push_back({draft.code, slots.slot(draft.to), a, b, c, draft.k});
  }
  for (const Node output : outputs) code.outputs.push_back(slots.slot(output));
  code.num_slots = slots.num_slots();
  return code;
}

}  // namespace kalmia::expr
