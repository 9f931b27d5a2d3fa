#include "train/best_static.hpp"

#include <gtest/gtest.h>

#include "support/expert_spec.hpp"
#include "train/first_description.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// Two channels side by side.
Dataset side_by_side(const std::vector<double>& a, const std::vector<double>& b) {
  Dataset data;
  data.y_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.steps = static_cast<int>(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) series.y.insert(series.y.end(), {a[k], b[k]});
  return data;
}

double loss_of(const StaticResult& fitted, const Case& c) {
  std::vector<HeldOut> everything;
  for (const StepRange& range : c.everything()) everything.push_back({range, range.begin});
  ThreadTeam team(1);
  return held_out_loss(*fitted.alone<double>(), c.scaled, everything, team);
}

StaticResult fitted_to(const Case& c, int iterations = 0) {
  ThreadTeam team(1);
  StaticOptions options;
  options.max_iterations = iterations;
  return fit_static(c.description, c.channels, {}, c.scaled, c.everything(), team, options);
}

// Channels that have nothing in common are as likely together as each alone, in their own units.
TEST(BestStatic, JoinedChannelsAreAsLikelyAsEachAlone) {
  std::vector<double> north = local_level(500, 0.2, 1, 1), up = local_level(500, 0.01, 4, 2);
  for (std::size_t k = 0; k < up.size(); ++k) {
    north[k] = 1e3 + 50 * north[k];
    if (k % 5 == 3) up[k] = kMissing;
  }
  const Case a(dataset_of({north}), test::sum_of_parts("trend + memory", {"y"})),
      b(dataset_of({up}), test::sum_of_parts("damped-trend", {"y"})),
      both(side_by_side(north, up),
           test::sum_of_parts("a: trend + memory; b: damped-trend", {"a", "b"}));
  const StaticResult fitted_a = fitted_to(a, 30), fitted_b = fitted_to(b, 30);
  const StaticResult whole = joined(both.description, {fitted_a, fitted_b});
  EXPECT_NEAR(loss_of(whole, both), (500 * loss_of(fitted_a, a) + 400 * loss_of(fitted_b, b)) / 900,
              1e-9);
  EXPECT_EQ(whole.free_parameters, fitted_a.free_parameters + fitted_b.free_parameters);
  EXPECT_EQ(whole.description.theta.size(),
            fitted_a.description.theta.size() + fitted_b.description.theta.size());
  EXPECT_DOUBLE_EQ(whole.training_loss, (fitted_a.training_loss + fitted_b.training_loss) / 2);
  // Networks keep R above it, in the units of the data as in those of each channel.
  ASSERT_EQ(whole.noise_floor.size(), 4u);
  const auto floor = [](const StaticResult& of, std::size_t m) {
    const std::vector<double>& unit = of.description.units.y_scale;
    return of.noise_floor[m * (unit.size() + 1)] * unit[m] * unit[m];
  };
  EXPECT_GT(floor(fitted_a, 0), 0);
  EXPECT_NEAR(floor(whole, 0), floor(fitted_a, 0), 1e-9 * floor(fitted_a, 0));
  EXPECT_NEAR(floor(whole, 1), floor(fitted_b, 0), 1e-9 * floor(fitted_b, 0));
  // A search that begins there ends no higher.
  ThreadTeam team(1);
  StaticOptions options;
  options.from = &whole;
  options.max_iterations = 3;
  const StaticResult further = fit_static(both.description, both.channels, {}, both.scaled,
                                          both.everything(), team, options);
  EXPECT_LT(further.training_loss,
            (500 * fitted_a.training_loss + 400 * fitted_b.training_loss) / 900 + 1e-9);
}

// What fit_best_static reads.
struct Fit {
  Dataset data;
  FitSpec spec;
  ThreadTeam team{1};
  ProgressReport report;
  FitData checked;
  FitContext context;
  model::ModelDescription description;
  ScaledData scaled;

  Fit(Dataset the_data, FitSpec options, const prior::ExpertSpec& prior,
      std::function<bool(const FitProgress&)> progress = {})
      : data(std::move(the_data)),
        spec(std::move(options)),
        report(std::move(progress)),
        checked(data, spec.model),
        context(checked, spec, {}, team, report),
        description(first_description(context, prior)),
        scaled(data, description.units, description.dt) {}

  BestStatic best(const StaticResult* from = nullptr, Care care = Care::Full) {
    return fit_best_static(context, description, scaled, from, care);
  }
};

TEST(BestStatic, IsScoredOnWhatIsHeldOut) {
  Fit fit(dataset_of({local_level(800, 0.2, 1, 3)}), {}, test::named("constant-position"));
  const BestStatic best = fit.best();
  EXPECT_EQ(best.score, held_out_loss(*best.fitted.alone<float>(), fit.scaled,
                                      fit.context.split().held_out, fit.team));
  EXPECT_TRUE(best.kept.empty());
  // With little data by Akaike's criterion: a price for each number that was learned.
  Fit little(dataset_of({local_level(200, 0.2, 1, 4)}), {}, test::named("constant-position"));
  const BestStatic few = little.best();
  ASSERT_TRUE(little.context.little_data());
  EXPECT_DOUBLE_EQ(few.score, few.fitted.training_loss + few.fitted.free_parameters / 200.0);
}

TEST(BestStatic, AGlanceIsNearlyAsGood) {
  Fit fit(dataset_of({local_level(3000, 0.2, 1, 5)}), {}, test::named("constant-velocity"));
  const BestStatic whole = fit.best(), glance = fit.best(nullptr, Care::Glance);
  EXPECT_NEAR(glance.score, whole.score, 0.01);
  // From the end of a search on, there is little left to do.
  int iterations = 0;
  Fit again(dataset_of({local_level(3000, 0.2, 1, 5)}), {}, test::named("constant-velocity"),
            [&](const FitProgress&) { return ++iterations > 0; });
  again.best(&whole.fitted, Care::Glance);
  const int from_the_end = std::exchange(iterations, 0);
  again.best(nullptr, Care::Glance);
  EXPECT_LT(from_the_end, iterations);
}

TEST(BestStatic, AStopEndsItWithTheFirst) {
  int asked = 0;
  Fit fit(dataset_of({local_level(800, 0.2, 1, 6)}), {}, test::named("constant-velocity"),
          [&](const FitProgress& now) {
            EXPECT_EQ(now.stage, "static constant-velocity");
            return ++asked < 3;
          });
  const BestStatic best = fit.best();
  EXPECT_TRUE(best.fitted.interrupted);
  EXPECT_TRUE(std::isfinite(best.score));
  EXPECT_EQ(asked, 3);
}

// Tails that are to be learned are, and the fit is one under them.
TEST(BestStatic, TailsAreLearned) {
  std::vector<double> y = local_level(3000, 0.1, 1, 7);
  RandomStream random(8, "outliers");
  for (double& value : y)
    if (random.uniform() < 0.05) value += 15 * random.normal();
  FitSpec spec;
  spec.model.tails = model::LearnedTails{};
  Fit fit(dataset_of({y}), spec, test::named("constant-position"));
  const BestStatic best = fit.best(nullptr, Care::Glance);
  EXPECT_GT(best.fitted.description.tails, 0);
  EXPECT_LT(best.fitted.description.tails, 5);
}

System lorenz_with(int substeps, bool learn) {
  System system;
  system.states = {"y1", "y2", "y3"};
  system.parameters = {{"rho", learn ? 24.0 : 28.0, learn}};
  system.ode = {{"y1", "10*(y2 - y1)"}, {"y2", "y1*(rho - y3) - y2"}, {"y3", "y1*y2 - 8/3*y3"}};
  system.integration.substeps = substeps;
  return system;
}

// Equations are integrated as finely as their speed asks for, unless the user says how finely.
TEST(BestStatic, SubstepsAreFoundOrKept) {
  SimulateOptions options;
  options.steps = 2500;
  const Dataset data = simulate("lorenz", options);
  for (const bool learn : {false, true}) {
    Fit found(data, {}, test::equations(lorenz_with(0, learn)));
    Fit kept(data, {}, test::equations(lorenz_with(1, learn)));
    const BestStatic fine = found.best(), coarse = kept.best();
    EXPECT_EQ(fine.fitted.description.prior.system.integration.substeps, 2);
    EXPECT_EQ(coarse.fitted.description.prior.system.integration.substeps, 1);
    EXPECT_LT(fine.score, coarse.score - 0.003);
    if (!learn) continue;
    EXPECT_NEAR(fine.fitted.description.theta[0], 28, 0.1);
    ASSERT_EQ(fine.fitted.constants.size(), 1u);
    EXPECT_LT(fine.fitted.constants[0].standard_error, 0.1);
  }
}

// Equations that one substep makes run away at once are integrated more finely.
TEST(BestStatic, StiffEquationsGetMoreSubsteps) {
  RandomStream random(10, "stiff");
  std::vector<double> y;
  for (int k = 0; k < 800; ++k) y.push_back(1 + 0.02 * random.normal());
  System system;
  system.states = {"y"};
  system.ode = {{"y", "-20*(y^3 - 1)"}};
  system.initial = {};
  Fit fit(dataset_of({y}), {}, test::equations(system));
  EXPECT_GE(fit.best().fitted.description.prior.system.integration.substeps, 8);
}

// What is known of each learned constant.
TEST(BestStatic, LearnedConstantsAreExamined) {
  System system;
  system.states = {"y"};
  system.parameters = {{"a", 2, true, 0}, {"b", 3, true, 0}, {"c", 0.5, true, 0},
                       {"d", 0.1, true},  {"e", 7, true},    {"fixed", 1}};
  system.next = {{"y", "a*b + c + d*y + fixed + e*y*y"}};
  const Case c(dataset_of({local_level(100, 1, 1, 9)}), test::equations(system));
  StaticResult fitted;
  fitted.description = c.description;
  fitted.description.theta = {4, 1.5, 1e-9, 0.3, 7, 1};
  const double none = std::nan("");
  fitted.constants = {{0, none, false, false, {1}},
                      {1, none, false, false, {0}},
                      {2, none, true, true, {}},
                      {3, 0.05, false, true, {}},
                      {4, none, false, false, {}}};
  const std::vector<LearnedParameter> examined = examined_parameters(fitted);
  ASSERT_EQ(examined.size(), 5u);
  EXPECT_EQ(examined[0].state, ParameterState::NotIdentifiable);
  EXPECT_EQ(examined[0].value, 4);
  EXPECT_EQ(examined[0].start, 2);
  EXPECT_EQ(examined[0].lower, 0);
  EXPECT_EQ(examined[0].together, (std::vector<std::string>{"b"}));
  EXPECT_EQ(examined[2].state, ParameterState::AtBound);
  EXPECT_EQ(examined[3].state, ParameterState::Determined);
  EXPECT_EQ(examined[3].standard_error, 0.05);
  EXPECT_EQ(examined[4].state, ParameterState::DidNotMove);
  EXPECT_TRUE(std::isnan(examined[4].standard_error));
  // Where nothing was examined, what can be seen from the values.
  fitted.constants.clear();
  const std::vector<LearnedParameter> seen = examined_parameters(fitted);
  EXPECT_EQ(seen[0].state, ParameterState::Unknown);
  EXPECT_EQ(seen[2].state, ParameterState::AtBound);
  EXPECT_EQ(seen[4].state, ParameterState::DidNotMove);
  // Those of priors with a name are not.
  StaticResult named;
  named.description = Case(dataset_of({local_level(100, 1, 1, 9)}), "damped-velocity").description;
  for (const LearnedParameter& each : examined_parameters(named))
    EXPECT_EQ(each.state, ParameterState::Unknown);
}

TEST(BestStatic, ParametersWithAMeaningAreNamed) {
  const Case c(dataset_of({local_level(100, 1, 1, 9)}), "damped-velocity");
  model::ModelDescription description = c.description;
  const std::vector<Parameter> began = learned_parameters(description);
  ASSERT_EQ(began.size(), 2u);
  description.theta = {0.25, 0.5};
  const std::vector<Parameter> ended = learned_parameters(description);
  EXPECT_EQ(ended[0].value, 0.25);
  EXPECT_EQ(ended[1].value, 0.5);
  EXPECT_EQ(ended[0].name, began[0].name);
  // Entries of a departure have none.
  prior::ExpertSpec none = test::named("none");
  none.departure = 1;
  EXPECT_TRUE(
      learned_parameters(Case(dataset_of({local_level(100, 1, 1, 9)}), none).description).empty());
}

}  // namespace
}  // namespace kalmia::train
