// The extended filter and smoother and the iterated smoother against the reference.
#include <gtest/gtest.h>

#include "kalman/classical_cases.hpp"
#include "lanes/isa.hpp"

namespace kalmia::test {
namespace {

// A damped pendulum observed through its sine and its speed; the step's index drives it a little.
Vector swing(const Vector& x, int k) {
  const double dt = 0.15;
  return Vector{{x(0) + dt * x(1), x(1) - dt * (4 * std::sin(x(0)) + 0.2 * x(1)) + 0.01 * k}};
}
Matrix swing_jacobian(const Vector& x) {
  const double dt = 0.15;
  return Matrix{{1, dt}, {-dt * 4 * std::cos(x(0)), 1 - dt * 0.2}};
}
Vector look(const Vector& x) { return Vector{{std::sin(x(0)), x(1)}}; }
Matrix look_jacobian(const Vector& x) { return Matrix{{std::cos(x(0)), 0}, {0, 1}}; }

struct Pendulum {
  Pendulum() {
    system.initial = {Vector{{0.8, 0}}, 0.3 * Matrix::Identity(2, 2)};
    system.Q = Matrix{{0.002, 0.0005}, {0.0005, 0.01}};
    system.R = Matrix{{0.05, 0}, {0, 0.3}};
    system.transition = [](const Vector& x, int k, reference::Step& step) {
      step.F = swing_jacobian(x);
      step.e = swing(x, k) - step.F * x;
    };
    system.emission = [](const Vector& x, int, reference::Step& step) {
      step.H = look_jacobian(x);
      step.offset = look(x) - step.H * x;
    };
    model.state_dim = model.meas_dim = 2;
    model.Q = row_major(system.Q);
    model.R = row_major(system.R);
    model.x0 = row_major(system.initial.mean);
    model.P0 = row_major(system.initial.cov);
    model.transition = [](std::span<const double> x, int k, std::span<double> value,
                          std::span<double> jacobian) {
      const Vector at{{x[0], x[1]}};
      put(swing(at, k), value);
      put(swing_jacobian(at), jacobian);
    };
    model.emission = [](std::span<const double> x, int, std::span<double> value,
                        std::span<double> jacobian) {
      const Vector at{{x[0], x[1]}};
      put(look(at), value);
      put(look_jacobian(at), jacobian);
    };
  }
  static void put(const Matrix& matrix, std::span<double> out) {
    const std::vector<double> values = row_major(matrix);
    std::copy(values.begin(), values.end(), out.begin());
  }
  Data simulate(int series, int steps, double missing) const {
    Data data(series, steps, 2, missing, 81);
    RandomStream random(82, "pendulum");
    for (int s = 0; s < series; ++s) {
      Vector x{{0.8 + 0.3 * random.normal(), 0.5 * random.normal()}};
      for (int k = 0; k < steps; ++k) {
        if (k > 0) x = swing(x, k) + Vector{{0.04 * random.normal(), 0.1 * random.normal()}};
        const Vector y = look(x) + Vector{{0.2 * random.normal(), 0.5 * random.normal()}};
        for (int m = 0; m < 2; ++m)
          if (!std::isnan(data.at(s, k, m))) data.at(s, k, m) = y(m);
      }
    }
    return data;
  }
  reference::System system;
  NonlinearModel model;
};

class ClassicalNonlinear : public testing::Test {
 protected:
  void TearDown() override { lanes::use_best_isa(); }
};

TEST_F(ClassicalNonlinear, ExtendedFilterAndSmootherMatchReference) {
  const Pendulum pendulum;
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const int series : {1, 7, 8, 9, 17}) {
      SCOPED_TRACE(std::string(lanes::isa_name(isa)) + ", " + std::to_string(series) + " series");
      Data data = pendulum.simulate(series, 25, 0.2);
      if (series > 1) data.vary_lengths();
      FilterOptions options;
      options.threads = series % 3;
      const FilterResult result = extended_rts_smoother(pendulum.model, data.view(), options);
      for (int s = 0; s < series; ++s) {
        reference::Run run = reference::filter(pendulum.system, data.one(s));
        reference::smooth(run);
        expect_run(result, s, run, 1e-10);
      }
      FilterResult filtered = extended_kalman_filter(pendulum.model, data.view());
      EXPECT_TRUE(filtered.smoothed.mean.empty());
      EXPECT_TRUE(same_bits(filtered.filtered.mean, result.filtered.mean));
      EXPECT_EQ(filtered.log_likelihood, result.log_likelihood);
    }
  }
}

TEST_F(ClassicalNonlinear, IteratedSmootherMatchesReference) {
  const Pendulum pendulum;
  Data data = pendulum.simulate(11, 25, 0.2);
  data.vary_lengths();
  for (const int iterations : {0, 1, 3}) {
    const FilterResult result =
        iterated_extended_smoother(pendulum.model, data.view(), {}, {iterations, 0});
    for (int s = 0; s < data.series; ++s) {
      if (data.length(s) == 0) continue;
      EXPECT_EQ(result.iterations[static_cast<std::size_t>(s)], iterations);
      expect_run(result, s, reference::iterated_smoother(pendulum.system, data.one(s), iterations),
                 1e-9);
    }
  }
}

// At the fixed point the path maximises the posterior: its gradient vanishes.
TEST_F(ClassicalNonlinear, IteratedSmootherFindsTheMostProbablePath) {
  const Pendulum pendulum;
  const Data data = pendulum.simulate(9, 20, 0.1);
  const FilterResult result =
      iterated_extended_smoother(pendulum.model, data.view(), {}, {50, 1e-9});
  for (int s = 0; s < data.series; ++s) {
    EXPECT_LE(result.last_change[static_cast<std::size_t>(s)], 1e-9);
    EXPECT_LT(result.iterations[static_cast<std::size_t>(s)], 50);
    const std::vector<Vector> y = data.one(s);
    const auto cost = [&](const std::vector<Vector>& path) {
      double sum = 0;
      const auto add = [&](const Vector& r, const Matrix& W) { sum += r.dot(W.inverse() * r); };
      for (std::size_t k = 0; k < path.size(); ++k) {
        if (k == 0)
          add(path[0] - pendulum.system.initial.mean, pendulum.system.initial.cov);
        else
          add(path[k] - swing(path[k - 1], static_cast<int>(k)), pendulum.system.Q);
        const std::vector<int> rows = reference::observed_components(y[k]);
        if (!rows.empty()) add((y[k] - look(path[k]))(rows), Matrix(pendulum.system.R(rows, rows)));
      }
      return sum;
    };
    std::vector<Vector> path;
    for (int k = 0; k < data.steps; ++k)
      path.push_back(row_of(result.smoothed.mean, result, s, k, 2, 1));
    for (std::size_t k = 0; k < path.size(); ++k)
      for (int i = 0; i < 2; ++i) {
        const double h = 1e-5;
        path[k](i) += h;
        const double above = cost(path);
        path[k](i) -= 2 * h;
        const double below = cost(path);
        path[k](i) += h;
        EXPECT_NEAR((above - below) / (2 * h), 0, 1e-4) << "series " << s << " step " << k;
      }
  }
}

// A linear model in nonlinear clothes: the extended forms are the linear ones, and iterating
// changes nothing.
TEST_F(ClassicalNonlinear, OnALinearModelIteratingChangesNothing) {
  const reference::DenseSystem system = random_system(3, 2, 83);
  NonlinearModel model;
  model.state_dim = 3;
  model.meas_dim = 2;
  model.Q = row_major(system.Q);
  model.R = row_major(system.R);
  model.x0 = row_major(system.initial.mean);
  model.P0 = row_major(system.initial.cov);
  const auto affine = [](const Matrix& A, const Vector& b) {
    return [A, b](std::span<const double> x, int, std::span<double> value,
                  std::span<double> jacobian) {
      Pendulum::put(A * Eigen::Map<const Vector>(x.data(), A.cols()) + b, value);
      Pendulum::put(A, jacobian);
    };
  };
  model.transition = affine(system.F, system.e);
  model.emission = affine(system.H, Vector::Zero(2));
  const Data data(9, 30, 2, 0.2, 84);
  const FilterResult linear = rts_smoother(linear_model(system), data.view());
  const FilterResult extended = extended_rts_smoother(model, data.view());
  const FilterResult iterated = iterated_extended_smoother(model, data.view());
  for (int s = 0; s < data.series; ++s) {
    EXPECT_EQ(iterated.iterations[static_cast<std::size_t>(s)], 1);
    EXPECT_LE(iterated.last_change[static_cast<std::size_t>(s)], 1e-12);
    for (int k = 0; k < data.steps; ++k)
      for (const FilterResult* result : {&extended, &iterated}) {
        EXPECT_LE(difference(row_of(result->smoothed.mean, *result, s, k, 3, 1),
                             row_of(linear.smoothed.mean, linear, s, k, 3, 1)),
                  1e-11);
        EXPECT_LE(difference(row_of(result->smoothed.covariance, *result, s, k, 3, 3),
                             row_of(linear.smoothed.covariance, linear, s, k, 3, 3)),
                  1e-11);
      }
  }
}

TEST_F(ClassicalNonlinear, BitsDependNeitherOnThreadsNorOnCompany) {
  const Pendulum pendulum;
  Data data = pendulum.simulate(19, 30, 0.1);
  data.vary_lengths();
  const FilterResult all = iterated_extended_smoother(pendulum.model, data.view());
  FilterOptions options;
  options.threads = 3;
  expect_same_bits(iterated_extended_smoother(pendulum.model, data.view(), options), all);
  for (int s = 0; s < data.series; ++s) {
    const MeasurementsView alone{data.values.data() + s * 30 * 2, 1, data.length(s), 2, {}};
    const FilterResult one = iterated_extended_smoother(pendulum.model, alone);
    EXPECT_EQ(one.iterations[0], all.iterations[static_cast<std::size_t>(s)]);
    for (int k = 0; k < data.length(s); ++k)
      ASSERT_EQ(row_of(one.smoothed.mean, one, 0, k, 2, 1),
                row_of(all.smoothed.mean, all, s, k, 2, 1));
  }
}

TEST_F(ClassicalNonlinear, ErrorsNameThePlace) {
  Pendulum pendulum;
  const Data data = pendulum.simulate(3, 10, 0);
  NonlinearModel model = pendulum.model;
  model.emission = nullptr;
  EXPECT_EQ(message_of<ConfigError>([&] { extended_kalman_filter(model, data.view()); }),
            "emission is empty, but it must be a function");
  model = pendulum.model;
  model.transition = [&](std::span<const double> x, int k, std::span<double> value,
                         std::span<double> jacobian) {
    pendulum.model.transition(x, k, value, jacobian);
    if (k == 7) value[1] = std::numeric_limits<double>::quiet_NaN();
  };
  EXPECT_EQ(message_of<NumericalError>([&] { extended_kalman_filter(model, data.view()); }),
            "step 7, series 0: transition gave value[1] = nan, but it must be finite");
  EXPECT_EQ(message_of<ConfigError>([&] {
              iterated_extended_smoother(pendulum.model, data.view(), {}, {-1, 0});
            }),
            "max_iterations = -1, but it must be >= 0");
}

}  // namespace
}  // namespace kalmia::test
