// The density of an innovation under Student-t noise, and its adjoint: for one line of lanes, in
// double.

#if defined(KALMIA_KALMAN_STUDENT_DENSITY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_STUDENT_DENSITY_INL_H_
#undef KALMIA_KALMAN_STUDENT_DENSITY_INL_H_
#else
#define KALMIA_KALMAN_STUDENT_DENSITY_INL_H_
#endif

#include "kalman/student_density.hpp"
#include "kalman/update-inl.h"
#include "lanes/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

/// The innovation is r = b + D^-1/2 e with b ~ N(0, B) (the prediction's error), e ~ N(0, R),
/// D = diag(w) and independent w_i ~ Gamma(nu / 2, nu / 2). Its density is a product over the
/// components, each given those before it:
///
///   p(r) = prod_i p(r_i | r_<i),
///   p(r_i | r_<i) = sum_k p_k N(r_i; m_i(w_k), v_i(w_k)),        (w_k, p_k) of StudentNodes
///
/// where m_i(w) and v_i(w) are the moments of component i in N(0, S), S = B + D^-1/2 R D^-1/2,
/// given the components before it, with w_i = w; those before it have the mean of their weight
/// given r_<=j. Nothing that a factor is conditioned on depends on r_i, so that every factor, and
/// the product, is a density: it integrates to 1 over r. With one component, or where neither B nor
/// R correlates them, it is the exact one (to the accuracy of the nodes); elsewhere the order of
/// the components matters a little. As nu grows it becomes N(0, B + R).
///
/// With C the Cholesky factor of S, row i is s = (B_ij + a_i a_j R_ij)_{j<i}, a = w^-1/2:
///
///   C_i,<i = l_B + a_i l_R,   l_B = C_<i^-1 B_i,<i,   l_R = C_<i^-1 (a_j R_ij),   z = C^-1 r
///   m_i = (l_B + a_i l_R)' z_<i,   v_i = B_ii + a_i^2 R_ii - |l_B + a_i l_R|^2
///
/// Holds no data of its own: `lines` has student_density_lines(M) of them.
class StudentDensity : private StudentDensityLines {
  using D = ln::Line<double>;

 public:
  StudentDensity(int M, const StudentNodes& nodes, double* lines)
      : M_(M), nodes_(nodes), taker_(lines) {
    lay_out(taker_, M);
  }

  /// nll = -2 log p(r), without log 2 pi. Components that are missing (r and B zero, R the identity
  /// there) do not count. NaN where S is not positive definite.
  ///
  /// Shapes: r (M), B and R (M x M), observed (M, or null), nll (1, set).
  HWY_NOINLINE void forward(const double* r, const double* B, const double* R,
                            const double* observed, double* nll) {
    D sum = ln::zero<double>();
    for (int i = 0; i < M_; ++i) {
      solve_row(i, B, R);
      const Row row = row_of(i, B, R);
      const D r_i = ln::load(entry(r, i));
      D best = ln::broadcast(0.0);
      for (int k = 0; k < nodes_.count; ++k) {
        const auto n = static_cast<std::size_t>(k);
        const D v = row.variance(ln::broadcast(nodes_.scale[n]));
        const D u = r_i - row.mean(ln::broadcast(nodes_.scale[n]));
        const D log_share = ln::broadcast(nodes_.log_share[n]) -
                            ln::broadcast(0.5) * (u * u / v + ln::log_positive(v));
        ln::store(log_share, share(i, k));
        best = k == 0 ? log_share : ln::select(ln::greater(log_share, best), log_share, best);
      }
      D total = ln::zero<double>(), weight = ln::zero<double>();
      for (int k = 0; k < nodes_.count; ++k) {
        const D each = ln::exp(ln::load(share(i, k)) - best);
        ln::store(each, share(i, k));
        total = total + each;
        weight = ln::fma(ln::broadcast(nodes_.weight[static_cast<std::size_t>(k)]), each, weight);
      }
      for (int k = 0; k < nodes_.count; ++k) ln::store(ln::load(share(i, k)) / total, share(i, k));
      D a = ln::sqrt(total / weight);
      D log_density = best + ln::log_positive(total);
      if (observed != nullptr) {
        a = ln::select(is_observed(observed, i), a, ln::broadcast(1.0));
        log_density = ln::select(is_observed(observed, i), log_density, ln::zero<double>());
      }
      sum = ln::fma(ln::broadcast(-2.0), log_density, sum);
      ln::store(a, entry(a_, i));
      finish_row(i, row, r_i, a);
    }
    ln::store(sum, nll);
  }

  /// After forward with the same r, B, R and observed: sets d_r (M), d_B and d_R (M x M, full
  /// symmetric), which are zero where a component is missing.
  HWY_NOINLINE void backward(const double* r, const double* B, const double* R,
                             const double* observed, const double* d_nll, double* d_r, double* d_B,
                             double* d_R) {
    ln::set_zero(lanes::triangle_size(M_), d_C_);
    ln::set_zero(M_, d_z_);
    ln::set_zero(M_, d_a_);
    for (int i = M_ - 1; i >= 0; --i) backward_row(i, r, B, R, observed, d_nll, d_r, d_B, d_R);
    if (observed == nullptr) return;
    for (int i = 0; i < M_; ++i)
      for (int j = 0; j < M_; ++j)
        for (double* d : {entry(d_B, i * M_ + j), entry(d_R, i * M_ + j)}) {
          const D seen = ln::select(is_observed(observed, j), ln::load(d), ln::zero<double>());
          ln::store(ln::select(is_observed(observed, i), seen, ln::zero<double>()), d);
        }
  }

 private:
  // Component i given those before it, as a function of a = w_i^-1/2.
  struct Row {
    D m_B, m_R;        // l_B' z, l_R' z
    D v_B, v_BR, v_R;  // B_ii - l_B' l_B, l_B' l_R, R_ii - l_R' l_R
    D mean(const D& a) const { return ln::fma(a, m_R, m_B); }
    D variance(const D& a) const {
      return ln::fma(a, ln::fnma(ln::broadcast(2.0), v_BR, a * v_R), v_B);
    }
  };

  double* share(int i, int k) const { return entry(shares_, i * StudentNodes::kMost + k); }
  static double* at(double* triangle, int i, int j) {
    return entry(triangle, lanes::triangle_index(i, j));
  }

  // l_B and l_R of row i.
  void solve_row(int i, const double* B, const double* R) const {
    for (int j = 0; j < i; ++j) {
      D b = ln::load(entry(B, i * M_ + j));
      D c = ln::load(entry(R, i * M_ + j)) * ln::load(entry(a_, j));
      for (int k = 0; k < j; ++k) {
        const D C_jk = ln::load(at(C_, j, k));
        b = ln::fnma(C_jk, ln::load(at(l_B_, i, k)), b);
        c = ln::fnma(C_jk, ln::load(at(l_R_, i, k)), c);
      }
      const D pivot = ln::load(at(C_, j, j));
      ln::store(b / pivot, at(l_B_, i, j));
      ln::store(c / pivot, at(l_R_, i, j));
    }
  }

  Row row_of(int i, const double* B, const double* R) const {
    Row row{ln::zero<double>(), ln::zero<double>(), ln::load(entry(B, i * (M_ + 1))),
            ln::zero<double>(), ln::load(entry(R, i * (M_ + 1)))};
    for (int j = 0; j < i; ++j) {
      const D b = ln::load(at(l_B_, i, j)), c = ln::load(at(l_R_, i, j));
      const D z = ln::load(entry(z_, j));
      row.m_B = ln::fma(b, z, row.m_B);
      row.m_R = ln::fma(c, z, row.m_R);
      row.v_B = ln::fnma(b, b, row.v_B);
      row.v_BR = ln::fma(b, c, row.v_BR);
      row.v_R = ln::fnma(c, c, row.v_R);
    }
    return row;
  }

  void finish_row(int i, const Row& row, const D& r_i, const D& a) const {
    for (int j = 0; j < i; ++j)
      ln::store(ln::fma(a, ln::load(at(l_R_, i, j)), ln::load(at(l_B_, i, j))), at(C_, i, j));
    const D pivot = ln::sqrt(row.variance(a));
    ln::store(pivot, at(C_, i, i));
    ln::store((r_i - row.mean(a)) / pivot, entry(z_, i));
  }

  void backward_row(int i, const double* r, const double* B, const double* R,
                    const double* observed, const double* d_nll, double* d_r, double* d_B,
                    double* d_R) const {
    const D half = ln::broadcast(0.5), two = ln::broadcast(2.0);
    const Row row = row_of(i, B, R);
    const D r_i = ln::load(entry(r, i)), a = ln::load(entry(a_, i));
    const D pivot = ln::load(at(C_, i, i)), z = ln::load(entry(z_, i));
    // z_i and C_i, which later components are conditioned on.
    const D d_u = ln::load(entry(d_z_, i)) / pivot;
    const D d_v = half * ln::fnma(z, d_u, ln::load(at(d_C_, i, i))) / pivot;
    Row d{-d_u, -(a * d_u), d_v, -(two * a * d_v), a * a * d_v};
    D d_r_i = d_u;
    D d_a = ln::load(entry(d_a_, i)) - row.m_R * d_u + two * d_v * ln::fma(a, row.v_R, -row.v_BR);
    for (int j = 0; j < i; ++j)
      d_a = ln::fma(ln::load(at(d_C_, i, j)), ln::load(at(l_R_, i, j)), d_a);
    // a = w^-1/2, w the mean of the nodes' weights.
    const D w = ln::broadcast(1.0) / (a * a);
    D d_w = -(half * a * a * a * d_a);
    D d_log = -(two * ln::load(d_nll));
    if (observed != nullptr) {
      d_w = ln::select(is_observed(observed, i), d_w, ln::zero<double>());
      d_log = ln::select(is_observed(observed, i), d_log, ln::zero<double>());
    }
    for (int k = 0; k < nodes_.count; ++k) {
      const auto n = static_cast<std::size_t>(k);
      const D a_k = ln::broadcast(nodes_.scale[n]);
      const D d_share =
          ln::load(share(i, k)) * ln::fma(d_w, ln::broadcast(nodes_.weight[n]) - w, d_log);
      const D u_v = (r_i - row.mean(a_k)) / row.variance(a_k);
      const D d_u_k = -(u_v * d_share);
      const D d_v_k = half * d_share * ln::fma(u_v, u_v, -(ln::broadcast(1.0) / row.variance(a_k)));
      d_r_i = d_r_i + d_u_k;
      d.m_B = d.m_B - d_u_k;
      d.m_R = ln::fnma(a_k, d_u_k, d.m_R);
      d.v_B = d.v_B + d_v_k;
      d.v_BR = ln::fnma(two * a_k, d_v_k, d.v_BR);
      d.v_R = ln::fma(a_k * a_k, d_v_k, d.v_R);
    }
    ln::store(d_r_i, entry(d_r, i));
    ln::store(d.v_B, entry(d_B, i * (M_ + 1)));
    ln::store(d.v_R, entry(d_R, i * (M_ + 1)));
    // The adjoints of l_B and l_R, in the places of row i of d_C and of l_R, are solved backwards.
    for (int j = i - 1; j >= 0; --j) {
      const D b = ln::load(at(l_B_, i, j)), c = ln::load(at(l_R_, i, j));
      const D z_j = ln::load(entry(z_, j));
      ln::store(ln::fma(d.m_R, c, ln::fma(d.m_B, b, ln::load(entry(d_z_, j)))), entry(d_z_, j));
      const D d_C_ij = ln::load(at(d_C_, i, j));
      const D d_b = ln::fma(d.v_BR, c, ln::fma(d.m_B, z_j, ln::fnma(two * d.v_B, b, d_C_ij)));
      const D d_c = ln::fma(d.v_BR, b, ln::fma(d.m_R, z_j, ln::fnma(two * d.v_R, c, a * d_C_ij)));
      ln::store(d_b, at(d_C_, i, j));
      ln::store(d_c, entry(d_R, i * M_ + j));
    }
    for (int j = i - 1; j >= 0; --j) {
      D s_b = ln::load(at(d_C_, i, j)), s_c = ln::load(entry(d_R, i * M_ + j));
      for (int k = j + 1; k < i; ++k) {
        const D C_kj = ln::load(at(C_, k, j));
        s_b = ln::fnma(C_kj, ln::load(at(d_C_, i, k)), s_b);
        s_c = ln::fnma(C_kj, ln::load(entry(d_R, i * M_ + k)), s_c);
      }
      const D diagonal = ln::load(at(C_, j, j));
      ln::store(s_b / diagonal, at(d_C_, i, j));
      ln::store(s_c / diagonal, entry(d_R, i * M_ + j));
    }
    for (int j = 0; j < i; ++j) {
      const D s_b = ln::load(at(d_C_, i, j)), s_c = ln::load(entry(d_R, i * M_ + j));
      for (int k = 0; k <= j; ++k) {
        const D used = ln::fma(s_b, ln::load(at(l_B_, i, k)), s_c * ln::load(at(l_R_, i, k)));
        ln::store(ln::load(at(d_C_, j, k)) - used, at(d_C_, j, k));
      }
      ln::store(ln::fma(s_c, ln::load(entry(R, i * M_ + j)), ln::load(entry(d_a_, j))),
                entry(d_a_, j));
      for (double* place : {entry(d_B, i * M_ + j), entry(d_B, j * M_ + i)})
        ln::store(half * s_b, place);
      const D noise = half * s_c * ln::load(entry(a_, j));
      for (double* place : {entry(d_R, i * M_ + j), entry(d_R, j * M_ + i)})
        ln::store(noise, place);
    }
  }

  int M_;
  const StudentNodes& nodes_;
  lanes::LineTaker<double> taker_;
};

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
