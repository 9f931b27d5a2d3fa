#define KALMIA_SIZES_UNKNOWN

#include "prior/linear_flow.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "prior/linear_flow.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "lanes/triangle-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::prior::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using lanes::Put;
using ln::entry;
using Plan = LinearFlowMap::Plan;
using Entry = LinearFlowMap::Entry;
using D = ln::Line<double>;

// The series are cut off where |A| h is at most this: the first term that is left out of Q,
// (2 |A| h)^13 / 13!, is below rounding.
constexpr double kSeriesReach = 0.25;

// Where the numbers of one evaluation lie.
struct Work : LinearFlowMap::Lines {
  Work(const Plan& plan, const LinearFlowMap::Lines& lines)
      : LinearFlowMap::Lines(lines), N(plan.N) {}
  double* term_U(int k) const { return entry(U, k * N * N); }
  double* term_T(int k) const { return entry(T, k * N * N); }
  double* doubled_F(int i) const { return entry(doubled, 2 * i * N * N); }
  double* doubled_Q(int i) const { return entry(doubled, (2 * i + 1) * N * N); }

  int N;
};

// Calls f(i, j, value) for the entries of A.
template <typename Function>
HWY_INLINE void for_A(const Plan& plan, const double* A, const Function& f) {
  for (std::size_t a = 0; a < plan.A.size(); ++a)
    f(plan.A[a].row, plan.A[a].col, ln::load(entry(A, static_cast<int>(a))));
}
// Calls it for the entries of F, a full N x N matrix whose other entries are zero.
template <typename Function>
HWY_INLINE void for_F(const Plan& plan, const double* F, const Function& f) {
  for (const Entry& at : plan.F) f(at.row, at.col, ln::load(entry(F, at.row * plan.N + at.col)));
}
// row i of Y += value * row j of X.
HWY_INLINE void add_row(int N, int i, int j, const D& value, const double* X, double* Y) {
  for (int c = 0; c < N; ++c) {
    double* y = entry(Y, i * N + c);
    ln::store(ln::fma(value, ln::load(entry(X, j * N + c)), ln::load(y)), y);
  }
}
// The sum of products of row i of X and row j of Y.
HWY_INLINE D row_product(int N, int i, int j, const double* X, const double* Y) {
  D sum = ln::zero<double>();
  for (int c = 0; c < N; ++c)
    sum = ln::fma(ln::load(entry(X, i * N + c)), ln::load(entry(Y, j * N + c)), sum);
  return sum;
}
// out = scale (X + X'), or += it.
template <Put put = Put::Set>
HWY_INLINE void symmetrise(int N, const D& scale, const double* X, double* out) {
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      D value = scale * (ln::load(entry(X, i * N + j)) + ln::load(entry(X, j * N + i)));
      if constexpr (put == Put::Add) value = ln::load(entry(out, i * N + j)) + value;
      ln::store(value, entry(out, i * N + j));
      ln::store(value, entry(out, j * N + i));
    }
}
HWY_INLINE void add_lines(int count, const double* x, double* y) {
  for (int i = 0; i < count; ++i)
    ln::store(ln::load(entry(y, i)) + ln::load(entry(x, i)), entry(y, i));
}

// Sets how often each lane's step is halved, and h, what is left of it; returns the most.
int halve_steps(const Plan& plan, const double* dt, const Work& w) {
  constexpr int kLanes = lanes::kLineLanes<double>;
  double size = 0;  // |A|, the same in every lane
  for (int i = 0; i < plan.N; ++i) {
    double sum = 0;
    for (std::size_t a = 0; a < plan.A.size(); ++a)
      if (plan.A[a].row == i) sum += std::abs(w.A[a * kLanes]);
    size = std::max(size, sum);
  }
  int most = 0;
  for (int b = 0; b < kLanes; ++b) {
    const double reach = size * std::abs(dt[b]) / kSeriesReach;
    const int count =
        plan.nilpotent || !(reach > 1) ? 0 : std::min(Plan::kMostDoublings, std::ilogb(reach) + 1);
    w.count[b] = count;
    w.h[b] = std::ldexp(dt[b], -count);
    most = std::max(most, count);
  }
  return most;
}
// The lanes that doubling i belongs to.
HWY_INLINE ln::LineMask<double> doubled_lanes(const Work& w, int i) {
  return ln::greater(ln::load(w.count), ln::broadcast(static_cast<double>(i)));
}

// The series of F over h; leaves its terms.
void flow_series(const Plan& plan, const Work& w, double* F) {
  const int N = w.N;
  ln::set_zero(N * N, w.term_U(0));
  for (int i = 0; i < N; ++i) ln::store(ln::broadcast(1.0), entry(w.term_U(0), i * N + i));
  ln::copy_lines<double>(N * N, w.term_U(0), F);
  for (int k = 1; k <= plan.flow_terms; ++k) {
    const D scale = ln::load(w.h) * ln::broadcast(1.0 / k);
    double* term = w.term_U(k);
    ln::set_zero(N * N, term);
    for_A(plan, w.A, [&](int i, int j, const D& a) HWY_ATTR {
      add_row(N, i, j, scale * a, w.term_U(k - 1), term);
    });
    add_lines(N * N, term, F);
  }
}
// The series of Q over h, from G = L L'; leaves its terms.
void noise_series(const Plan& plan, const Work& w, const double* L, double* Q) {
  const int N = w.N;
  ln::gram_lower<Put::Set, double>(N, L, Q);
  for (int i = 0; i < N * N; ++i) ln::store(ln::load(w.h) * ln::load(entry(Q, i)), entry(Q, i));
  ln::copy_lines<double>(N * N, Q, w.term_T(0));
  for (int k = 1; k <= plan.noise_terms; ++k) {
    const D scale = ln::load(w.h) * ln::broadcast(1.0 / (k + 1));
    ln::set_zero(N * N, w.X);
    for_A(plan, w.A,
          [&](int i, int j, const D& a) HWY_ATTR { add_row(N, i, j, a, w.term_T(k - 1), w.X); });
    symmetrise(N, scale, w.X, w.term_T(k));
    add_lines(N * N, w.term_T(k), Q);
  }
}

// out = before in all lanes but the chosen ones.
HWY_INLINE void keep_lanes(int count, const ln::LineMask<double>& chosen, const double* before,
                           double* out) {
  for (int i = 0; i < count; ++i)
    ln::store(ln::select(chosen, ln::load(entry(out, i)), ln::load(entry(before, i))),
              entry(out, i));
}
// out = F X, F sparse.
void flow_times(const Plan& plan, const double* F, const double* X, double* out) {
  ln::set_zero(plan.N * plan.N, out);
  for_F(plan, F, [&](int i, int j, const D& f) HWY_ATTR { add_row(plan.N, i, j, f, X, out); });
}
// out += (F Q) F' in the chosen lanes; the lower triangle is computed, and mirrored.
void add_sandwich(const Plan& plan, const ln::LineMask<double>& chosen, const double* F,
                  const double* FQ, double* out) {
  const int N = plan.N;
  for_F(plan, F, [&](int j, int l, const D& f) HWY_ATTR {
    const D factor = ln::select(chosen, f, ln::zero<double>());
    for (int i = j; i < N; ++i) {
      double* at = entry(out, i * N + j);
      ln::store(ln::fma(factor, ln::load(entry(FQ, i * N + l)), ln::load(at)), at);
    }
  });
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < i; ++j) ln::store(ln::load(entry(out, i * N + j)), entry(out, j * N + i));
}

// F, and Q unless L is null. Leaves terms and what stood before each doubling.
int step_of(const Plan& plan, const Work& w, const double* dt, const double* L, double* F,
            double* Q) {
  const int N = w.N;
  const int m = halve_steps(plan, dt, w);
  flow_series(plan, w, F);
  if (L != nullptr) noise_series(plan, w, L, Q);
  for (int i = 0; i < m; ++i) {
    ln::copy_lines<double>(N * N, F, w.doubled_F(i));
    if (L != nullptr) {
      ln::copy_lines<double>(N * N, Q, w.doubled_Q(i));
      flow_times(plan, w.doubled_F(i), w.doubled_Q(i), w.X);
      add_sandwich(plan, doubled_lanes(w, i), w.doubled_F(i), w.X, Q);
    }
    flow_times(plan, w.doubled_F(i), w.doubled_F(i), F);
    keep_lanes(N * N, doubled_lanes(w, i), w.doubled_F(i), F);
  }
  return m;
}

// Adds the adjoint of the series of F to d_A: B[K] = d_F,
//   B[k-1] = d_F + (h / k) A' B[k],   d_A += (h / k) B[k] U[k-1]'.
void flow_series_backward(const Plan& plan, const Work& w) {
  const int N = w.N;
  ln::copy_lines<double>(N * N, w.d_F, w.X);
  for (int k = plan.flow_terms; k > 0; --k) {
    const D scale = ln::load(w.h) * ln::broadcast(1.0 / k);
    ln::copy_lines<double>(N * N, w.d_F, w.Y);
    for (std::size_t a = 0; a < plan.A.size(); ++a) {
      const Entry at = plan.A[a];
      const D value = ln::load(entry(w.A, static_cast<int>(a)));
      double* d = entry(w.d_A, static_cast<int>(a));
      ln::store(ln::fma(scale, row_product(N, at.row, at.col, w.X, w.term_U(k - 1)), ln::load(d)),
                d);
      add_row(N, at.col, at.row, scale * value, w.X, w.Y);
    }
    ln::copy_lines<double>(N * N, w.Y, w.X);
  }
}
// Adds that of the series of Q to d_A and sets d_L: D[K] = d_Q,
//   D[k-1] = d_Q + (h / (k+1)) (A' D[k] + D[k] A),   d_A += 2 (h / (k+1)) D[k] T[k-1],
//   d_L = lower triangle of 2 h D[0] L.
void noise_series_backward(const Plan& plan, const Work& w, const double* L, double* d_L) {
  const int N = w.N;
  ln::copy_lines<double>(N * N, w.d_Q, w.X);
  for (int k = plan.noise_terms; k > 0; --k) {
    const D scale = ln::load(w.h) * ln::broadcast(1.0 / (k + 1));
    ln::set_zero(N * N, w.Y);
    for (std::size_t a = 0; a < plan.A.size(); ++a) {
      const Entry at = plan.A[a];
      const D value = ln::load(entry(w.A, static_cast<int>(a)));
      double* d = entry(w.d_A, static_cast<int>(a));
      ln::store(
          ln::fma(scale + scale, row_product(N, at.row, at.col, w.X, w.term_T(k - 1)), ln::load(d)),
          d);
      add_row(N, at.col, at.row, value, w.X, w.Y);
    }
    ln::copy_lines<double>(N * N, w.d_Q, w.X);
    symmetrise<Put::Add>(N, scale, w.Y, w.X);
  }
  for (int i = 0; i < N * N; ++i) ln::store(ln::load(w.h) * ln::load(entry(w.X, i)), entry(w.X, i));
  ln::gram_lower_backward<Put::Set, double>(N, L, w.X, d_L);
}

// Takes the adjoints of F and Q back over one doubling:
//   d_F = d_F F' + F' d_F + 2 d_Q F Q,   d_Q = d_Q + F' d_Q F   (all d_F of entries that F has).
void doubling_backward(const Plan& plan, const Work& w, int i, bool noise) {
  const int N = w.N;
  const double* F = w.doubled_F(i);
  const ln::LineMask<double> chosen = doubled_lanes(w, i);
  // X = F' d_F, Y = d_F F'.
  ln::set_zero(N * N, w.X);
  for_F(plan, F, [&](int r, int c, const D& f) HWY_ATTR { add_row(N, c, r, f, w.d_F, w.X); });
  for (const Entry& at : plan.F)
    ln::store(ln::load(entry(w.X, at.row * N + at.col)) + row_product(N, at.row, at.col, w.d_F, F),
              entry(w.Y, at.row * N + at.col));
  if (noise) {
    // X = F' d_Q; d_Q F Q = X' Q.
    ln::set_zero(N * N, w.X);
    for_F(plan, F, [&](int r, int c, const D& f) HWY_ATTR { add_row(N, c, r, f, w.d_Q, w.X); });
    for (const Entry& at : plan.F) {
      D sum = ln::zero<double>();
      for (int l = 0; l < N; ++l)
        sum = ln::fma(ln::load(entry(w.X, l * N + at.row)),
                      ln::load(entry(w.doubled_Q(i), l * N + at.col)), sum);
      double* to = entry(w.Y, at.row * N + at.col);
      ln::store(ln::load(to) + sum + sum, to);
    }
    // d_Q += F' d_Q F = X F, lower triangle, mirrored.
    for_F(plan, F, [&](int l, int j, const D& f) HWY_ATTR {
      const D factor = ln::select(chosen, f, ln::zero<double>());
      for (int r = j; r < N; ++r) {
        double* to = entry(w.d_Q, r * N + j);
        ln::store(ln::fma(ln::load(entry(w.X, r * N + l)), factor, ln::load(to)), to);
      }
    });
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < r; ++c)
        ln::store(ln::load(entry(w.d_Q, r * N + c)), entry(w.d_Q, c * N + r));
  }
  for (const Entry& at : plan.F) {
    double* to = entry(w.d_F, at.row * N + at.col);
    ln::store(ln::select(chosen, ln::load(entry(w.Y, at.row * N + at.col)), ln::load(to)), to);
  }
}

// Sets w.d_A, and d_L unless L is null, from w.d_F and w.d_Q.
void step_backward_of(const Plan& plan, const Work& w, const double* dt, const double* L, double* F,
                      double* Q, double* d_L) {
  const int N = w.N;
  const int m = step_of(plan, w, dt, L, F, Q);
  ln::set_zero(static_cast<int>(plan.A.size()), w.d_A);
  // Entries that F never has pass nothing on.
  ln::copy_lines<double>(N * N, w.d_F, w.X);
  ln::set_zero(N * N, w.d_F);
  for (const Entry& at : plan.F)
    ln::store(ln::load(entry(w.X, at.row * N + at.col)), entry(w.d_F, at.row * N + at.col));
  for (int i = m - 1; i >= 0; --i) doubling_backward(plan, w, i, L != nullptr);
  flow_series_backward(plan, w);
  if (L != nullptr) noise_series_backward(plan, w, L, d_L);
}

void step_here(const Plan& plan, const LinearFlowMap::Lines& lines, const double* dt,
               const double* L, double* F, double* Q) {
  step_of(plan, Work(plan, lines), dt, L, F, Q);
}
// `lines` holds A; d_F and d_Q are copied in. Leaves d_A.
void step_backward_here(const Plan& plan, const LinearFlowMap::Lines& lines, const double* dt,
                        const double* L, const double* d_F, const double* d_Q, double* d_L) {
  const Work w(plan, lines);
  ln::copy_lines(plan.N * plan.N, d_F, w.d_F);
  if (L != nullptr) ln::copy_lines(plan.N * plan.N, d_Q, w.d_Q);
  step_backward_of(plan, w, dt, L, w.spare_F, w.spare_Q, d_L);
}

}  // namespace kalmia::prior::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::prior {

HWY_EXPORT(step_here);
HWY_EXPORT(step_backward_here);

namespace {

constexpr int kLanes = lanes::kLineLanes<double>;
// Terms that a series has where it does not end by itself; see kSeriesReach.
constexpr int kTerms = 12;

bool has(const std::vector<LinearFlowMap::Entry>& entries, int row, int col) {
  return std::any_of(entries.begin(), entries.end(), [=](const LinearFlowMap::Entry& each) {
    return each.row == row && each.col == col;
  });
}

// Powers of A after which all are zero, judged by its pattern; N or more: never.
int nilpotency(const LinearFlowMap::Plan& plan) {
  std::vector<LinearFlowMap::Entry> power = plan.A;
  int k = 1;
  for (; k < plan.N && !power.empty(); ++k) {
    std::vector<LinearFlowMap::Entry> next;
    for (const LinearFlowMap::Entry& a : plan.A)
      for (const LinearFlowMap::Entry& b : power)
        if (a.col == b.row && !has(next, a.row, b.col)) next.push_back({a.row, b.col});
    power = std::move(next);
  }
  return power.empty() ? k : plan.N + 1;
}

LinearFlowMap::Plan plan_of(const expr::Graph& graph, int N, const Nodes& A) {
  LinearFlowMap::Plan plan;
  plan.N = N;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      if (!graph.is_constant(A[static_cast<std::size_t>(i * N + j)], 0)) plan.A.push_back({i, j});
  // exp(A) has the diagonal and whatever is reached along entries of A.
  for (int i = 0; i < N; ++i) plan.F.push_back({i, i});
  for (bool grown = true; grown;) {
    grown = false;
    for (const LinearFlowMap::Entry& a : plan.A)
      for (std::size_t f = 0; f < plan.F.size(); ++f)
        if (plan.F[f].row == a.col && !has(plan.F, a.row, plan.F[f].col)) {
          plan.F.push_back({a.row, plan.F[f].col});
          grown = true;
        }
  }
  const int power = nilpotency(plan);
  plan.nilpotent = power <= N;
  plan.flow_terms = plan.nilpotent ? power - 1 : kTerms;
  plan.noise_terms = plan.nilpotent ? 2 * (power - 1) : kTerms;
  return plan;
}

Nodes entries_of(const LinearFlowMap::Plan& plan, const Nodes& A) {
  Nodes entries;
  for (const LinearFlowMap::Entry& at : plan.A)
    entries.push_back(A[static_cast<std::size_t>(at.row * plan.N + at.col)]);
  return entries;
}

}  // namespace

LinearFlowMap::LinearFlowMap(const expr::Graph& graph, const Symbols& symbols, const Nodes& A)
    : plan_(plan_of(graph, symbols.states, A)), program_(graph, symbols, entries_of(plan_, A)) {}

int LinearFlowMap::program_lines() const {
  return static_cast<int>(program_.scratch_size()) / kLanes;
}

std::size_t LinearFlowMap::scratch_size() const {
  return static_cast<std::size_t>(lanes::count_lines<Lines>(plan_, program_lines())) * kLanes;
}

void LinearFlowMap::forward(const kalman::MapPoint& at, double* F, double* e,
                            double* scratch) const {
  forward_with_noise(at, nullptr, F, e, nullptr, scratch);
}

void LinearFlowMap::backward(const kalman::MapPoint& at, const double* d_F, const double* d_e,
                             double* d_x, double* d_theta, double* scratch) const {
  backward_with_noise(at, nullptr, d_F, d_e, nullptr, nullptr, d_x, d_theta, scratch);
}

void LinearFlowMap::forward_with_noise(const kalman::MapPoint& at, const double* L, double* F,
                                       double* e, double* Q, double* scratch) const {
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, plan_, program_lines());
  std::copy_n(program_.forward(at, lines.program), program_.num_outputs() * kLanes, lines.A);
  HWY_DYNAMIC_DISPATCH(step_here)(plan_, lines, at.dt, L, F, Q);
  std::fill_n(e, plan_.N * kLanes, 0.0);
}

void LinearFlowMap::backward_with_noise(const kalman::MapPoint& at, const double* L,
                                        const double* d_F, const double*, const double* d_Q,
                                        double* d_L, double* d_x, double* d_theta,
                                        double* scratch) const {
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, plan_, program_lines());
  const int outputs = program_.num_outputs();
  std::copy_n(program_.forward(at, lines.program), outputs * kLanes, lines.A);
  HWY_DYNAMIC_DISPATCH(step_backward_here)(plan_, lines, at.dt, L, d_F, d_Q, d_L);
  std::copy_n(lines.d_A, outputs * kLanes, program_.d_outputs(lines.program));
  program_.backward(at, d_x, d_theta, lines.program);
}

}  // namespace kalmia::prior
#endif
