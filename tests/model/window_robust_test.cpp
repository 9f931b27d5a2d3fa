// Student-t noise over a window: its weights are constants of the gradient.
#include <gtest/gtest.h>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {
namespace {

constexpr int kSteps = 19, kLanes = 16;

struct Gradients {
  double loss;
  std::vector<double> parameters, R, theta, h, x, P, weight;
};

template <typename T>
Gradients gradients(WindowCase<T>& c, const kalman::RobustOptions* robust) {
  model::WindowModel<T> model = c.model();
  model.robust = robust;
  model::Workspace<T> ws;
  ws.prepare(model, kSteps, kLanes, true);
  Buffer<double> weight(c.group.y.size());
  model::Carry<T> carry;
  carry.resize(c.architecture, kLanes);
  std::copy_n(c.group.carry.h.data(), carry.h.size(), carry.h.data());
  std::copy_n(c.group.carry.x.data(), carry.x.size(), carry.x.data());
  std::copy_n(c.group.carry.P.data(), carry.P.size(), carry.P.data());
  const double loss = window_forward(model, c.group.view(), carry, {.weight = weight.data()}, ws);
  EXPECT_TRUE(ws.failures.empty());
  window_backward(model, c.group.view(), 0.01, ws);
  return {loss,
          in_double(ws.gradient),
          in_double(ws.d_R),
          in_double(ws.d_theta),
          in_double(ws.d_h),
          in_double(ws.d_x),
          in_double(ws.d_P),
          in_double(weight)};
}

// Runs with robust noise, then again with the weights it chose as data.
void expect_same_with_the_weights_as_data(bool recursive, const WindowFeatures& features) {
  model::ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 3;
  options.hidden = 7;
  options.decoder = {6};
  options.recursive = recursive;
  WindowCase<double> c(options, features, kSteps, kLanes, 41);
  for (std::size_t i = 0; i < c.group.y.size(); i += 5) c.group.y[i] += 20;  // outliers
  const kalman::RobustOptions robust{.degrees_of_freedom = 3};
  const Gradients chosen = gradients(c, &robust);
  const Gradients plain = gradients(c, nullptr);
  EXPECT_LT(chosen.loss, plain.loss);
  EXPECT_GT(relative_difference(chosen.parameters, plain.parameters), 0.01);

  c.group.weight.resize(c.group.y.size());
  double smallest = 1;
  for (std::size_t i = 0; i < c.group.weight.size(); ++i) {
    const double w = chosen.weight[i];
    ASSERT_TRUE(std::isfinite(w) && w > 0) << i;
    c.group.weight[i] = w;
    smallest = std::min(smallest, w);
  }
  EXPECT_LT(smallest, 0.05);
  const Gradients as_data = gradients(c, nullptr);
  double price = 0;
  for (const double w : chosen.weight) price += robust.degrees_of_freedom * (w - 1 - std::log(w));
  EXPECT_NEAR(as_data.loss + price, chosen.loss, 1e-10 * std::abs(chosen.loss));
  constexpr double kTolerance = 1e-9;
  EXPECT_LE(relative_difference(as_data.parameters, chosen.parameters), kTolerance);
  EXPECT_LE(relative_difference(as_data.R, chosen.R), kTolerance);
  EXPECT_LE(relative_difference(as_data.theta, chosen.theta), kTolerance);
  EXPECT_LE(relative_difference(as_data.h, chosen.h), kTolerance);
  EXPECT_LE(relative_difference(as_data.x, chosen.x), kTolerance);
  EXPECT_LE(relative_difference(as_data.P, chosen.P), kTolerance);
}

// Once they have settled, the weights are where the step's own loss does not change with them:
// holding them fixed costs its gradient nothing.
TEST(WindowRobust, TheGradientOfOneStepIsExactOnceTheWeightsHaveSettled) {
  model::ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 3;
  options.hidden = 5;
  options.decoder = {4};
  WindowCase<double> c(options, {.missing = true, .carried = true}, kSteps, kLanes, 43);
  c.group.length.assign(kLanes, 1);
  c.emission.set_R({0.7, 0, 0, 0.4});  // of correlated noise each component's weight is its own
  for (std::size_t i = 0; i < c.group.y.size(); i += 5) c.group.y[i] += 6;
  const kalman::RobustOptions robust{.degrees_of_freedom = 3, .iterations = 300};
  model::WindowModel<double> model = c.model();
  model.robust = &robust;
  const std::vector<double> gradient = gradients(c, &robust).parameters;
  model::Workspace<double> ws;
  ws.prepare(model, kSteps, kLanes, true);
  const auto loss = [&] {
    c.pack();
    model::Carry<double> carry;
    carry.resize(c.architecture, kLanes);
    std::copy_n(c.group.carry.h.data(), carry.h.size(), carry.h.data());
    std::copy_n(c.group.carry.x.data(), carry.x.size(), carry.x.data());
    std::copy_n(c.group.carry.P.data(), carry.P.size(), carry.P.data());
    return 0.01 * window_forward(model, c.group.view(), carry, {}, ws);
  };
  std::vector<GradientVariable> variables;
  for (const nn::ParameterView& view : c.architecture.parameters.views()) {
    const auto size = static_cast<std::size_t>(view.size());
    variables.push_back({view.name,
                         {c.parameters.data() + view.offset, size},
                         {gradient.data() + view.offset, size},
                         0});
  }
  check_gradient(loss, variables, 5, {.step = 1e-6});
}

TEST(WindowRobust, TheGradientIsThatOfTheChosenWeights) {
  for_each_isa([] {
    for (const bool recursive : {true, false})
      for (const bool bent : {false, true}) {
        SCOPED_TRACE(std::string(recursive ? "recursive" : "recurrent") + (bent ? ", bent" : ""));
        expect_same_with_the_weights_as_data(recursive,
                                             {.carried = true, .driven = true, .bent = bent});
        expect_same_with_the_weights_as_data(
            recursive,
            {.missing = true, .carried = true, .centre = true, .driven = true, .bent = bent});
      }
  });
}

}  // namespace
}  // namespace kalmia::test
