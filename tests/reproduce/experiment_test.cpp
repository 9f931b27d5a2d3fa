#include "reproduce/experiment.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kalmia::reproduction {
namespace {

TEST(Experiment, NamesOfMethodsAreTheirOwn) {
  for (const char* name : {"linear", "lorenz"}) {
    const Experiment experiment = make_experiment(name);
    std::set<std::string> names;
    for (const ReproduceMethod& method : methods_of(experiment)) {
      EXPECT_TRUE(names.insert(method.name).second) << method.name;
      EXPECT_FALSE(method.description.empty());
    }
    EXPECT_TRUE(names.contains("raw"));
    EXPECT_TRUE(names.contains("recursive-filter"));
  }
}

TEST(Experiment, MethodsOfOneTaskComeTogether) {
  const Experiment part = with_methods(make_experiment("lorenz"), {"linearized-smoother", "raw"});
  ASSERT_EQ(part.tasks.size(), 2u);
  EXPECT_EQ(part.tasks[1].methods[0].name, "recursive-filter");
}

TEST(Experiment, OthersMayJoin) {
  Task rival;
  rival.methods = {{"rival", "from outside", true, false, false, {}}};
  join_experiment("linear", rival);
  EXPECT_EQ(methods_of(make_experiment("linear")).back().name, "rival");
  EXPECT_NE(methods_of(make_experiment("lorenz")).back().name, "rival");
  EXPECT_EQ(with_methods(make_experiment("linear"), {"rival"}).tasks.size(), 1u);
  EXPECT_THROW(join_experiment("linear", rival), ConfigError);
  EXPECT_THROW(join_experiment("audio", rival), ConfigError);
}

TEST(Experiment, UnknownNamesAreRefusedWithAGuess) {
  try {
    (void)with_methods(make_experiment("lorenz"), {"fused-smother"});
    FAIL();
  } catch (const ConfigError& e) {
    EXPECT_NE(std::string(e.what()).find("did you mean fused-smoother?"), std::string::npos);
  }
  EXPECT_THROW((void)make_experiment("lorentz"), ConfigError);
}

}  // namespace
}  // namespace kalmia::reproduction
