// Student-t noise over a window.
#include <gtest/gtest.h>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {
namespace {

constexpr int kRobustSteps = 19, kRobustLanes = 16;

struct Gradients {
  double loss;
  std::vector<double> parameters, R, theta, h, x, P, weight, x_last;
};

template <typename T>
Gradients gradients(WindowCase<T>& c, const kalman::RobustOptions* robust) {
  heads::StateModel<T> model = c.model();
  model.robust = robust;
  heads::StateWorkspace<T> ws;
  ws.prepare(model, kRobustSteps, kRobustLanes, true);
  Buffer<double> weight(c.group.y.size());
  heads::StateCarry<T> carry;
  carry.resize(c.architecture, kRobustLanes);
  std::copy_n(c.group.carry.h.data(), carry.h.size(), carry.h.data());
  std::copy_n(c.group.carry.x.data(), carry.x.size(), carry.x.data());
  std::copy_n(c.group.carry.P.data(), carry.P.size(), carry.P.data());
  const double loss =
      engine::window_forward(model, c.group.view(), carry, {.weight = weight.data()}, ws);
  EXPECT_TRUE(ws.failures.empty());
  engine::window_backward(model, c.group.view(), 0.01, ws);
  return {loss,
          in_double(ws.gradient),
          in_double(ws.d_R),
          in_double(ws.d_theta),
          in_double(ws.d_h),
          in_double(ws.d_x),
          in_double(ws.d_P),
          in_double(weight),
          in_double(carry.x)};
}

// The loss of a step does not depend on the weights that were chosen for its state, and those are
// constants of the gradient. So the gradient is exact where a prediction does not depend on earlier
// states: of one step, and of recurrent models.
void expect_exact_gradient(bool recursive, int steps, const WindowFeatures& features) {
  heads::ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 3;
  options.hidden = 5;
  options.decoder = {4};
  options.head = recursive ? heads::HeadKind::Recursion : heads::HeadKind::Direct;
  WindowCase<double> c(options, features, kRobustSteps, kRobustLanes, 43);
  c.group.length.assign(kRobustLanes, steps);
  for (std::size_t i = 0; i < c.group.y.size(); i += 5) c.group.y[i] += 6;  // outliers
  const kalman::RobustOptions robust{.degrees_of_freedom = 3};
  heads::StateModel<double> model = c.model();
  model.robust = &robust;
  const Gradients robustly = gradients(c, &robust), plainly = gradients(c, nullptr);
  EXPECT_LT(robustly.loss, plainly.loss);
  EXPECT_GT(relative_difference(robustly.parameters, plainly.parameters), 0.01);
  const std::vector<double>& gradient = robustly.parameters;
  heads::StateWorkspace<double> ws;
  ws.prepare(model, kRobustSteps, kRobustLanes, true);
  const auto loss = [&] {
    c.pack();
    heads::StateCarry<double> carry;
    carry.resize(c.architecture, kRobustLanes);
    std::copy_n(c.group.carry.h.data(), carry.h.size(), carry.h.data());
    std::copy_n(c.group.carry.x.data(), carry.x.size(), carry.x.data());
    std::copy_n(c.group.carry.P.data(), carry.P.size(), carry.P.data());
    return 0.01 * engine::window_forward(model, c.group.view(), carry, {}, ws);
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

TEST(WindowRobust, TheGradientOfOneStepIsExact) {
  for (const bool bent : {false, true})
    expect_exact_gradient(true, 1, {.missing = true, .carried = true, .bent = bent});
}

TEST(WindowRobust, TheGradientOfARecurrentModelIsExact) {
  for (const bool bent : {false, true}) {
    expect_exact_gradient(false, kRobustSteps, {.carried = true, .driven = true, .bent = bent});
    expect_exact_gradient(
        false, kRobustSteps,
        {.missing = true, .carried = true, .centre = true, .driven = true, .bent = bent});
  }
}

// As data, the weights that were chosen give the same states.
TEST(WindowRobust, ChosenWeightsAreWhatTheStatesHave) {
  for_each_isa([] {
    heads::ArchitectureOptions options;
    options.state_dim = 3;
    options.meas_dim = 2;
    options.input_dim = 3;
    options.hidden = 7;
    options.decoder = {6};
    WindowCase<double> c(options, {.missing = true, .carried = true}, kRobustSteps, kRobustLanes,
                         41);
    for (std::size_t i = 0; i < c.group.y.size(); i += 5) c.group.y[i] += 20;
    const kalman::RobustOptions robust{.degrees_of_freedom = 3};
    const Gradients chosen = gradients(c, &robust);
    c.group.weight.resize(c.group.y.size());
    double smallest = 1;
    for (std::size_t i = 0; i < c.group.weight.size(); ++i) {
      ASSERT_TRUE(std::isfinite(chosen.weight[i]) && chosen.weight[i] > 0) << i;
      c.group.weight[i] = chosen.weight[i];
      smallest = std::min(smallest, chosen.weight[i]);
    }
    EXPECT_LT(smallest, 0.05);
    const Gradients as_data = gradients(c, nullptr);
    EXPECT_LE(relative_difference(as_data.x_last, chosen.x_last), 1e-12);
  });
}

}  // namespace
}  // namespace kalmia::test
