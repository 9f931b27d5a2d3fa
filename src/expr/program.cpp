#include "expr/program.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "expr/program.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "expr/line_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::expr::HWY_NAMESPACE {

constexpr std::uint8_t code_of(Op op) { return static_cast<std::uint8_t>(op); }
constexpr std::uint8_t code_of(Fused op) { return static_cast<std::uint8_t>(op); }

// Runs the instructions in order. `slots` is an array of lines.
void run(const Instruction* instruction, std::size_t count, double* slots) {
  constexpr std::size_t kWidth = lanes::kLineLanes<double>;
  const auto slot = [slots](std::int32_t i) {
    return slots + static_cast<std::size_t>(i) * kWidth;
  };
  for (const Instruction* const end = instruction + count; instruction != end; ++instruction) {
    const Instruction& in = *instruction;
    double* const to = slot(in.to);
    const double* const pa = slot(in.a);
    const double* const pb = slot(in.b);
    const auto a = [pa]() HWY_ATTR { return ln::load(pa); };
    const auto b = [pb]() HWY_ATTR { return ln::load(pb); };
    const auto c = [&]() HWY_ATTR { return ln::load(slot(in.c)); };
    const auto k = [&]() HWY_ATTR { return ln::broadcast(in.k); };
    switch (in.code) {
      case code_of(Op::Constant):
        ln::store(k(), to);
        break;
      case code_of(Op::Negate):
        ln::store(-a(), to);
        break;
      case code_of(Op::Add):
        ln::store(a() + b(), to);
        break;
      case code_of(Op::Subtract):
        ln::store(a() - b(), to);
        break;
      case code_of(Op::Multiply):
        ln::store(a() * b(), to);
        break;
      case code_of(Op::Divide):
        ln::store(a() / b(), to);
        break;
      case code_of(Fused::AddConstant):
        ln::store(k() + a(), to);
        break;
      case code_of(Fused::FromConstant):
        ln::store(k() - a(), to);
        break;
      case code_of(Fused::Scale):
        ln::store(k() * a(), to);
        break;
      case code_of(Fused::DivideByConstant):
        ln::store(a() / k(), to);
        break;
      case code_of(Fused::DivideConstant):
        ln::store(k() / a(), to);
        break;
      case code_of(Fused::MultiplyAdd):
        ln::store(ln::fma(a(), b(), c()), to);
        break;
      case code_of(Fused::MultiplySubtract):
        ln::store(ln::fma(a(), b(), -c()), to);
        break;
      case code_of(Fused::SubtractProduct):
        ln::store(ln::fnma(a(), b(), c()), to);
        break;
      case code_of(Fused::ScaleAdd):
        ln::store(ln::fma(k(), a(), c()), to);
        break;
      case code_of(Fused::ScaleSubtract):
        ln::store(ln::fma(k(), a(), -c()), to);
        break;
      case code_of(Op::Sqrt):
        ln::store(ln::sqrt(a()), to);
        break;
      case code_of(Op::Abs):
        ln::store(ln::abs(a()), to);
        break;
      case code_of(Op::Sign):
        ln::store(sign_of(a()), to);
        break;
      case code_of(Op::Min):
        ln::store(min_of(a(), b()), to);
        break;
      case code_of(Op::Max):
        ln::store(max_of(a(), b()), to);
        break;
      case code_of(Op::Less):
        ln::store(less(a(), b()), to);
        break;
      case code_of(Op::Gate):
        ln::store(gate(a(), b()), to);
        break;
      case code_of(Op::Sin):
        sin_line(pa, to);
        break;
      case code_of(Op::Cos):
        cos_line(pa, to);
        break;
      case code_of(Op::Exp):
        exp_line(pa, to);
        break;
      case code_of(Op::Log):
        log_line(pa, to);
        break;
      case code_of(Op::Tanh):
        tanh_line(pa, to);
        break;
      case code_of(Op::Asin):
        asin_line(pa, to);
        break;
      case code_of(Op::Acos):
        acos_line(pa, to);
        break;
      case code_of(Op::Atan):
        atan_line(pa, to);
        break;
      case code_of(Op::Sigmoid):
        sigmoid_line(pa, to);
        break;
      case code_of(Op::Softplus):
        softplus_line(pa, to);
        break;
      default:
        by_lane(static_cast<Op>(in.code), pa, pb, to);
        break;
    }
  }
}

}  // namespace kalmia::expr::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <string>

#include "base/buffer.hpp"
#include "expr/derivative.hpp"
#include "kalmia/error.hpp"

namespace kalmia::expr {

HWY_EXPORT(run);

namespace {

constexpr std::size_t kWidth = lanes::kLineLanes<double>;

std::size_t doubles(int lines) { return static_cast<std::size_t>(lines) * kWidth; }

// Code of the adjoint: symbols past the inputs stand for d_outputs.
Code compile_adjoint(Graph graph, std::span<const Node> outputs, int num_inputs) {
  std::vector<Node> d_outputs;
  for (std::size_t j = 0; j < outputs.size(); ++j)
    d_outputs.push_back(graph.symbol(num_inputs + static_cast<int>(j)));
  const std::vector<Node> d_inputs = adjoint(graph, outputs, d_outputs, num_inputs);
  return compile(graph, d_inputs, num_inputs + static_cast<int>(outputs.size()));
}

void check_symbols(const Graph& graph, std::span<const Node> outputs, int num_inputs) {
  for (const Node node : graph.order(outputs)) {
    const Entry& entry = graph[node];
    if (entry.op == Op::Symbol && (entry.symbol < 0 || entry.symbol >= num_inputs))
      throw ConfigError(
          "symbol " + std::to_string(entry.symbol) + " of an expression with " +
          std::to_string(num_inputs) +
          " inputs, but symbols must be numbered from 0 to the inputs' number less 1");
  }
}

}  // namespace

Program::Program(const Graph& graph, std::vector<Node> outputs, int num_inputs)
    : num_inputs_(num_inputs) {
  check_symbols(graph, outputs, num_inputs);
  forward_ = compile(graph, outputs, num_inputs);
  backward_ = compile_adjoint(graph, outputs, num_inputs);
}

std::size_t Program::scratch_size() const {
  return doubles(std::max(forward_.num_slots, backward_.num_slots));
}

void Program::forward(const double* inputs, double* outputs, double* scratch) const {
  std::copy_n(inputs, doubles(num_inputs_), scratch);
  HWY_DYNAMIC_DISPATCH(run)
  (forward_.instructions.data(), forward_.instructions.size(), scratch);
  for (std::size_t j = 0; j < forward_.outputs.size(); ++j)
    std::copy_n(scratch + doubles(forward_.outputs[j]), kWidth, outputs + j * kWidth);
}

void Program::backward(const double* inputs, const double* d_outputs, double* d_inputs,
                       double* scratch) const {
  std::copy_n(inputs, doubles(num_inputs_), scratch);
  std::copy_n(d_outputs, doubles(num_outputs()), scratch + doubles(num_inputs_));
  HWY_DYNAMIC_DISPATCH(run)
  (backward_.instructions.data(), backward_.instructions.size(), scratch);
  for (std::size_t i = 0; i < backward_.outputs.size(); ++i) {
    const double* d_input = scratch + doubles(backward_.outputs[i]);
    for (std::size_t b = 0; b < kWidth; ++b) d_inputs[i * kWidth + b] += d_input[b];
  }
}

std::vector<double> evaluate(const Program& program, std::span<const double> inputs) {
  if (inputs.size() != static_cast<std::size_t>(program.num_inputs()))
    throw ConfigError(std::to_string(inputs.size()) + " inputs, but the expression has " +
                      std::to_string(program.num_inputs()));
  Buffer<double> in(doubles(program.num_inputs())), out(doubles(program.num_outputs()));
  Buffer<double> scratch(program.scratch_size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::fill_n(in.data() + i * kWidth, kWidth, inputs[i]);
  program.forward(in.data(), out.data(), scratch.data());
  std::vector<double> result;
  for (int j = 0; j < program.num_outputs(); ++j) result.push_back(out[doubles(j)]);
  return result;
}

}  // namespace kalmia::expr
#endif  // HWY_ONCE
