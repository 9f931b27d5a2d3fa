#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/model.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::motion_data;
using test::public_model;

std::span<const double> measurement(const Series& series, int k, std::size_t M) {
  return {series.y.data() + static_cast<std::size_t>(k) * M, M};
}

std::vector<double> copy(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

// Differences in standard deviations of the estimate.
void expect_equal_to_filter(const Model& model, const Dataset& data, double tolerance) {
  const Estimates filtered = model.filter(data, 1);
  const auto N = static_cast<std::size_t>(model.state_dim());
  Stream stream = model.stream();
  double likelihood = 0;
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const Series& series = data.series[s];
    Stream::State state = stream.start();
    for (int k = 0; k < series.steps; ++k) {
      stream.step(state, measurement(series, k, data.y_names.size()));
      likelihood += stream.log_likelihood();
      const double* mean = filtered.series[s].mean.data() + static_cast<std::size_t>(k) * N;
      const double* P = filtered.series[s].covariance.data() + static_cast<std::size_t>(k) * N * N;
      for (std::size_t i = 0; i < N; ++i) {
        ASSERT_NEAR(stream.mean()[i], mean[i], tolerance * std::sqrt(P[i * N + i]))
            << "series " << s << ", step " << k;
        for (std::size_t j = 0; j < N; ++j)
          ASSERT_NEAR(stream.covariance()[i * N + j], P[i * N + j],
                      tolerance * std::sqrt(P[i * N + i] * P[j * N + j]))
              << "series " << s << ", step " << k;
      }
    }
  }
  EXPECT_NEAR(likelihood, filtered.log_likelihood, tolerance * std::abs(likelihood));
}

TEST(Stream, EqualsTheFilter) {
  const std::vector<int> lengths = {200, 1, 65};
  for (const int channels : {1, 2}) {
    const Dataset data = motion_data(channels, lengths, 111);
    expect_equal_to_filter(public_model(test::network_case(channels, 112)), data, 1e-4);
    expect_equal_to_filter(public_model(test::static_case(channels)), data, 1e-11);
  }
}

// Steps of any length; the stream is told how long each was.
TEST(Stream, OfAnEnsembleOrACalibratedModelEqualsTheFilter) {
  const Dataset data = motion_data(2, {120, 1, 65}, 114);
  for (const bool calibrated : {false, true})
    for (const int members : {1, 3}) {
      std::vector<test::Member> of;
      for (int j = 0; j < members; ++j)
        of.push_back(test::network_case(2, 115 + static_cast<std::uint64_t>(j)).make<float>());
      std::optional<model::Calibration> calibration;
      if (calibrated) {
        calibration = {1.75, 1, 1};
        calibration->filter.steps = {1, 3};
        calibration->filter.factors = {{0.5, 4}, {3, 1.5}};
      }
      const Model model = test::model_of(of, calibration);
      expect_equal_to_filter(model, data, 1e-4);
      // A state holds those of the members, one after another.
      const Stream::State one = public_model(test::network_case(2, 115)).stream().start();
      const Stream::State all = model.stream().start();
      EXPECT_EQ(all.network.size(), static_cast<std::size_t>(members) * one.network.size());
      EXPECT_EQ(all.filter.size(), static_cast<std::size_t>(members) * one.filter.size());
    }
}

TEST(Stream, EqualsTheFilterWhereTimesDiffer) {
  Dataset data = motion_data(2, {90}, 131);
  RandomStream random(131, "times");
  double t = 3;
  for (double& each : data.series[0].t) each = t += std::exp(random.uniform(-3, 2));
  const auto check = [&](const test::LearnedCase& made, double tolerance) {
    const Model model = public_model(made);
    const Estimates filtered = model.filter(data, 1);
    Stream stream = model.stream();
    Stream::State state = stream.start();
    for (std::size_t k = 0; k < 90; ++k) {
      const std::vector<double>& times = data.series[0].t;
      stream.step(state, measurement(data.series[0], static_cast<int>(k), 2),
                  k == 0 ? std::nan("") : times[k] - times[k - 1]);
      for (std::size_t n = 0; n < 4; ++n) {
        const double P = filtered.series[0].covariance[k * 16 + 5 * n];
        ASSERT_NEAR(stream.mean()[n], filtered.series[0].mean[k * 4 + n], tolerance * std::sqrt(P))
            << "step " << k;
        ASSERT_NEAR(stream.covariance()[5 * n], P, tolerance * P) << "step " << k;
      }
    }
  };
  check(test::static_case(2), 1e-11);
  test::LearnedCase networks = test::network_case(2, 132);
  check(networks, 1e-4);
}

TEST(Stream, LengthsAndInputsThatCannotBeAreRefused) {
  Stream stream = public_model(test::static_case(1)).stream();
  Stream::State state = stream.start();
  const double y[] = {100}, u[] = {1};
  for (const double dt : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    EXPECT_NE(message_of<DataError>([&] {
                stream.step(state, y, dt);
              }).find("but a step must last longer than 0"),
              std::string::npos);
  EXPECT_EQ(message_of<DataError>([&] { stream.step(state, y, 1, u); }),
            "1 inputs, but the model has 0");
}

TEST(Stream, SeriesShareOneWithoutDisturbingEachOther) {
  const Model model = public_model(test::network_case(2, 113));
  const Dataset data = motion_data(2, {60, 60}, 114);
  std::vector<std::vector<double>> apart[2];
  for (std::size_t s = 0; s < 2; ++s) {
    Stream stream = model.stream();
    Stream::State state = stream.start();
    for (int k = 0; k < 60; ++k) {
      stream.step(state, measurement(data.series[s], k, 2));
      apart[s].push_back(copy(stream.mean()));
    }
  }
  Stream stream = model.stream();
  Stream::State states[] = {stream.start(), stream.start()};
  for (int k = 0; k < 60; ++k)
    for (std::size_t s = 0; s < 2; ++s) {
      stream.step(states[s], measurement(data.series[s], k, 2));
      ASSERT_EQ(copy(stream.mean()), apart[s][static_cast<std::size_t>(k)]);
    }
}

TEST(Stream, AStateIsAllThatIsRemembered) {
  const Model model = public_model(test::network_case(2, 115));
  const Dataset data = motion_data(2, {40}, 116);
  Stream stream = model.stream();
  Stream::State state = stream.start();
  Stream::State kept;
  std::vector<double> end;
  for (int k = 0; k < 40; ++k) {
    if (k == 20) kept = state;
    stream.step(state, measurement(data.series[0], k, 2));
  }
  end = copy(stream.covariance());
  // Another stream goes on from the copy, after other work.
  Stream other = model.stream();
  Stream::State unrelated = other.start();
  other.step(unrelated, measurement(data.series[0], 3, 2));
  Stream moved = std::move(other);
  for (int k = 20; k < 40; ++k) moved.step(kept, measurement(data.series[0], k, 2));
  EXPECT_EQ(copy(moved.covariance()), end);
  EXPECT_EQ(kept.network, state.network);
}

TEST(Stream, ARefusedMeasurementLeavesTheStateAsItWas) {
  const Model model = public_model(test::network_case(2, 117));
  Stream stream = model.stream();
  Stream::State state = stream.start();
  const double good[] = {100, -8};
  stream.step(state, good);
  const Stream::State before = state;
  const double infinite[] = {100, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(message_of<DataError>([&] { stream.step(state, infinite); }),
            "value 2 is infinite; use NaN for a missing value");
  EXPECT_EQ(message_of<DataError>([&] {
              stream.step(state, {good, 1});
            }),
            "1 values, but the model measures 2 channels");
  EXPECT_EQ(state.network, before.network);
  EXPECT_TRUE(test::same_bits(state.filter, before.filter));
}

TEST(Stream, AStateOfAnotherModelIsRefused) {
  Stream stream = public_model(test::network_case(2, 118)).stream();
  Stream small = public_model(test::static_case(1)).stream();
  const double y[] = {100, -8};
  Stream::State empty, other = small.start(), cut = stream.start();
  cut.filter.pop_back();
  for (Stream::State* state : {&empty, &other, &cut})
    EXPECT_NE(message_of<DataError>([&] { stream.step(*state, y); }).find("start()"),
              std::string::npos);
}

TEST(Stream, ABreakdownIsAnError) {
  Stream stream = public_model(test::static_case(1)).stream();
  Stream::State state = stream.start();
  const double beyond[] = {1e200};
  const std::string message = message_of<NumericalError>([&] { stream.step(state, beyond); });
  EXPECT_NE(message.find("likelihood is not finite"), std::string::npos) << message;

  // Started anew it works again.
  state = stream.start();
  const double good[] = {100};
  stream.step(state, good);
  EXPECT_TRUE(std::isfinite(stream.mean()[0]) && std::isfinite(stream.log_likelihood()));
}

TEST(Stream, APredictionThatRunsAwayInAGapIsAnError) {
  Stream stream = public_model(test::lorenz_case()).stream();
  Stream::State state = stream.start();
  const double far[] = {1e6, 1e6, 1e6};
  const double nothing[] = {std::nan(""), std::nan(""), std::nan("")};
  stream.step(state, far);
  const std::string message = message_of<NumericalError>([&] {
    for (int k = 0; k < 100; ++k) stream.step(state, nothing);
  });
  EXPECT_NE(message.find("missing values is not finite"), std::string::npos) << message;
}

TEST(Stream, AMissingMeasurementHasNoLikelihood) {
  Stream stream = public_model(test::static_case(2)).stream();
  Stream::State state = stream.start();
  const double nothing[] = {std::nan(""), std::nan("")};
  stream.step(state, nothing);
  EXPECT_EQ(stream.log_likelihood(), 0);
  EXPECT_NEAR(stream.mean()[0], 100 - 0.25 * 3, 1e-12);
}

}  // namespace
}  // namespace kalmia
