#define KALMIA_SIZES_UNKNOWN

#include "prior/program_flow.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "prior/program_flow.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>

#include "lanes/triangle-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::prior::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using lanes::Put;
using ln::entry;
using D = ln::Line<double>;
using Term = ProgramFlowMap::Term;

// B = W L (N x N), L packed.
void times_lower(int N, const double* W, const double* L, double* B) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      D sum = ln::zero<double>();
      for (int k = j; k < N; ++k)
        sum = ln::fma(ln::load(entry(W, i * N + k)),
                      ln::load(entry(L, lanes::triangle_index(k, j))), sum);
      ln::store(sum, entry(B, i * N + j));
    }
}

// Q += weight X X', or, with the identity as W, of L.
void add_term(int N, const D& weight, const double* gram, double* Q) {
  for (int i = 0; i < N * N; ++i)
    ln::store(ln::fma(weight, ln::load(entry(gram, i)), ln::load(entry(Q, i))), entry(Q, i));
}

// B and its Gram matrix of one term.
void term_gram(int N, const Term& term, const double* outputs, const double* L, double* B,
               double* gram) {
  if (term.W < 0) return ln::gram_lower<Put::Set, double>(N, L, gram);
  times_lower(N, entry(outputs, term.W), L, B);
  ln::multiply_nt_symmetric<Put::Set, double>(N, N, B, B, gram);
}

void noise_here(int N, const std::vector<Term>& terms, const double* outputs, const double* L,
                double* Q, const ProgramFlowMap::Lines& w) {
  ln::set_zero(N * N, Q);
  for (const Term& term : terms) {
    term_gram(N, term, outputs, L, w.B, w.gram);
    add_term(N, ln::load(entry(outputs, term.weight)), w.gram, Q);
  }
}

// Adds to the adjoints of the outputs, and sets d_L:
//   d_weight = <d_Q, B B'>,   d_B = 2 weight d_Q B,   d_W = d_B L',   d_L = lower(W' d_B).
void noise_backward_here(int N, const std::vector<Term>& terms, const double* L, const double* d_Q,
                         double* d_outputs, double* d_L, const ProgramFlowMap::Lines& w) {
  double *B = w.B, *gram = w.gram, *d_B = w.d_B, *d_L_term = w.d_L;
  const double* outputs = w.outputs;
  const int triangle = lanes::triangle_size(N);
  ln::set_zero(triangle, d_L);
  for (const Term& term : terms) {
    const D weight = ln::load(entry(outputs, term.weight));
    term_gram(N, term, outputs, L, B, gram);
    D inner = ln::load(entry(d_outputs, term.weight));
    for (int i = 0; i < N * N; ++i)
      inner = ln::fma(ln::load(entry(d_Q, i)), ln::load(entry(gram, i)), inner);
    ln::store(inner, entry(d_outputs, term.weight));
    if (term.W < 0) {
      ln::gram_lower_backward<Put::Set, double>(N, L, d_Q, d_L_term);
      for (int i = 0; i < triangle; ++i)
        ln::store(ln::fma(weight, ln::load(entry(d_L_term, i)), ln::load(entry(d_L, i))),
                  entry(d_L, i));
      continue;
    }
    ln::multiply<Put::Set, double>(N, N, N, d_Q, B, d_B);
    const D twice = weight + weight;
    for (int i = 0; i < N * N; ++i) ln::store(twice * ln::load(entry(d_B, i)), entry(d_B, i));
    const double* W = entry(outputs, term.W);
    double* d_W = entry(d_outputs, term.W);
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < N; ++k) {
        D sum = ln::load(entry(d_W, i * N + k));
        for (int j = 0; j <= k; ++j)
          sum = ln::fma(ln::load(entry(d_B, i * N + j)),
                        ln::load(entry(L, lanes::triangle_index(k, j))), sum);
        ln::store(sum, entry(d_W, i * N + k));
      }
    for (int k = 0; k < N; ++k)
      for (int j = 0; j <= k; ++j) {
        double* to = entry(d_L, lanes::triangle_index(k, j));
        D sum = ln::load(to);
        for (int i = 0; i < N; ++i)
          sum = ln::fma(ln::load(entry(W, i * N + k)), ln::load(entry(d_B, i * N + j)), sum);
        ln::store(sum, to);
      }
  }
}

}  // namespace kalmia::prior::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::prior {

HWY_EXPORT(noise_here);
HWY_EXPORT(noise_backward_here);

namespace {

constexpr int kLanes = lanes::kLineLanes<double>;

bool is_identity(const expr::Graph& graph, const Nodes& W, int N) {
  for (int i = 0; i < N * N; ++i)
    if (!graph.is_constant(W[static_cast<std::size_t>(i)], i % (N + 1) == 0 ? 1.0 : 0.0))
      return false;
  return true;
}

Nodes outputs_of(const expr::Graph& graph, const LinearNodes& map,
                 const std::vector<NoiseTerm>& noise, int N,
                 std::vector<ProgramFlowMap::Term>& terms) {
  Nodes all = map.F;
  all.insert(all.end(), map.e.begin(), map.e.end());
  for (const NoiseTerm& each : noise) {
    ProgramFlowMap::Term term;
    term.weight = static_cast<int>(all.size());
    all.push_back(each.weight);
    if (each.W == map.F) {
      term.W = 0;
    } else if (!is_identity(graph, each.W, N)) {
      term.W = static_cast<int>(all.size());
      all.insert(all.end(), each.W.begin(), each.W.end());
    }
    terms.push_back(term);
  }
  return all;
}

}  // namespace

ProgramFlowMap::ProgramFlowMap(const expr::Graph& graph, const Symbols& symbols,
                               const LinearNodes& map, const std::vector<NoiseTerm>& noise)
    : program_(graph, symbols, outputs_of(graph, map, noise, symbols.states, terms_)) {}

int ProgramFlowMap::program_lines() const {
  return static_cast<int>(program_.scratch_size()) / kLanes;
}

std::size_t ProgramFlowMap::scratch_size() const {
  return static_cast<std::size_t>(
             lanes::count_lines<Lines>(state_dim(), program_.num_outputs(), program_lines())) *
         kLanes;
}

void ProgramFlowMap::forward(const kalman::MapPoint& at, double* F, double* e,
                             double* scratch) const {
  forward_with_noise(at, nullptr, F, e, nullptr, scratch);
}

void ProgramFlowMap::backward(const kalman::MapPoint& at, const double* d_F, const double* d_e,
                              double* d_x, double* d_theta, double* scratch) const {
  backward_with_noise(at, nullptr, d_F, d_e, nullptr, nullptr, d_x, d_theta, scratch);
}

void ProgramFlowMap::forward_with_noise(const kalman::MapPoint& at, const double* L, double* F,
                                        double* e, double* Q, double* scratch) const {
  const int N = state_dim();
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, N, program_.num_outputs(), program_lines());
  const double* outputs = program_.forward(at, lines.program);
  std::copy_n(outputs, N * N * kLanes, F);
  std::copy_n(outputs + N * N * kLanes, N * kLanes, e);
  if (L != nullptr) HWY_DYNAMIC_DISPATCH(noise_here)(N, terms_, outputs, L, Q, lines);
}

void ProgramFlowMap::backward_with_noise(const kalman::MapPoint& at, const double* L,
                                         const double* d_F, const double* d_e, const double* d_Q,
                                         double* d_L, double* d_x, double* d_theta,
                                         double* scratch) const {
  const int N = state_dim();
  const int count = program_.num_outputs() * kLanes;
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, N, program_.num_outputs(), program_lines());
  double* d_outputs = program_.d_outputs(lines.program);
  if (L != nullptr) std::copy_n(program_.forward(at, lines.program), count, lines.outputs);
  std::fill_n(d_outputs, count, 0.0);
  std::copy_n(d_F, N * N * kLanes, d_outputs);
  std::copy_n(d_e, N * kLanes, d_outputs + N * N * kLanes);
  if (L != nullptr)
    HWY_DYNAMIC_DISPATCH(noise_backward_here)(N, terms_, L, d_Q, d_outputs, d_L, lines);
  program_.backward(at, d_x, d_theta, lines.program);
}

}  // namespace kalmia::prior
#endif
