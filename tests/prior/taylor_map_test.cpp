// TaylorMap with the Lorenz and with a dense state-dependent matrix: against Eigen and the
// derivative harness.
#include "prior/taylor_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kalmia/error.hpp"
#include "lanes/isa.hpp"
#include "prior/lorenz_matrix.hpp"
#include "support/gradient_check.hpp"
#include "support/lines.hpp"

namespace kalmia::test {
namespace {

// A(i, j) = B(i, j) + sin(x[(i + j) mod N]): every entry depends on the state.
class WavyMatrix : public prior::StateMatrix {
 public:
  explicit WavyMatrix(int N) : N_(N) {
    RandomStream random(91, "wavy");
    B_ = random_matrix(random, N, N);
  }
  int state_dim() const override { return N_; }
  void evaluate(const double* x, double* A) const override {
    for (int i = 0; i < N_; ++i)
      for (int j = 0; j < N_; ++j)
        for (int b = 0; b < 8; ++b)
          A[(i * N_ + j) * 8 + b] = B_(i, j) + std::sin(x[((i + j) % N_) * 8 + b]);
  }
  void adjoint(const double* x, const double* d_A, double* d_x) const override {
    for (int i = 0; i < N_; ++i)
      for (int j = 0; j < N_; ++j)
        for (int b = 0; b < 8; ++b) {
          const int at = ((i + j) % N_) * 8 + b;
          d_x[at] += std::cos(x[at]) * d_A[(i * N_ + j) * 8 + b];
        }
  }

 private:
  int N_;
  Matrix B_;
};

struct MapCase {
  MapCase(int order, double dt, std::shared_ptr<const prior::StateMatrix> A)
      : map(order, A),
        N(A->state_dim()),
        x(N, 1),
        F(N, N),
        e(N, 1),
        step(1, 1),
        scratch(map.scratch_size()) {
    RandomStream random(92, "state");
    fill(x, [&] { return random_matrix(random, N, 1); });
    fill(step, [&] { return Matrix::Constant(1, 1, dt); });
  }
  kalman::MapPoint at() { return {x.data(), step.data()}; }
  void forward() { map.forward(at(), F.data(), e.data(), scratch.data()); }
  prior::TaylorMap map;
  int N;
  Lines<double> x, F, e, step;
  Buffer<double> scratch;
};

Matrix taylor(const Matrix& A, int order) {
  Matrix sum = Matrix::Identity(A.rows(), A.cols()), term = sum;
  for (int i = 1; i <= order; ++i) {
    term = term * A / i;
    sum += term;
  }
  return sum;
}

TEST(TaylorMap, MatchesTheSeries) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const int N : {1, 3, 5, 8})
      for (const int order : {0, 1, 2, 3, 4, 7}) {
        const auto A = std::make_shared<WavyMatrix>(N);
        MapCase c(order, 0.2, A);
        std::fill(c.e.span().begin(), c.e.span().end(), 5.0);
        c.forward();
        Lines<double> matrix(N, N);
        A->evaluate(c.x.data(), matrix.data());
        for (int b = 0; b < c.x.kLanes; ++b) {
          EXPECT_LE(difference(c.F.get(b), taylor(0.2 * matrix.get(b), order)), 1e-13)
              << lanes::isa_name(isa) << " N " << N << " order " << order;
          EXPECT_EQ(c.e.get(b), Matrix::Zero(N, 1));
        }
      }
  }
  lanes::use_best_isa();
}

TEST(TaylorMap, AdjointMatchesCentralDifferences) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const int order : {0, 1, 2, 3, 5})
      for (const bool lorenz : {true, false}) {
        SCOPED_TRACE("order " + std::to_string(order) + (lorenz ? ", Lorenz" : ", wavy"));
        std::shared_ptr<const prior::StateMatrix> A = std::make_shared<prior::LorenzMatrix>();
        if (!lorenz) A = std::make_shared<WavyMatrix>(4);
        MapCase c(order, 0.05, A);
        RandomStream random(93, "weights");
        Lines<double> d_F(c.N, c.N), d_e(c.N, 1), d_x(c.N, 1);
        fill(d_F, [&] { return random_matrix(random, c.N, c.N); });
        fill(d_e, [&] { return random_matrix(random, c.N, 1); });
        // Accumulates: what was there must stay.
        std::fill(d_x.span().begin(), d_x.span().end(), 1.0);
        c.map.backward(c.at(), d_F.data(), d_e.data(), d_x.data(), nullptr, c.scratch.data());
        for (double& value : d_x.span()) value -= 1;
        check_gradient(
            [&] {
              c.forward();
              return weighted_sum(d_F.span(), c.F.span());
            },
            {{"x", c.x.span(), d_x.span()}}, 94);
      }
  }
  lanes::use_best_isa();
}

TEST(TaylorMap, ErrorsNameTheValueAndTheRule) {
  const auto message = [](int order, std::shared_ptr<const prior::StateMatrix> A) {
    try {
      const prior::TaylorMap map(order, A);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto A = std::make_shared<prior::LorenzMatrix>();
  EXPECT_EQ(message(-1, A), "order = -1, but a Taylor map needs order >= 0");
  EXPECT_EQ(message(1, nullptr), "A is null, but a Taylor map needs a matrix A(x)");
  EXPECT_EQ(message(1, A), "accepted");
}

}  // namespace
}  // namespace kalmia::test
