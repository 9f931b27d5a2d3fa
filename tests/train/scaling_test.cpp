// Units do not matter: a channel or the time times a power of two gives the same model, to the bit.
#include <gtest/gtest.h>

#include <cmath>

#include "infer/model_impl.hpp"
#include "kalmia/fit.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// Two channels over uneven times, some values missing.
Dataset two_channels() {
  const Dataset wave = oscillator(320);
  RandomStream random(9, "second channel");
  Dataset data;
  data.y_names = {"wave", "walk"};
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  Series& series = data.series.emplace_back();
  double walk = 0, t = 0;
  for (int k = 0; k < wave.series[0].steps; ++k) {
    walk += random.normal();
    t += random.uniform() < 0.05 ? 2.5 : 1;  // now and then one is left out
    series.t.push_back(0.25 * t);
    const double first = wave.series[0].y[static_cast<std::size_t>(k * wave.meas_dim())];
    series.y.push_back(random.uniform() < 0.1 ? kMissing : first);
    series.y.push_back(random.uniform() < 0.1 ? kMissing : walk + random.normal());
    ++series.steps;
  }
  return data;
}

struct ScalingChoice {
  std::string name;
  std::string prior = "auto";
  int hidden = 0;
  std::string tails = "gaussian", smoother = "linearized", filter = "recursive";
  bool opposite = false;  // the time is made small and the channel large
};

void PrintTo(const ScalingChoice& choice, std::ostream* out) { *out << choice.name; }

class Scaling : public testing::TestWithParam<ScalingChoice> {};

TEST_P(Scaling, PowersOfTwoMultiplyExactly) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = GetParam().prior;
  options.model.hidden = GetParam().hidden;
  options.model.decoder = {4};
  options.model.tails = GetParam().tails;
  options.model.smoother = GetParam().smoother;
  options.model.filter = GetParam().filter;
  options.model.keep_smoother = GetParam().smoother != "linearized";
  options.train.updates = 20;
  options.train.threads = 1;
  const Dataset data = two_channels();
  const Model model = fit(data, options).model;
  const Estimates plain = model.smooth(data, 1);
  const auto N = static_cast<std::size_t>(model.state_dim());
  const std::size_t of_channel = N / 2;  // states of each
  for (const bool time : {false, true}) {
    const double scale = std::ldexp(1.0, time == GetParam().opposite ? -30 : 30);
    Dataset scaled = data;
    if (time)
      for (double& t : scaled.series[0].t) t *= scale;
    else
      for (std::size_t i = 1; i < scaled.series[0].y.size(); i += 2) scaled.series[0].y[i] *= scale;
    const Model other = fit(scaled, options).model;
    ASSERT_EQ(other.state_names(), model.state_names());
    const Estimates found = other.smooth(scaled, 1);
    for (std::size_t i = 0; i < plain.series[0].mean.size(); ++i) {
      const std::size_t n = i % N;
      // A rate is per time.
      const double by =
          time
              ? std::pow(scale, -static_cast<double>(GetParam().prior == "ar" ? 0 : n % of_channel))
          : n >= of_channel ? scale
                            : 1;
      ASSERT_EQ(found.series[0].mean[i], by * plain.series[0].mean[i]) << i;
      ASSERT_EQ(found.series[0].covariance[i * N + n],
                by * by * plain.series[0].covariance[i * N + n])
          << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Scaling,
    testing::Values(ScalingChoice{"Damped", "damped-velocity"},
                    ScalingChoice{"Acceleration", "constant-acceleration", 0, "gaussian",
                                  "linearized", "recursive", true},
                    ScalingChoice{"Lags", "ar"},
                    ScalingChoice{"Tails", "oscillator", 0, "4", "linearized", "recursive", true},
                    ScalingChoice{"Networks", "mean-reverting", 6},
                    ScalingChoice{"NetworksTails", "constant-position", 6, "4", "linearized",
                                  "recursive", true},
                    ScalingChoice{"Recurrent", "constant-position", 6, "gaussian", "linearized",
                                  "recurrent"},
                    ScalingChoice{"Fused", "constant-velocity", 6, "gaussian", "fused"}),
    [](const testing::TestParamInfo<ScalingChoice>& info) { return info.param.name; });

}  // namespace
}  // namespace kalmia::train
