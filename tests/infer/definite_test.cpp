// Covariances are covariances: over all kinds of models, gaps, jumps and noises.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "infer/infer_cases.hpp"

namespace kalmia {
namespace {

using test::LearnedCase;

// A static model of any prior, with the noise that it starts with, in units of 1.
LearnedCase prior_case(const std::string& prior, const std::vector<std::string>& channels) {
  model::ModelDescription d;
  d.prior.kind = prior::prior_of_name(prior);
  if (prior == "linear-motion") d.prior.departure = 0;
  if (prior == "none") d.prior.departure = 1;
  d.measured_names = channels;
  d.time = TimeKind::Number;
  d.dt = 0.5;
  const auto N = static_cast<std::size_t>(model::expert_of(d).state_dim());
  d.units = {std::vector<double>(channels.size(), 1), std::vector<double>(channels.size(), 0),
             std::vector<double>(N, 1), std::vector<double>(N, 0)};
  d.features.mean.assign(channels.size(), 0);
  d.features.spread.assign(channels.size(), 10);
  d.features.step.assign(channels.size(), 1);
  d.features.use_level.assign(channels.size(), 0);
  LearnedCase made = test::static_case(d);
  const heads::Architecture architecture = test::architecture_of(d);
  const auto set_triangle = [&](std::ptrdiff_t offset, double diagonal) {
    for (int i = 0; i < static_cast<int>(N); ++i)
      for (int j = 0; j <= i; ++j)
        made.parameters[static_cast<std::size_t>(offset + lanes::triangle_index(i, j))] =
            i == j ? std::log(std::expm1(diagonal)) : 0;
  };
  set_triangle(architecture.decoder.bias.back() + architecture.L_row(), 0.1);
  set_triangle(architecture.initial_L, 1);
  for (std::size_t n = 0; n < N; ++n)
    made.parameters[static_cast<std::size_t>(architecture.initial_e) + n] = 0.5;
  if (prior != "lorenz" && prior != "coordinated-turn") return made;
  // Nothing but its climate holds a nonlinear map.
  model::StateClimate& climate = made.description.climate;
  climate.mean.assign(N, 0);
  climate.spread.assign(N, 20);
  climate.measured_spread.assign(channels.size(), 20);
  climate.A.assign(N * N, 0);
  climate.Q.assign(N * N, 0);
  for (std::size_t n = 0; n < N; ++n) {
    climate.A[n * (N + 1)] = 0.9;
    climate.Q[n * (N + 1)] = 400 * 0.19;
  }
  return made;
}

struct Kind {
  std::string name;
  LearnedCase made;
  bool grows = false;  // its map, the paper's first-order series, has eigenvalues above 1
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  for (const char* prior : {"constant-position", "mean-reverting", "constant-velocity",
                            "damped-velocity", "constant-acceleration", "oscillator", "ar"})
    all.push_back({prior, prior_case(prior, {"a", "b"})});
  all.push_back({"none", prior_case("none", {"a", "b"})});
  all.push_back({"linear-motion", prior_case("linear-motion", {"a", "b"}), true});
  all.push_back({"coordinated-turn", prior_case("coordinated-turn", {"a", "b"})});
  all.push_back({"lorenz", prior_case("lorenz", {"a", "b", "c"})});
  all.push_back({"networks", test::network_case(2, 5)});
  return all;
}

// The least eigenvalue of D^-1/2 P D^-1/2, D = diag P; NaN where an entry is none.
double least_eigenvalue(const double* entries, Eigen::Index N) {
  const Eigen::Map<const Eigen::MatrixXd> P(entries, N, N);
  if (!(P.diagonal().minCoeff() > 0) || !P.allFinite()) return std::nan("");
  const Eigen::VectorXd d = P.diagonal().cwiseSqrt().cwiseInverse();
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(d.asDiagonal() * P * d.asDiagonal(),
                                                        Eigen::EigenvaluesOnly)
      .eigenvalues()
      .minCoeff();
}

void expect_definite(const Estimates& found, const char* what) {
  const auto N = static_cast<Eigen::Index>(found.state_names.size());
  const StateEstimates& series = found.series[0];
  for (int k = 0; k < series.steps; ++k) {
    // Of long gaps the ends, and some in between.
    if (k > 300 && k < series.steps - 300 && k % 997 != 0) continue;
    ASSERT_GE(least_eigenvalue(series.covariance.data() + k * N * N, N),
              -static_cast<double>(N) * 1e-14)
        << what << ", step " << k;
    for (Eigen::Index n = 0; n < N; ++n)
      ASSERT_TRUE(std::isfinite(series.mean[static_cast<std::size_t>(k * N + n)]));
  }
}

// 40 rows, a gap of `empty` rows or a jump of `jump` usual intervals, 40 rows.
Dataset with_hole(const Kind& kind, int empty, double jump) {
  const model::ModelDescription& d = kind.made.description;
  RandomStream random(3, "hole");
  Dataset data;
  data.y_names = d.measured_names;
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  Series& series = data.series.emplace_back();
  double t = 0;
  const auto row = [&](bool measured) {
    series.t.push_back(t);
    t += d.dt;
    for (std::size_t m = 0; m < data.y_names.size(); ++m)
      series.y.push_back(measured ? d.units.y_offset[m] + d.units.y_scale[m] * random.normal()
                                  : std::nan(""));
    ++series.steps;
  };
  for (int k = 0; k < 40; ++k) row(true);
  for (int k = 0; k < empty; ++k) row(false);
  t += (jump - 1) * d.dt;
  for (int k = 0; k < 40; ++k) row(true);
  return data;
}

class Definite : public testing::TestWithParam<int> {};

TEST_P(Definite, WhateverTheGapAndTheNoise) {
  Kind kind = kinds()[static_cast<std::size_t>(GetParam())];
  SCOPED_TRACE(kind.name);
  const std::size_t M = kind.made.description.measured_names.size();
  const double unit = kind.name == "networks" ? 1600 : 1;
  for (const double noise : {1e-12, 1e-6, 1.0, 1e6, 1e12}) {
    SCOPED_TRACE(noise);
    kind.made.R.assign(M * M, 0);
    for (std::size_t m = 0; m < M; ++m) kind.made.R[m * (M + 1)] = noise * unit;
    const Model model = test::public_model(kind.made);
    const auto check = [&](const Dataset& data) {
      expect_definite(model.filter(data, 1), "filter");
      expect_definite(model.smooth(data, 1), "smooth");
    };
    for (const int empty : {1, 10, 1000}) {
      SCOPED_TRACE(std::to_string(empty) + " empty rows");
      check(with_hole(kind, empty, 1));
    }
    if (!kind.grows && (noise == 1 || noise == 1e-12)) check(with_hole(kind, 100000, 1));
    for (const double jump : {2.0, 20.0, 1000.0, 1e6}) {
      SCOPED_TRACE(std::to_string(jump) + " intervals");
      // What is no linear flow is cut up into as many steps: a million is one too many.
      if (jump == 1e6 && kind.made.make<float>()->most_empty_steps() > 64) continue;
      check(with_hole(kind, 0, jump));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Definite, testing::Range(0, 12),
                         [](const testing::TestParamInfo<int>& info) {
                           std::string name = kinds()[static_cast<std::size_t>(info.param)].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace kalmia
