// Experts from a user's equations: what they compute, and what is refused and how.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

// A pendulum with a motor, seen by a camera: (angle, rate), of which the camera shows the bob's
// place, with a zoom that is learned.
System pendulum() {
  System s;
  s.states = {"angle", "rate"};
  s.inputs = {"motor"};
  s.parameters = {{"g", 9.81}, {"length", 2, true, 0.1, 10}, {"zoom", 3, true}};
  s.define = {{"frequency", "g / length"}, {"pull", "-frequency * sin(angle)"}};
  s.ode = {{"rate", "pull - 0.1*rate + motor"}, {"angle", "rate"}};
  s.measure = {{"across", "zoom * length * sin(angle)"}, {"spin", "rate"}};
  s.initial = {{"angle", 0.5, 0.2}};
  return s;
}
const std::vector<std::string> kChannels = {"across", "spin"}, kInputs = {"wind", "motor"};

Expert expert_of_system(const System& system, const std::vector<std::string>& channels = kChannels,
                        const std::vector<std::string>& inputs = kInputs) {
  return make_expert(test::equations(system), channels, inputs);
}

Vector pendulum_slope(const Vector& x, double length, double motor) {
  return Vector{{x(1), -9.81 / length * std::sin(x(0)) - 0.1 * x(1) + motor}};
}

TEST(SystemExpert, IsWhatTheEquationsSay) {
  const Expert expert = expert_of_system(pendulum());
  EXPECT_EQ(expert.name, "system");
  EXPECT_TRUE(expert.physical);
  EXPECT_EQ(expert.state_names, (std::vector<std::string>{"angle", "rate"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{-1, 1}));
  EXPECT_EQ(expert.states[0].channel, -1);
  EXPECT_EQ(expert.states[1].channel, 1);
  EXPECT_EQ(expert.states[1].derivative, 0);
  ASSERT_EQ(expert.parameters.size(), 3u);
  EXPECT_EQ(expert.parameters[0].name, "g");
  EXPECT_FALSE(expert.parameters[0].learn);
  EXPECT_TRUE(expert.parameters[1].learn);
  EXPECT_EQ(expert.parameters[1].lower, 0.1);
  EXPECT_EQ(expert.parameters[1].upper, 10);
  EXPECT_EQ(expert.parameters[1].prior_std, std::numeric_limits<double>::infinity());
  EXPECT_EQ(expert.theta(), (std::vector<double>{9.81, 2, 3}));
  ASSERT_EQ(expert.initial.size(), 1u);
  EXPECT_EQ(expert.initial[0].name, "angle");
  EXPECT_EQ(expert.initial[0].mean, 0.5);
  EXPECT_EQ(expert.initial[0].std, 0.2);

  // All inputs of the data are read; the one that the equations name counts.
  EXPECT_EQ(expert.map->input_dim(), 2);
  const Point at{Vector{{0.7, -1.2}}, 0.1, Vector{{100, 0.6}}, Vector{{9.81, 1.5, 3}}};
  const LocalMap map = local_map(expert, at);
  const auto flow = [&](const Vector& from) {
    return rk4_step([](const Vector& x) { return pendulum_slope(x, 1.5, 0.6); }, from, 0.1);
  };
  EXPECT_LE((map.F * at.x + map.e - flow(at.x)).norm(), 1e-14);
  for (int j = 0; j < 2; ++j) {
    const Vector step = 1e-5 * Vector::Unit(2, j);
    EXPECT_LE((map.F.col(j) - (flow(at.x + step) - flow(at.x - step)) / 2e-5).norm(), 1e-9);
  }
}

TEST(SystemExpert, MeasuresWhatTheEquationsSay) {
  const Expert expert = expert_of_system(pendulum());
  ASSERT_NE(expert.emission, nullptr);
  Lines<double> x(2, 1), dt(1, 1), u(2, 1), y(2, 1), H(2, 2);
  test::fill(x, [] { return Matrix{{0.7}, {-1.2}}; });
  Buffer<double> scratch(expert.emission->scratch_size());
  const double theta[] = {9.81, 1.5, 4};
  expert.emission->forward({x.data(), dt.data(), u.data(), theta}, y.data(), H.data(),
                           scratch.data());
  EXPECT_LE((y.get(2) - Vector{{6 * std::sin(0.7), -1.2}}).norm(), 1e-14);
  EXPECT_LE((H.get(2) - Matrix{{6 * std::cos(0.7), 0}, {0, 1}}).norm(), 1e-14);
}

TEST(SystemExpert, FlowsAreThoseAskedFor) {
  const Point at{Vector{{0.7, -1.2}}, 0.1, Vector{{0, 0.6}}};
  const auto slope = [](const Vector& x) { return pendulum_slope(x, 2, 0.6); };
  const auto next = [&](const System& system) {
    const LocalMap map = local_map(expert_of_system(system), at);
    return Vector(map.F * at.x + map.e);
  };
  System s = pendulum();
  s.integration.substeps = 3;
  EXPECT_LE((next(s) - rk4_steps(slope, at.x, 0.1, 3)).norm(), 1e-14);
  s = pendulum();
  s.integration.flow = "taylor";
  s.integration.order = 1;
  EXPECT_LE((next(s) - (at.x + 0.1 * slope(at.x))).norm(), 1e-14);
  s.integration.order = 7;
  EXPECT_LE((next(s) - rk4_steps(slope, at.x, 0.1, 100)).norm(), 1.2e-8);  // of order 6: 7e-8
}

TEST(SystemExpert, AMatrixIsFrozenUnlessToldOtherwise) {
  System s;
  s.states = {"a", "b"};
  s.parameters = {{"k", 0.5}};
  s.matrix = {{"-k", "b"}, {"sin(a)", "0"}};
  const Point at{Vector{{0.4, 1.3}}, 0.2};
  const Matrix A{{-0.5, 1.3}, {std::sin(0.4), 0}};
  for (const char* flow : {"", "frozen"}) {
    s.integration.flow = flow;
    const LocalMap map = local_map(expert_of_system(s, {"a", "b"}, {}), at);
    EXPECT_LE((map.F - taylor_series(A, 0.2, 2)).norm(), 1e-15);
    EXPECT_EQ(map.e, Vector::Zero(2));
  }
  s.integration.order = 5;
  EXPECT_LE(
      (local_map(expert_of_system(s, {"a", "b"}, {}), at).F - taylor_series(A, 0.2, 5)).norm(),
      1e-15);
  s.integration.flow = "rk4";
  const LocalMap rk4 = local_map(expert_of_system(s, {"a", "b"}, {}), at);
  const auto slope = [](const Vector& x) {
    return Vector{{-0.5 * x(0) + x(1) * x(1), std::sin(x(0)) * x(0)}};
  };
  EXPECT_LE((rk4.F * at.x + rk4.e - rk4_step(slope, at.x, 0.2)).norm(), 1e-14);
}

TEST(SystemExpert, NextIsTheMapItself) {
  System s;
  s.states = {"a", "b"};
  s.inputs = {"push"};
  s.next = {{"a", "a + dt*b"}, {"b", "0.9*b + dt*push - a^3"}};
  const Expert expert = expert_of_system(s, {"a"}, {"push"});
  EXPECT_EQ(expert.emission, nullptr);
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0}));
  const LocalMap map = local_map(expert, {Vector{{2, 3}}, 0.5, Vector{{7}}});
  EXPECT_LE((map.F - Matrix{{1, 0.5}, {-12, 0.9}}).norm(), 1e-14);
  EXPECT_LE((map.e - Vector{{0, 3.5 + 16}}).norm(), 1e-14);
}

// Columns without an expression measure the states of their names, in the columns' order.
// dx/dt = -2 x, whose flow is known. Noise along it has the variance (1 - exp(-4 dt)) / 4, of which
// Simpson's rule leaves an error of order dt^5.
TEST(SystemExpert, AFlowThatIsKnownIsTakenAsItIs) {
  System s;
  s.states = {"x"};
  s.ode = {{"x", "-2*x"}};
  ExpertDraft draft = draft_exact_flow(s, {{"x", "exp(-2*dt)*x"}}, {"x"});
  const Expert expert = finish(draft, test::named("system"));
  const Point at{Vector{{3}}, 0.1};
  EXPECT_DOUBLE_EQ(local_map(expert, at).F(0, 0), std::exp(-0.2));
  EXPECT_EQ(local_map(expert, at).e(0), 0);
  ASSERT_EQ(draft.noise.size(), 3u);
  double variance = 0;
  for (const NoiseTerm& term : draft.noise) {
    const Vector found = values(draft.graph, draft.symbols, {term.weight, term.W[0]}, at);
    variance += found(0) * found(1) * found(1);
  }
  EXPECT_NEAR(variance, (1 - std::exp(-0.4)) / 4, 1e-6);
  EXPECT_GT(std::abs(0.1 - (1 - std::exp(-0.4)) / 4), 1e-2);
}

TEST(SystemExpert, ColumnsMeasureTheStatesOfTheirNames) {
  System s;
  s.states = {"a", "b", "c"};
  s.next = {{"a", "a + b"}, {"b", "b + c"}, {"c", "c"}};
  const Expert expert = expert_of_system(s, {"c", "a"}, {});
  EXPECT_EQ(expert.measured_state, (std::vector<int>{2, 0}));
  EXPECT_EQ(expert.H, (std::vector<double>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(expert.emission, nullptr);
  EXPECT_EQ(expert.states[0].channel, 1);
  EXPECT_EQ(expert.states[1].channel, -1);
  EXPECT_EQ(expert.states[2].channel, 0);
  // Some by an expression, others by name.
  s.measure = {{"sum", "a + 2*b"}};
  const Expert mixed = expert_of_system(s, {"sum", "c"}, {});
  EXPECT_EQ(mixed.H, (std::vector<double>{1, 2, 0, 0, 0, 1}));
  EXPECT_EQ(mixed.measured_state, (std::vector<int>{-1, 2}));
}

TEST(SystemExpert, ADepartureIsLearnedBesideTheParameters) {
  const Expert expert = make_expert(test::equations(pendulum(), 0.1), kChannels, kInputs);
  ASSERT_EQ(expert.parameters.size(), 7u);
  EXPECT_EQ(expert.parameters[3].name, "departure of angle by angle");
  EXPECT_EQ(expert.parameters[6].name, "departure of rate by rate");
}

std::string refused(const std::function<void(System&)>& damage) {
  System system = pendulum();
  damage(system);
  return message_of<ConfigError>([&] { expert_of_system(system); });
}
void expect_has(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(SystemExpert, ALearnedParameterThatNothingUsesIsRefused) {
  System s = pendulum();
  s.parameters.push_back({"idle", 1});
  EXPECT_EQ(expert_of_system(s).unused, (std::vector<std::string>{"idle"}));
  s.parameters.back().learn = true;
  try {
    expert_of_system(s);
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "system.parameters.idle: it is to be learned, but no equation uses it; use it or "
              "leave it out");
  }
}

TEST(SystemExpert, DefinitionsThatNothingUsesAreNamed) {
  System s = pendulum();
  EXPECT_TRUE(expert_of_system(s).unused.empty());
  // Part of a longer name is no use of it; a definition may use another.
  s.define.push_back({"g_", "2"});
  s.define.push_back({"g__", "g_ + 1"});
  EXPECT_EQ(expert_of_system(s).unused, (std::vector<std::string>{"g__"}));
}

TEST(SystemExpert, TellsWhichInputsTheMapReads) {
  // The motor is the second input of the data.
  EXPECT_EQ(expert_of_system(pendulum()).inputs_read, (std::vector<int>{1}));
}

TEST(SystemExpert, EquationsThatDoNotMakeSenseAreRefused) {
  EXPECT_EQ(refused([](System& s) { s.states.clear(); }),
            "system.states is empty, but a system needs at least one state");
  const std::string unknown = refused([](System& s) { s.ode[0].text = "pull - drag*rate"; });
  expect_has(unknown, "system.ode.rate");
  expect_has(unknown, "drag");
  expect_has(refused([](System& s) { s.ode[0].text = "pull -"; }), "system.ode.rate");
  expect_has(refused([](System& s) { s.define[0].text = "pull"; }), "system.define.frequency");
  expect_has(refused([](System& s) { s.measure[0].text = "angel"; }), "system.measure.across");
  EXPECT_EQ(refused([](System& s) { s.ode.pop_back(); }),
            "system.ode: the equation of state angle is missing");
  EXPECT_EQ(refused([](System& s) {
              s.ode.push_back({"rate", "1"});
            }),
            "system.ode.rate is given twice");
  EXPECT_EQ(refused([](System& s) { s.ode[0].name = "speed"; }),
            "system.ode.speed: there is no state of that name in system.states");
  expect_has(refused([](System& s) { s.states.push_back("angle"); }), "system.states");
  expect_has(refused([](System& s) { s.parameters[0].name = "angle"; }), "system.parameters");
  expect_has(refused([](System& s) { s.define[0].name = "dt"; }), "system.define");
}

TEST(SystemExpert, StatesMoveByExactlyOneKindOfEquation) {
  EXPECT_EQ(refused([](System& s) { s.ode.clear(); }),
            "system: none of ode, matrix and next is given, but the states move by exactly one");
  EXPECT_EQ(
      refused([](System& s) { s.next = s.ode; }),
      "system: more than one of ode, matrix and next is given, but the states move by exactly "
      "one");
  EXPECT_EQ(
      refused([](System& s) {
        s.matrix = {{"0", "1"}, {"1", "0"}};
      }),
      "system: more than one of ode, matrix and next is given, but the states move by exactly "
      "one");
}

TEST(SystemExpert, AMatrixHasOneRowAndColumnPerState) {
  const auto with_matrix = [](const std::vector<std::vector<std::string>>& matrix) {
    return refused([&](System& s) {
      s.ode.clear();
      s.matrix = matrix;
    });
  };
  EXPECT_EQ(with_matrix({{"0", "1"}}), "system.matrix has 1 rows, but there are 2 states");
  EXPECT_EQ(with_matrix({{"0", "1"}, {"1"}}),
            "system.matrix, row 2 has 1 entries, but there are 2 states");
  expect_has(with_matrix({{"0", "1"}, {"1", "zoo"}}), "system.matrix, row 2, column 2");
}

TEST(SystemExpert, FlowsThatDoNotFitAreRefused) {
  EXPECT_EQ(refused([](System& s) { s.integration.flow = "euler"; }),
            "system.flow = \"euler\", but it must be taylor or rk4");
  EXPECT_EQ(refused([](System& s) { s.integration.flow = "frozen"; }),
            "system.flow = \"frozen\", but it must be taylor or rk4; frozen is for a matrix");
  EXPECT_EQ(refused([](System& s) {
              s.ode.clear();
              s.matrix = {{"0", "1"}, {"1", "0"}};
              s.integration.flow = "euler";
            }),
            "system.flow = \"euler\", but it must be frozen, taylor or rk4");
  EXPECT_EQ(refused([](System& s) {
              std::swap(s.ode, s.next);
              s.integration.flow = "rk4";
            }),
            "system.flow = \"rk4\", but it is for ode and matrix; next gives the map itself");
  EXPECT_EQ(refused([](System& s) { s.integration.order = 21; }),
            "system.order = 21, but it must be in 1..20");
  EXPECT_EQ(refused([](System& s) { s.integration.order = 0; }),
            "system.order = 0, but it must be in 1..20");
  EXPECT_EQ(refused([](System& s) { s.integration.substeps = 101; }),
            "system.substeps = 101, but it must be in 0..100");
}

// A fit finds how many; until then there is one.
TEST(SystemExpert, SubstepsThatAreToBeFoundAreOne) {
  System system;
  system.states = {"x"};
  system.ode = {{"x", "-3*x*x"}};
  const auto next = [&](int substeps) {
    system.integration.substeps = substeps;
    ExpertSpec spec;
    spec.kind = PriorKind::System;
    spec.system = system;
    const Expert expert = make_expert(spec, {"x"});
    Buffer<double> x(8), dt(8), F(8), e(8), scratch(expert.map->scratch_size());
    std::ranges::fill(x.span(), 0.8);
    std::ranges::fill(dt.span(), 0.4);
    expert.map->forward({x.data(), dt.data(), nullptr, nullptr}, F.data(), e.data(),
                        scratch.data());
    return F.data()[0] * 0.8 + e.data()[0];
  };
  EXPECT_EQ(System().integration.substeps, 0);
  EXPECT_EQ(next(0), next(1));
  EXPECT_NE(next(2), next(1));
}

TEST(SystemExpert, ColumnsThatAreNotThereAreRefused) {
  EXPECT_EQ(
      refused([](System& s) { s.inputs = {"motors"}; }),
      "system.inputs: \"motors\" is no input column of the data; name the columns with inputs");
  EXPECT_EQ(refused([](System& s) {
              s.measure.push_back({"height", "angle"});
            }),
            "system.measure.height: the data have no measured column of that name");
  EXPECT_EQ(refused([](System& s) { s.measure.erase(s.measure.begin()); }),
            "system.measure.across is missing: the measured column across is no state, so it needs "
            "an expression");
}

TEST(SystemExpert, AMeasurementIsOfStatesAndParametersAlone) {
  for (const char* text : {"angle * dt", "angle + motor"})
    EXPECT_EQ(
        refused([&](System& s) { s.measure[0].text = text; }),
        "system.measure.across: what is measured may depend on states and parameters, but not "
        "on dt or an input");
}

TEST(SystemExpert, AMeasurementGivenTwiceIsRefused) {
  EXPECT_EQ(refused([](System& s) {
              s.measure.push_back({"spin", "angle"});
            }),
            "system.measure.spin is given twice");
  EXPECT_EQ(refused([](System& s) {
              s.initial.push_back({"angle", 0, 1});
            }),
            "system.initial.angle is given twice");
}

TEST(SystemExpert, ParametersAndInitialStatesMustBeNumbersWithinTheirBounds) {
  const double infinity = std::numeric_limits<double>::infinity();
  expect_has(refused([&](System& s) { s.parameters[0].value = infinity; }),
             "system.parameters.g: the value is inf, but it must be finite");
  EXPECT_EQ(refused([](System& s) { s.parameters[1].value = 11; }),
            "system.parameters.length: the value is 11, but learning must start between the bounds "
            "0.1 and 10");
  // On a bound it could never leave it.
  for (const double bound : {0.1, 10.0})
    expect_has(refused([&](System& s) { s.parameters[1].value = bound; }), "between the bounds");
  expect_has(refused([](System& s) { s.parameters[1].lower = std::nan(""); }), "length");
  EXPECT_EQ(refused([](System& s) { s.initial[0].name = "speed"; }),
            "system.initial.speed: there is no state of that name in system.states");
  EXPECT_EQ(refused([](System& s) { s.initial[0].std = 0; }),
            "system.initial.angle: mean 0.5, std 0, but both must be finite and std above 0");
  expect_has(refused([](System& s) { s.initial[0].mean = std::nan(""); }), "system.initial.angle");
  expect_has(refused([&](System& s) { s.initial[0].std = infinity; }), "system.initial.angle");
}

TEST(SystemExpert, AStateNobodySeesIsRefused) {
  expect_has(refused([](System& s) {
               s.states.push_back("heat");
               s.ode.push_back({"heat", "rate^2 - heat"});
             }),
             "state heat cannot be seen");
}

TEST(SystemExpert, NamesTheEquationThatIsNotDefinedAtAState) {
  System s = pendulum();
  const SystemState start{{0.5, 0}, 0.1, {1, 2}};
  const auto place = [&] { return undefined_at(s, kChannels, kInputs, start); };
  EXPECT_EQ(place(), "");
  s.ode[0].text = "pull/rate + motor";
  EXPECT_EQ(place(), "system.ode.rate");
  s.define.push_back({"root", "sqrt(rate)"});  // finite, but not its derivative
  EXPECT_EQ(place(), "system.define.root");
  s = pendulum();
  s.measure[0].text = "zoom*length*log(rate)";
  EXPECT_EQ(place(), "system.measure.across");
}

// d2000 = x, written as 2^2000 terms: shared, it is 2000 sums.
TEST(SystemExpert, DefinitionsAreComputedOnce) {
  System s;
  s.states = {"x"};
  s.define = {{"d0", "x"}};
  for (int i = 1; i <= 2000; ++i) {
    const std::string before = std::string("d").append(std::to_string(i - 1));
    s.define.push_back(
        {std::string("d").append(std::to_string(i)), "0.5*" + before + " + 0.5*" + before});
  }
  s.next = {{"x", "0.75*d2000"}};
  const Expert expert = expert_of_system(s, {"x"}, {});
  const LocalMap map = local_map(expert, {Vector{{3}}, 1, Vector(0), Vector(0)});
  EXPECT_EQ(map.F(0, 0), 0.75);
  EXPECT_EQ(map.e(0), 0);
  EXPECT_EQ(undefined_at(s, {"x"}, {}, {{3}, 1, {}}), "");
  s.define.push_back({"late", "1 / (d2000 - 3)"});
  EXPECT_EQ(undefined_at(s, {"x"}, {}, {{3}, 1, {}}), "system.define.late");
}

TEST(SystemExpert, EquationsBeyondAllBoundsAreRefusedByName) {
  System s = pendulum();
  std::string sum = "0";
  for (int i = 1; i <= 140000; ++i) sum += "+sin(" + std::to_string(i) + "*angle)";
  s.define.push_back({"huge", sum});
  EXPECT_EQ(refused([&](System& each) { each = s; }),
            "system.define.huge: with it the equations have more than 400000 operations, but that "
            "is the most that is possible; write less");
  expect_has(refused([](System& each) { each.states.resize(129, "s"); }),
             "system.states has 129 names, but a model has at most 128 states");
}

}  // namespace
}  // namespace kalmia::prior
