#include "nn/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "kalmia/error.hpp"
#include "support/isas.hpp"

namespace kalmia::nn {
namespace {

// The algorithm as printed (Kingma & Ba 2015, Alg. 1; decoupled decay; clipping first), one number
// at a time.
struct NaiveAdam {
  std::vector<double> m, v;
  int n = 0;
  void step(const AdamOptions& o, std::vector<double> g, double factor, std::vector<double>& p) {
    m.resize(g.size());
    v.resize(g.size());
    double norm = 0;
    for (const double gi : g) norm += gi * gi;
    norm = std::sqrt(norm);
    if (o.clip_norm > 0 && norm > o.clip_norm)
      for (double& gi : g) gi *= o.clip_norm / (norm + 1e-6);
    ++n;
    for (std::size_t i = 0; i < g.size(); ++i) {
      m[i] = o.beta1 * m[i] + (1 - o.beta1) * g[i];
      v[i] = o.beta2 * v[i] + (1 - o.beta2) * g[i] * g[i];
      const double m_hat = m[i] / (1 - std::pow(o.beta1, n));
      const double v_hat = v[i] / (1 - std::pow(o.beta2, n));
      const double rate = o.learning_rate * factor;
      p[i] -= rate * o.weight_decay * p[i];
      p[i] -= rate * m_hat / (std::sqrt(v_hat) + o.epsilon);
    }
  }
};

template <typename T>
void expect_naive(std::size_t size, double tolerance) {
  AdamOptions options;
  options.learning_rate = 0.02;
  options.weight_decay = 0.1;
  options.clip_norm = 2;
  Adam<T> adam(static_cast<std::ptrdiff_t>(size), options);
  NaiveAdam naive;
  Buffer<T> p(size), g(size);
  std::vector<double> want(size);
  RandomStream random(6, "adam");
  for (std::size_t i = 0; i < size; ++i) {
    p[i] = static_cast<T>(random.normal());
    want[i] = static_cast<double>(p[i]);
  }
  for (int step = 0; step < 12; ++step) {
    std::vector<double> gradient(size);
    for (std::size_t i = 0; i < size; ++i) {
      g[i] = static_cast<T>((step % 2 == 0 ? 1.0 : 0.01) * random.normal());
      gradient[i] = static_cast<double>(g[i]);
    }
    const AdamStep done = adam.step(g.span(), p.span(), 0.5);
    naive.step(options, gradient, 0.5, want);
    ASSERT_TRUE(done.applied);
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_NEAR(static_cast<double>(p[i]), want[i], tolerance) << "step " << step << ", " << i;
  }
  EXPECT_EQ(adam.steps_taken(), 12);
}

TEST(Adam, FollowsTheAlgorithm) {
  test::for_each_isa([] {
    for (const std::size_t size : {1u, 15u, 16u, 100u}) {
      expect_naive<double>(size, 1e-14);
      expect_naive<float>(size, 1e-5);
    }
  });
}

TEST(Adam, AGradientThatIsNotFiniteChangesNothing) {
  Adam<float> adam(20, {});
  Buffer<float> p(20), g(20);
  for (float& v : p.span()) v = 1;
  g[17] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(adam.step(g.span(), p.span()).applied);
  g[17] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(adam.step(g.span(), p.span()).applied);
  for (const float v : p.span()) EXPECT_EQ(v, 1.0f);
  for (const float v : adam.first_moment()) EXPECT_EQ(v, 0.0f);
  EXPECT_EQ(adam.steps_taken(), 0);
}

TEST(Adam, NamesEveryOptionThatIsWrong) {
  AdamOptions options;
  options.learning_rate = -1;
  options.beta2 = 1;
  try {
    options.validate();
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("learning_rate = -1"), std::string::npos) << message;
    EXPECT_NE(message.find("beta2 = 1"), std::string::npos) << message;
  }
  Adam<float> adam(4, {});
  Buffer<float> p(5), g(4);
  EXPECT_THROW(adam.step(g.span(), p.span()), ConfigError);
}

TEST(Schedule, RisesThenFalls) {
  Schedule schedule{.kind = Schedule::Kind::Cosine, .warmup_steps = 10, .total_steps = 110};
  EXPECT_DOUBLE_EQ(schedule.factor(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.factor(9), 1.0);
  EXPECT_DOUBLE_EQ(schedule.factor(10), 1.0);
  EXPECT_NEAR(schedule.factor(60), 0.505, 1e-12);
  EXPECT_NEAR(schedule.factor(110), 0.01, 1e-12);
  EXPECT_NEAR(schedule.factor(1000), 0.01, 1e-12);
  schedule.kind = Schedule::Kind::Exponential;
  EXPECT_NEAR(schedule.factor(60), 0.1, 1e-12);
  schedule.kind = Schedule::Kind::Constant;
  EXPECT_DOUBLE_EQ(schedule.factor(5), 0.6);
  EXPECT_DOUBLE_EQ(schedule.factor(60), 1.0);
}

}  // namespace
}  // namespace kalmia::nn
