// The fusion of a filter with what the future says: against the naive computation, without leaks,
// and exact where the networks' word is.
#include "heads/fusion/fusion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "nn/softplus.hpp"
#include "support/encoders.hpp"
#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/joint_posterior.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {
namespace {

using reference::FusedStep;
using reference::Gaussian;

constexpr int kSteps = 13, kLanes = 16;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

heads::ArchitectureOptions smoother_options(int N, int M,
                                            nn::EncoderKind encoder = nn::EncoderKind::Gru) {
  heads::ArchitectureOptions options;
  options.state_dim = N;
  options.meas_dim = M;
  options.input_dim = 3;
  options.hidden = 6;
  options.decoder = {5};
  options.encoder = encoder;
  options.taps = 4;
  options.head = heads::HeadKind::Fusion;
  return options;
}

constexpr WindowFeatures kEverything{
    .missing = true, .uneven = true, .carried = true, .centre = true};

template <typename T>
std::vector<Gaussian> priors(const WindowCase<T>& c, int lane) {
  const int N = c.architecture.state_dim();
  std::vector<Gaussian> result;
  for (int k = 0; k < c.group.steps; ++k) {
    Gaussian& each = result.emplace_back(Gaussian{Vector(N), Matrix(N, N)});
    for (int i = 0; i < N; ++i) {
      each.mean(i) = c.prior_x[panel_at(k, N, i, c.group.lanes, lane)];
      for (int j = 0; j < N; ++j)
        each.cov(i, j) = c.prior_P[panel_at(k, N * N, i * N + j, c.group.lanes, lane)];
    }
  }
  return result;
}

template <typename T>
WindowResult run_case(WindowCase<T>& c) {
  heads::FusionWorkspace<T> workspace;
  workspace.prepare(c.fusion_model(), c.group.steps, c.group.lanes, false);
  return run_window(c.fusion_model(), c.fusion_input(), c.fusion_carry, workspace);
}

template <typename T>
void expect_reference(const heads::ArchitectureOptions& options, const WindowFeatures& features,
                      double tolerance) {
  WindowCase<T> c(options, features, kSteps, kLanes, 21);
  const reference::Model naive = reference_of(c);
  std::vector<reference::ModelSequence> sequences;
  for (int lane = 0; lane < kLanes; ++lane)
    sequences.push_back(sequence_of(c.architecture, c.group, lane));
  const WindowResult found = run_case(c);
  ASSERT_TRUE(found.failures.empty());
  const int N = options.state_dim;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::vector<Gaussian> prior = priors(c, lane);
    const std::vector<FusedStep> expected =
        reference::fuse(naive, sequences[static_cast<std::size_t>(lane)], prior);
    double total = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const int k = static_cast<int>(i);
      SCOPED_TRACE("lane " + std::to_string(lane) + ", step " + std::to_string(k));
      const FusedStep& e = expected[i];
      ASSERT_LE(difference(found.lane.at("x_pred").matrix(k, lane, N, 1), e.fused.mean), tolerance);
      ASSERT_LE(difference(found.lane.at("P_pred").matrix(k, lane, N, N), e.fused.cov), tolerance);
      ASSERT_LE(difference(found.lane.at("x_filt").matrix(k, lane, N, 1), e.smoothed.mean),
                tolerance);
      ASSERT_LE(difference(found.lane.at("P_filt").matrix(k, lane, N, N), e.smoothed.cov),
                tolerance);
      ASSERT_NEAR(found.lane.at("nll").at(k, 0, lane), e.nll,
                  tolerance * std::max(1.0, std::abs(e.nll)));
      total += e.nll;
    }
    EXPECT_NEAR(found.lane.at("lane_nll").at(0, 0, lane), total,
                tolerance * std::max(1.0, std::abs(total)) * kSteps);
  }
}

TEST(Fusion, MatchesTheNaiveComputation) {
  for_each_isa([] {
    for_each_encoder([](nn::EncoderKind encoder) {
      for (const auto& [N, M] : {std::pair{3, 2}, {1, 1}, {2, 3}, {5, 2}}) {
        SCOPED_TRACE("N = " + std::to_string(N) + ", M = " + std::to_string(M));
        // The networks' activations are polynomials, good to 1e-9 or so in double.
        expect_reference<double>(smoother_options(N, M, encoder), {}, 1e-8);
        expect_reference<double>(smoother_options(N, M, encoder), kEverything, 1e-8);
        expect_reference<float>(smoother_options(N, M, encoder), kEverything, 3e-4);
      }
    });
  });
}

// The last step of a series has no future, and neither has a step past a lane's end or one whose
// centre is not known: the fused prediction is the filter's, bit for bit.
TEST(Fusion, WithoutAFutureItIsTheFiltersPrediction) {
  for_each_isa([] {
    WindowCase<float> c(smoother_options(3, 2), kEverything, kSteps, kLanes, 22);
    constexpr int kUnknown = 4, N = 3;  // no centre at this step
    for (int row = 0; row < N; ++row)
      for (int lane = 0; lane < kLanes; ++lane)
        c.group.centre[panel_at(kUnknown, N, row, kLanes, lane)] = kNaN;
    const WindowResult found = run_case(c);
    int changed = 0;
    for (int lane = 0; lane < kLanes; ++lane)
      for (int k = 0; k < kSteps; ++k) {
        bool same = true;
        for (int row = 0; row < N; ++row)
          same = same && same_bits(found.lane.at("x_pred").at(k, row, lane),
                                   c.prior_x[panel_at(k, N, row, kLanes, lane)]);
        for (int row = 0; row < N * N; ++row)
          same = same && same_bits(found.lane.at("P_pred").at(k, row, lane),
                                   c.prior_P[panel_at(k, N * N, row, kLanes, lane)]);
        const bool ended = k >= length_of(c.group, lane);
        if (ended || k == kUnknown || (k == 0 && is_fresh(c.group, lane)))
          EXPECT_TRUE(same) << "lane " << lane << ", step " << k;
        else
          changed += same ? 0 : 1;
        if (ended) {
          EXPECT_EQ(found.lane.at("nll").at(k, 0, lane), 0) << "lane " << lane << ", step " << k;
        }
      }
    EXPECT_GT(changed, 50);
  });
}

// Adds to one number of a panel at a step, in all lanes.
template <typename Panel>
void disturb(Panel& panel, int step, int rows, double by) {
  for (int row = 0; row < rows; ++row)
    for (int lane = 0; lane < kLanes; ++lane)
      panel[panel_at(step, rows, row, kLanes, lane)] +=
          static_cast<std::remove_cvref_t<decltype(panel[0])>>(by);
}

bool same_step(const WindowResult& a, const WindowResult& b, int k,
               const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const ResultPanel& pa = a.lane.at(name);
    for (int row = 0; row < pa.rows; ++row)
      for (int lane = 0; lane < kLanes; ++lane)
        if (!same_bits(pa.at(k, row, lane), b.lane.at(name).at(k, row, lane))) return false;
  }
  return true;
}

// What is known of x[k] without y[k] must not change with y[k]; and a step's results hang on its
// own measurement and prediction and on what the encoder has read, nothing else.
TEST(Fusion, NothingLeaks) {
  for_each_isa([] {
    const heads::ArchitectureOptions options = smoother_options(3, 2);
    constexpr WindowFeatures kFeatures{.centre = true};
    const auto result = [&](auto&& change) {
      WindowCase<float> c(options, kFeatures, kSteps, kLanes, 23);
      change(c);
      return run_case(c);
    };
    using Case = WindowCase<float>;
    const std::vector<std::string> fused = {"x_pred", "P_pred"},
                                   all = {"x_pred", "P_pred", "x_filt", "P_filt", "nll"};
    const WindowResult plain = result([](Case&) {});
    for (int k = 0; k < kSteps; ++k) {
      const WindowResult other_y = result([&](Case& at) { disturb(at.group.y, k, 2, 3); });
      const WindowResult no_y = result([&](Case& at) {
        at.group.observed.resize(at.group.y.size());
        for (double& each : at.group.observed.span()) each = 1;
        disturb(at.group.observed, k, 2, -1);
      });
      const WindowResult other_x = result([&](Case& at) { disturb(at.prior_x, k, 3, 0.5); });
      const WindowResult other_c = result([&](Case& at) { disturb(at.group.centre, k, 3, 0.5); });
      const WindowResult other_input =
          result([&](Case& at) { disturb(at.group.input_fwd, k, 3, 0.5); });
      for (int j = 0; j < kSteps; ++j) {
        SCOPED_TRACE("changed " + std::to_string(k) + ", seen at " + std::to_string(j));
        EXPECT_TRUE(same_step(plain, other_y, j, fused));
        EXPECT_TRUE(same_step(plain, no_y, j, fused));
        EXPECT_EQ(same_step(plain, other_y, j, {"x_filt"}), j != k);
        EXPECT_EQ(same_step(plain, other_y, j, {"nll"}), j != k);
        EXPECT_EQ(same_step(plain, no_y, j, {"P_filt"}), j != k);
        EXPECT_EQ(same_step(plain, other_x, j, all), j != k);
        EXPECT_EQ(same_step(plain, other_c, j, all), j != k || k == 0);
        // The encoder remembers; what it reads first it does not see, for the series starts there.
        EXPECT_EQ(same_step(plain, other_input, j, all), j < k || k == 0);
      }
    }
  });
}

// What y[>k] say about x[k] alone: information matrix and vector, from the dense covariance of
// y[>k] given x[k].
struct Information {
  Matrix matrix;
  Vector vector;
};
Information of_the_future(const reference::DenseSystem& s, const std::vector<Vector>& y,
                          std::size_t k) {
  const Eigen::Index N = s.F.rows(), M = s.H.rows();
  const auto count = static_cast<Eigen::Index>(y.size() - k - 1);
  // y = A x[k] + B (process noise) + r
  Matrix A(M * count, N), B = Matrix::Zero(M * count, N * count);
  Vector stacked(M * count);
  Matrix power = Matrix::Identity(N, N);
  std::vector<Matrix> powers = {power};
  for (Eigen::Index i = 0; i < count; ++i) {
    power = (s.F * power).eval();
    powers.push_back(power);
    A.middleRows(i * M, M) = s.H * power;
    for (Eigen::Index j = 0; j <= i; ++j)
      B.block(i * M, j * N, M, N) = s.H * powers[static_cast<std::size_t>(i - j)];
    stacked.segment(i * M, M) = y[k + 1 + static_cast<std::size_t>(i)];
  }
  Matrix Q = Matrix::Zero(N * count, N * count), R = Matrix::Zero(M * count, M * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    Q.block(i * N, i * N, N, N) = s.Q;
    R.block(i * M, i * M, M, M) = s.R;
  }
  const std::vector<int> rows = reference::observed_components(stacked);
  const Matrix W = Matrix((B * Q * B.transpose() + R)(rows, rows)).inverse();
  const Matrix seen = A(rows, Eigen::all);
  return {seen.transpose() * W * seen, seen.transpose() * W * stacked(rows)};
}

// Lower triangular U with U U' = a positive semi-definite matrix.
Matrix root_of(Matrix a) {
  const Eigen::Index N = a.rows();
  const double small = 1e-12 * a.cwiseAbs().maxCoeff();
  Matrix U = Matrix::Zero(N, N);
  for (Eigen::Index j = 0; j < N; ++j) {
    if (a(j, j) <= small) continue;
    U.col(j).tail(N - j) = a.col(j).tail(N - j) / std::sqrt(a(j, j));
    a -= (U.col(j) * U.col(j).transpose()).eval();
  }
  return U;
}

// Constant velocity, its position measured. The encoder is a convolution of one tap and the decoder
// one layer, with weights that hand the inputs on: so the inputs choose z and U.
TEST(Fusion, IsExactForALinearGaussianSystemIfTheFutureIs) {
  reference::DenseSystem s;
  s.F = Matrix{{1, 1}, {0, 1}};
  s.e = Vector::Zero(2);
  s.Q = Matrix{{0.3, 0.1}, {0.1, 0.2}};
  s.H = Matrix{{1, 0}};
  s.R = Matrix{{0.5}};
  s.initial = {Vector{{1, -0.5}}, Matrix{{2, 0.3}, {0.3, 1}}};
  RandomStream random(24, "exact");
  std::vector<Vector> y;
  Vector x = s.initial.mean;
  for (int k = 0; k < kSteps; ++k) {
    x = s.F * x + 0.5 * random_matrix(random, 2, 1);
    const bool seen = k != 3 && k != 8 && k != 9;
    y.push_back(Vector{{seen ? x(0) + 0.7 * random.normal() : kNaN}});
  }
  const reference::Run filtered =
      reference::filter(reference::linear_system(s.initial, s.F, s.e, s.Q, s.H, s.R), y);

  constexpr int kOut = 5;            // z, and the triangle of U
  constexpr double kScale = 0x1p-7;  // keeps tanh near 0, where it is exact enough
  heads::ArchitectureOptions options = smoother_options(2, 1, nn::EncoderKind::Conv);
  options.taps = 1;
  options.input_dim = options.hidden = kOut;
  options.decoder = {};
  WindowCase<double> c(options, {.map = false}, kSteps, kLanes, 25);
  c.emission = kalman::Emission(2, 1, {1, 0}, {0.5});
  for (double& p : c.parameters.span()) p = 0;
  for (std::ptrdiff_t i = 0; i < kOut; ++i) {
    c.parameters[static_cast<std::size_t>(c.architecture.parameters.at("conv_fwd.weight").offset +
                                          i * (kOut + 1))] = 1;
    c.parameters[static_cast<std::size_t>(c.architecture.parameters.at("decoder.0.weight").offset +
                                          i * (kOut + 1))] = 1 / kScale;
  }
  heads::StateGroup<double>& group = c.group;
  group.observed.resize(group.y.size());
  for (int step = 0; step < kSteps; ++step) {
    const auto k = static_cast<std::size_t>(kSteps - 1 - step);
    Vector out = Vector::Zero(kOut);
    if (step > 0) {
      const Information future = of_the_future(s, y, k);
      const Matrix U = root_of(future.matrix);
      out.head(2) = future.matrix.completeOrthogonalDecomposition().solve(future.vector);
      out(2) = nn::inverse_softplus(std::max(U(0, 0), 1e-10));
      out(3) = U(1, 0);
      out(4) = nn::inverse_softplus(std::max(U(1, 1), 1e-10));
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int i = 0; i < kOut; ++i)
        group.input_fwd[panel_at(step, kOut, i, kLanes, lane)] = std::atanh(kScale * out(i));
      for (int i = 0; i < 2; ++i)
        c.prior_x[panel_at(step, 2, i, kLanes, lane)] = filtered.predicted[k].mean(i);
      for (int i = 0; i < 4; ++i)
        c.prior_P[panel_at(step, 4, i, kLanes, lane)] = filtered.predicted[k].cov(i / 2, i % 2);
      const bool seen = !std::isnan(y[k](0));
      group.y[panel_at(step, 1, 0, kLanes, lane)] = seen ? y[k](0) : 0;
      group.observed[panel_at(step, 1, 0, kLanes, lane)] = seen ? 1 : 0;
    }
  }
  const std::vector<Gaussian> smoothed = reference::joint_smoothed(s, y);
  const double all = reference::joint_log_likelihood(s, y);
  for_each_isa([&] {
    c.pack();
    const WindowResult found = run_case(c);
    ASSERT_TRUE(found.failures.empty());
    constexpr double kTolerance = 1e-7;
    for (int step = 0; step < kSteps; ++step) {
      const auto k = static_cast<std::size_t>(kSteps - 1 - step);
      SCOPED_TRACE("step " + std::to_string(k));
      std::vector<Vector> others = y;
      others[k].setConstant(kNaN);
      const Gaussian expected = reference::joint_smoothed(s, others)[k];
      EXPECT_LE(difference(found.lane.at("x_pred").matrix(step, 5, 2, 1), expected.mean),
                kTolerance);
      EXPECT_LE(difference(found.lane.at("P_pred").matrix(step, 5, 2, 2), expected.cov),
                kTolerance);
      EXPECT_LE(difference(found.lane.at("x_filt").matrix(step, 5, 2, 1), smoothed[k].mean),
                kTolerance);
      EXPECT_LE(difference(found.lane.at("P_filt").matrix(step, 5, 2, 2), smoothed[k].cov),
                kTolerance);
      // p(y[k] | all others)
      const double given = all - reference::joint_log_likelihood(s, others);
      const double constant = std::isnan(y[k](0)) ? 0 : std::log(2 * std::numbers::pi);
      EXPECT_NEAR(found.lane.at("nll").at(step, 0, 5), -2 * given - constant, 1e-6);
    }
  });
}

// The whole backward pass, parameter by parameter, and the carried state, against central
// differences of the forward pass in double.
TEST(Fusion, AdjointMatchesCentralDifferences) {
  WindowFeatures all = kEverything;
  all.driven = true;
  WindowFeatures bent = all;
  bent.bent = bent.weighted = true;
  struct Case {
    int state_dim, meas_dim;
    WindowFeatures features;
    nn::EncoderKind encoder;
  };
  for (const Case& each : {Case{3, 3, {}, nn::EncoderKind::Gru},
                           {3, 2, all, nn::EncoderKind::Gru},
                           {2, 3, bent, nn::EncoderKind::Lstm},
                           {2, 2, all, nn::EncoderKind::Conv},
                           {3, 2, all, nn::EncoderKind::Transformer},
                           {2, 2, all, nn::EncoderKind::Tcn}}) {
    SCOPED_TRACE(std::to_string(each.state_dim) + " states");
    constexpr int kLong = 19;  // more than one chunk of weight gradients
    constexpr double kScale = 0.01;
    WindowCase<double> c(smoother_options(each.state_dim, each.meas_dim, each.encoder),
                         each.features, kLong, kLanes, 11);
    heads::FusionWorkspace<double> workspace;
    workspace.prepare(c.fusion_model(), kLong, kLanes, true);
    const auto loss = [&] {
      c.pack();
      heads::FusionCarry<double> carry;
      carry.resize(c.architecture, kLanes);
      std::ranges::copy(c.fusion_carry.h.span(), carry.h.data());
      return kScale *
             engine::window_forward(c.fusion_model(), c.fusion_input(), carry, {}, workspace);
    };
    ASSERT_TRUE(std::isfinite(loss()));
    ASSERT_TRUE(workspace.failures.empty());
    engine::window_backward(c.fusion_model(), c.fusion_input(), kScale, workspace);
    const std::vector<double> gradient = in_double(workspace.gradient);
    const std::vector<double> d_h = in_double(workspace.d_h);
    std::vector<GradientVariable> variables;
    for (const nn::ParameterView& view : c.architecture.parameters.views()) {
      const auto size = static_cast<std::size_t>(view.size());
      variables.push_back({view.name,
                           {c.parameters.data() + view.offset, size},
                           {gradient.data() + view.offset, size},
                           0});
    }
    if (each.features.carried) variables.push_back({"carried h", c.fusion_carry.h.span(), d_h, 0});
    // A short difference: it must not step over the kinks of the decoder's ReLU.
    check_gradient(loss, variables, 5, {.step = 1e-6});
  }
}

}  // namespace
}  // namespace kalmia::test
