#include "train/smoother_start.hpp"

#include <gtest/gtest.h>

#include "infer/two_sided_run.hpp"
#include "model/learned_cases.hpp"
#include "nn/softplus.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

using model::SmootherKind;

// White noise of deviation 2 in the model's units, about a line: R = 4, and about the mean of its
// neighbours nothing but noise.
struct Noise {
  Case c;
  static Dataset data() {
    RandomStream random(1, "white");
    std::vector<double> y;
    for (int k = 0; k < 4000; ++k) y.push_back(0.5 * k + 2 * random.normal());
    return dataset_of({y});
  }
  Noise() : c(data(), "constant-velocity") {}
};

TEST(SmootherStart, DeviationsAreThoseOfTheStateNotOfTheNoise) {
  const Noise noise;
  model::FeatureSpec features = noise.c.description.features;
  features.measured_state = {0};
  features.channel_of_state = {0, 0};
  const double unit = noise.c.description.units.y_scale[0];
  const std::vector<double> R = {4 / (unit * unit)};
  const auto found = [&](bool two_sided) {
    return deviations_from_centre(features, R, noise.c.scaled, noise.c.everything(), two_sided);
  };
  // y[k] - y[k-1] = 0.5 + noise of variance 8; of the neighbours' mean: noise of variance 6.
  EXPECT_NEAR(found(false)[0] * unit, std::sqrt(8.25 - 4), 0.15);
  EXPECT_NEAR(found(true)[0] * unit, std::sqrt(6.0 - 4), 0.15);
  EXPECT_EQ(found(true)[1], 0);  // the rate is not measured
}

// With a future that does not count yet, a recursive smoother predicts as the filter does, but for
// the filter's own residual of F.
TEST(SmootherStart, ARecursiveSmootherStartsAsTheFilterWithoutItsResidual) {
  const auto filter = test::network_case(2, 3).make<float>();
  const Noise unused;  // nothing is read of data
  const model::SmootherSizes sizes{9, {11}, SmootherKind::Recursive};
  const std::vector<float> start = starting_networks(*filter, sizes, unused.c.scaled, {}, 7);
  const heads::Architecture& own = filter->architecture();
  std::vector<float> p(filter->parameters().begin(), filter->parameters().end());
  const std::ptrdiff_t width = own.decoder.widths[own.decoder.widths.size() - 2];
  std::fill_n(p.begin() + own.decoder.weight.back(), own.e_row() * width, 0.0f);
  std::fill_n(p.begin() + own.decoder.bias.back(), own.e_row(), 0.0f);
  filter->set_parameters(p);
  filter->set_smoother(sizes, start);
  RandomStream random(5, "series");
  std::vector<double> y;
  for (int i = 0; i < 2 * 50; ++i) y.push_back(60 * random.normal());
  const infer::SeriesView piece{y.data(), 50};
  ThreadTeam team(1);
  std::vector<double> a, b;
  const auto into = [](std::vector<double>& to) {
    return [&to](int, int, int count, const infer::LaneMoments& moments) {
      for (int i = 0; i < count; ++i) to.push_back(moments.nll(i));
    };
  };
  const auto name = [](int) { return std::string(); };
  infer::run_filter(*filter, std::span(&piece, 1), {}, team, into(a), name);
  infer::run_two_sided(*filter, std::span(&piece, 1), {}, team, into(b), name);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-4 * std::abs(a[k])) << k;
}

TEST(SmootherStart, ARecurrentSmootherStartsAtItsCentre) {
  const Noise noise;
  Split split;
  split.training = noise.c.everything();
  StaticResult start;
  start.description = noise.c.description;
  start.initial_e = {0, 0};
  start.initial_L = {5, 0, 7};
  start.R = {1};
  const auto filter = start.alone<float>();
  const model::SmootherSizes sizes{4, {3}, SmootherKind::Recurrent};
  filter->set_smoother(sizes, starting_networks(*filter, sizes, noise.c.scaled, split, 7));
  const heads::Architecture& architecture = filter->smoother()->architecture();
  const auto p = filter->smoother()->parameters();
  const auto bias = static_cast<std::size_t>(architecture.decoder.bias.back());
  const auto L = static_cast<std::size_t>(architecture.L_row());
  EXPECT_EQ(p[bias], 0);
  EXPECT_EQ(p[bias + 1], 0);
  const double deviation = deviations_from_centre(filter->description().features, {1},
                                                  noise.c.scaled, split.training, true)[0];
  EXPECT_FLOAT_EQ(p[bias + L], static_cast<float>(nn::inverse_softplus(deviation)));
  EXPECT_EQ(p[bias + L + 2], 7);  // as uncertain as before the first measurement
  EXPECT_EQ(p[static_cast<std::size_t>(architecture.initial_L)], 5);
}

}  // namespace
}  // namespace kalmia::train
