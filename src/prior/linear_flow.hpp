// The exact flow of a linear system in continuous time, with the noise that enters all along it.
#pragma once

#include <vector>

#include "kalman/transition_map.hpp"
#include "lanes/scratch.hpp"
#include "prior/point_program.hpp"

namespace kalmia::prior {

/// dx = A x dt + dw, where w has the density G and A (N x N) depends on the parameters alone:
///
///   F = exp(A dt),   e = 0,   Q = integral over s from 0 to dt of exp(A s) G exp(A s)' ds
///
/// for a step of any length, so that a step and the parts that it is cut into agree.
///
/// Over h = dt / 2^m both are Taylor series,
///
///   U[0] = I,     U[k] = (h / k) A U[k-1],                               F = sum of U
///   T[0] = h G,   T[k] = (h / (k + 1)) (A T[k-1] + T[k-1] A'),           Q = sum of T
///
/// and then, m times,   Q = Q + F Q F',   F = F F   (Van Loan's integral, by doubling).
///
/// A is sparse: products with it and with F run over the entries that can differ from zero. Where A
/// is nilpotent (a motion with constant derivatives) the series end, and m is 0.
class LinearFlowMap : public kalman::FlowMap {
 public:
  /// `A`: N x N expressions of the parameters, by rows.
  LinearFlowMap(const expr::Graph& graph, const Symbols& symbols, const Nodes& A);

  int state_dim() const override { return program_.symbols().states; }
  int input_dim() const override { return program_.symbols().inputs; }
  int parameter_count() const override { return program_.symbols().parameters; }
  std::size_t scratch_size() const override;
  bool any_step() const override { return true; }

  void forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const override;
  void backward(const kalman::MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double* scratch) const override;
  void forward_with_noise(const kalman::MapPoint& at, const double* L, double* F, double* e,
                          double* Q, double* scratch) const override;
  void backward_with_noise(const kalman::MapPoint& at, const double* L, const double* d_F,
                           const double* d_e, const double* d_Q, double* d_L, double* d_x,
                           double* d_theta, double* scratch) const override;

  /// An entry of a sparse matrix.
  struct Entry {
    int row = 0, col = 0;
  };

  /// What the kernels read, and where they work; see linear_flow.cpp.
  struct Plan {
    /// A step is cut into at most 2^60 parts: beyond that no double tells steps apart.
    static constexpr int kMostDoublings = 60;
    int N = 0;
    std::vector<Entry> A;  ///< entries of A that are not the constant 0
    std::vector<Entry> F;  ///< entries of exp(A dt) that can differ from zero
    int flow_terms = 0;    ///< of the series of F, after the first
    int noise_terms = 0;   ///< of the series of Q, after the first
    bool nilpotent = false;
  };

  /// What a step works in.
  struct Lines {
    double *A, *d_A, *h, *count, *X, *Y, *d_F, *d_Q, *U, *T;
    double* doubled;            ///< F and Q before each doubling
    double *spare_F, *spare_Q;  ///< where a backward pass leaves F and Q
    double* program;            ///< scratch of the program

    template <typename Taker>
    void lay_out(Taker& taker, const Plan& plan, int program_lines) {
      const int entries = static_cast<int>(plan.A.size()), N = plan.N;
      A = taker.take(entries);
      d_A = taker.take(entries);
      h = taker.take(1);
      count = taker.take(1);
      X = taker.take(N * N);
      Y = taker.take(N * N);
      d_F = taker.take(N * N);
      d_Q = taker.take(N * N);
      U = taker.take((plan.flow_terms + 1) * N * N);
      T = taker.take((plan.noise_terms + 1) * N * N);
      doubled = taker.take(plan.nilpotent ? 0 : 2 * Plan::kMostDoublings * N * N);
      spare_F = taker.take(N * N);
      spare_Q = taker.take(N * N);
      program = taker.take(program_lines);
    }
  };

 private:
  int program_lines() const;

  Plan plan_;
  PointProgram program_;  // the entries of A, in the order of plan_.A
};

}  // namespace kalmia::prior
