// No method marked self-supervised touches clean data: with the truth removed from what it learns
// from, it gives the same bits.
#include <gtest/gtest.h>

#include <ostream>

#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {
namespace {

// One task of one experiment.
struct TaskName {
  std::string experiment;
  std::size_t task;
};

void PrintTo(const TaskName& name, std::ostream* out) {
  *out << name.experiment << " task " << name.task;
}

std::vector<TaskName> all_tasks() {
  std::vector<TaskName> names;
  for (const char* experiment : {"linear", "lorenz"})
    for (std::size_t i = 0; i < make_experiment(experiment).tasks.size(); ++i)
      names.push_back({experiment, i});
  return names;
}

class Honesty : public ::testing::TestWithParam<TaskName> {};

std::vector<std::optional<double>> figures(const std::vector<Outcome>& outcomes) {
  std::vector<std::optional<double>> all;
  for (const Outcome& each : outcomes) {
    const ReproduceRow& row = each.row;
    for (const auto& figure : {row.state_mse, row.position_mse, row.nees, row.coverage95,
                               row.reducible_error, row.held_out, row.leak})
      all.push_back(figure);
    all.insert(all.end(), each.channels.begin(), each.channels.end());
  }
  return all;
}

TEST_P(Honesty, WithoutTruthSelfSupervisedMethodsGiveTheSameBits) {
  const Experiment experiment = make_experiment(GetParam().experiment);
  const Task& task = experiment.tasks[GetParam().task];
  const Trajectories data = make_trajectories(experiment.system, 1, 64, 128, 256);
  const Trajectories noisy{without_truth(data.training), without_truth(data.validation), data.test};
  const bool claimed = task.methods[0].self_supervised;
  for (const ReproduceMethod& method : task.methods)
    EXPECT_EQ(method.self_supervised, claimed) << method.name;
  const std::vector<Outcome> expected = task.run({&data, 64, 1, 1, {}});
  if (!claimed && task.learns) {
    // It says so, and it is so.
    EXPECT_ANY_THROW((void)task.run({&noisy, 64, 1, 1, {}}));
    return;
  }
  EXPECT_EQ(figures(task.run({&noisy, 64, 1, 1, {}})), figures(expected));
}

INSTANTIATE_TEST_SUITE_P(
    AllTasks, Honesty, ::testing::ValuesIn(all_tasks()),
    [](const ::testing::TestParamInfo<TaskName>& each) {
      std::string name =
          each.param.experiment + "_" +
          make_experiment(each.param.experiment).tasks[each.param.task].methods[0].name;
      for (char& c : name)
        if (c == '-') c = '_';
      return name;
    });

}  // namespace
}  // namespace kalmia::reproduction
