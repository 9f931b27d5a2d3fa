#include <gtest/gtest.h>

#include "kalmia/evaluate.hpp"
#include "reproduce/tasks.hpp"

namespace kalmia::reproduction {
namespace {

FitOptions flow() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "lorenz";
  options.model.integration.flow = "rk4";
  options.model.integration.substeps = 2;
  options.model.noise = "0.5";
  options.model.hidden = 0;
  return options;
}

const ReproduceMethod kFilter{"filter", "", true, false, false, {}},
    kSmoother{"smoother", "", true, true, false, {}};

TEST(FittedTask, GivesTheFiguresOfEvaluate) {
  const Trajectories data = make_trajectories("lorenz", 1, 600, 300, 400);
  const Task task = fitted_task(flow(), {{kFilter, "", 0}, {kSmoother, "linearized", 0}}, 1, 0.5);
  EXPECT_DOUBLE_EQ(task.cost(10, 0), 6);
  const std::vector<Outcome> outcomes = task.run({&data, 500, 9, 1, {}});
  ASSERT_EQ(outcomes.size(), 2u);

  FitOptions options = flow();
  options.train.seed = 9;
  const FitResult fitted = fit(first_steps(data.training, 500), data.validation, options);
  const Evaluation e = evaluate(fitted.model, data.test);
  EXPECT_EQ(outcomes[0].row.state_mse, e.state_mse_filtered);
  EXPECT_EQ(outcomes[0].row.nees, e.nees_filtered);
  EXPECT_EQ(outcomes[1].row.state_mse, e.state_mse_smoothed);
  EXPECT_EQ(outcomes[1].row.coverage95, e.coverage95);
  EXPECT_EQ(outcomes[1].row.position_mse, e.mse_smoothed);
  EXPECT_EQ(*outcomes[0].row.held_out, fitted.summary.best_held_out);
  EXPECT_FALSE(outcomes[0].row.networks_kept);
}

TEST(FittedTask, StatesThatAModelLacksCountAsZero) {
  const Trajectories data = make_trajectories("linear", 1, 300, 100, 400);
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "constant-position";
  options.model.noise = "0.5";
  options.model.hidden = 0;
  const Outcome outcome =
      fitted_task(options, {{kFilter, "", 0}}, 1, 1).run({&data, 300, 1, 1, {}})[0];
  // Velocities alone have a variance of about 1.5.
  EXPECT_GT(*outcome.row.state_mse, 0.3);
  EXPECT_LT(*outcome.row.position_mse, 0.3);
}

TEST(FittedTask, SettingsNameEveryOptionButSeedAndThreads) {
  const std::string text = settings_text(flow());
  EXPECT_NE(text.find("flow=rk4"), std::string::npos) << text;
  FitOptions other = flow();
  other.train.seed = 5;
  other.train.threads = 7;
  EXPECT_EQ(settings_text(other), text);
  other.train.clip_norm = 0.5;
  EXPECT_NE(settings_text(other), text);
  other = flow();
  other.model.system.states = {"x"};
  other.model.system.ode = {{"x", "-x"}};
  EXPECT_NE(settings_text(other), text);
}

}  // namespace
}  // namespace kalmia::reproduction
