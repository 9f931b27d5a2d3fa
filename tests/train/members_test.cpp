#include "train/members.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "infer/infer_cases.hpp"
#include "kalmia/simulate.hpp"
#include "model/model_file.hpp"
#include "support/scratch_folder.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

Dataset lorenz_data(int steps) {
  SimulateOptions options;
  options.steps = steps;
  return simulate("lorenz", options);
}

FitOptions members_options(int members) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "lorenz";
  options.model.noise = "0.5";
  options.model.hidden = 12;
  options.model.decoder = {12};
  options.model.members = members;
  options.train.updates = 200;
  options.train.batch = 16;
  options.train.threads = 1;
  return options;
}

std::string member_bytes(const Model& model) { return model::model_file_bytes(model.impl()); }

std::vector<float> member_numbers(const model::LearnedModel<float>& model) {
  return {model.parameters().begin(), model.parameters().end()};
}

TEST(Members, TogetherTheyAreBetterThanAlone) {
  const Dataset data = lorenz_data(1500);
  std::vector<std::string> stages;
  const FitResult result = fit(data, members_options(2), {}, [&](const FitProgress& now) {
    if (stages.empty() || stages.back() != now.stage) stages.push_back(now.stage);
    return true;
  });
  EXPECT_EQ(stages, (std::vector<std::string>{"static lorenz", "networks 1/2", "networks 2/2"}));
  const FitSummary& s = result.summary;
  ASSERT_EQ(s.ensemble->members.size(), 2u);
  ASSERT_TRUE(s.ensemble->combined);
  EXPECT_EQ(s.best_held_out, s.ensemble->held_out);
  for (const FitMember& each : s.ensemble->members) {
    EXPECT_TRUE(each.networks);
    EXPECT_LT(s.ensemble->held_out, each.held_out);
    EXPECT_LT(each.held_out, s.static_model.held_out);
    EXPECT_EQ(each.updates, 200);
  }
  ASSERT_EQ(result.model.impl().members.size(), 2u);

  // The first is what one alone is; the second has another seed.
  const FitResult one = fit(data, members_options(1));
  EXPECT_EQ(member_numbers(one.model.impl().first()), member_numbers(result.model.impl().first()));
  EXPECT_EQ(one.summary.best_held_out, s.ensemble->members[0].held_out);
  EXPECT_FALSE(one.summary.ensemble);
  FitOptions other = members_options(1);
  other.train.seed = member_seed(1, 1);
  // The split of one long series does not depend on the seed.
  const FitResult second = fit(data, other);
  EXPECT_EQ(member_numbers(second.model.impl().first()),
            member_numbers(*result.model.impl().members[1]));

  // Any number of threads.
  FitOptions threads = members_options(2);
  threads.train.threads = 2;
  EXPECT_EQ(member_bytes(fit(data, threads).model), member_bytes(result.model));
}

TEST(Members, TheMixturesLossIsThatOfItsSteps) {
  constexpr int kSteps = 120, kFirst = 50;
  const Dataset data = test::motion_data(2, {kSteps}, 3, 0);
  std::vector<Member> members;
  std::vector<std::vector<double>> steps;
  for (const std::uint64_t seed : {4, 5}) {
    const test::LearnedCase made = test::network_case(2, seed);
    members.push_back({static_cast<int>(members.size()), made.make<float>(), 0});
    Stream stream = test::public_model(made).stream();
    Stream::State state = stream.start();
    std::vector<double>& all = steps.emplace_back();
    for (std::size_t k = 0; k < kSteps; ++k) {
      stream.step(state, std::span(data.series[0].y).subspan(2 * k, 2));
      all.push_back(stream.log_likelihood());
    }
  }
  const model::ModelDescription& d = members[0].model->description();
  const ScaledData scaled(data, d.units, d.dt);
  const std::vector<HeldOut> held_out = {{{0, 0, kSteps}, kFirst}};
  ThreadTeam team(1);
  double sum = 0;
  for (std::size_t k = kFirst; k < kSteps; ++k)
    sum -= std::log(0.5 * (std::exp(steps[0][k]) + std::exp(steps[1][k])));
  EXPECT_NEAR(mixture_held_out_loss(members, scaled, held_out, team), sum / (2 * (kSteps - kFirst)),
              1e-5);
  members.resize(1);
  EXPECT_NEAR(mixture_held_out_loss(members, scaled, held_out, team),
              held_out_loss(*members[0].model, scaled, held_out, team), 1e-12);
}

TEST(Members, AnInterruptedFitKeepsWhatThereIs) {
  const Dataset data = lorenz_data(1500);
  FitOptions options = members_options(3);
  options.model.calibrate = true;
  const FitResult result = fit(data, options, {}, [&](const FitProgress& now) {
    return !(now.stage == "networks 2/3" && now.update >= 100);
  });
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::Interrupted);
  EXPECT_EQ(result.summary.ensemble->members.size(), 2u);
  EXPECT_EQ(result.summary.ensemble->members[0].stop_reason, StopReason::Finished);
  EXPECT_EQ(result.summary.ensemble->members[1].stop_reason, StopReason::Interrupted);
  EXPECT_TRUE(result.summary.networks.kept);
  EXPECT_EQ(result.model.smooth(data, 1).series[0].steps, 1500);
  EXPECT_TRUE(result.model.impl().calibration);
}

TEST(Members, SmoothersAreTrainedForEach) {
  const Dataset data = lorenz_data(1500);
  FitOptions options = members_options(2);
  options.model.smoother = "fused";
  options.model.keep_smoother = true;
  options.model.calibrate = true;
  std::vector<std::string> stages;
  const FitResult result = fit(data, options, {}, [&](const FitProgress& now) {
    if (stages.empty() || stages.back() != now.stage) stages.push_back(now.stage);
    return true;
  });
  EXPECT_EQ(stages.back(), "smoother 2/2");
  EXPECT_TRUE(result.summary.has_smoother());
  const Model::Impl& impl = result.model.impl();
  ASSERT_EQ(impl.members.size(), 2u);
  EXPECT_EQ(impl.first().smoother() != nullptr, result.summary.ensemble->members[0].smoother);
  EXPECT_EQ(impl.members[1]->smoother() != nullptr, result.summary.ensemble->members[1].smoother);
  const auto& calibration = impl.calibration;
  ASSERT_TRUE(calibration);
  const auto expect_told = [&](const std::string& what, const model::DistanceFactors& factors) {
    std::vector<double> told;
    for (const FitFactor& each : result.summary.calibration)
      if (each.what == what) told.push_back(each.factor);
    std::vector<double> all;
    for (const std::vector<double>& row : factors.factors) all.insert(all.end(), row.begin(), row.end());
    EXPECT_EQ(told, all) << what;
  };
  expect_told("filter", calibration->filter);
  expect_told("linearized", calibration->linearized);
  expect_told("fused", calibration->trained);
  EXPECT_GT(calibration->trained.steps.size(), 1u);

  const ScratchFolder folder;
  result.model.save(folder.file("m.kalmia"));
  const Model loaded = Model::load(folder.file("m.kalmia"));
  EXPECT_EQ(member_bytes(loaded), member_bytes(result.model));
  const auto info = nlohmann::json::parse(loaded.info_json());
  EXPECT_EQ(info["members"], 2);
  EXPECT_EQ(info["calibration"]["trained"]["factors"], calibration->trained.factors);
  EXPECT_EQ(info["training"]["summary"]["ensemble"]["held_out"], result.summary.ensemble->held_out);
}

TEST(Members, WithoutNetworksThereIsOneModel) {
  FitOptions options = members_options(3);
  options.model.hidden = 0;
  const FitResult result = fit(lorenz_data(700), options);
  EXPECT_EQ(result.model.impl().members.size(), 1u);
  EXPECT_FALSE(result.summary.ensemble);
}

// A pendulum that is pushed, seen at times that differ, with gaps.
Dataset pushed_pendulum(int steps) {
  Dataset data;
  data.y_names = {"across", "rate"};
  data.u_names = {"push"};
  data.time_kind = TimeKind::Number;
  RandomStream random(71, "pushed pendulum");
  Series& series = data.series.emplace_back();
  series.steps = steps;
  double t = 0, angle = 0.5, rate = 0, push = 0;
  for (int k = 0; k < steps; ++k) {
    series.t.push_back(t);
    for (const double truth : {std::sin(angle), rate})
      series.y.push_back(random.uniform() < 0.1 ? kMissing : truth + 0.1 * random.normal());
    push = 0.8 * push + random.normal();
    series.u.push_back(push);
    const double length = random.uniform(0.05, 0.15);
    for (int i = 0; i < 10; ++i) {
      rate += length / 10 * (-4 * std::sin(angle) - 0.5 * rate + push);
      angle += length / 10 * rate;
    }
    t += length;
  }
  return data;
}

FitOptions pushed_options() {
  FitOptions options = members_options(2);
  options.model.prior = "system";
  options.model.noise = "0.1";
  options.model.smoother = "fused";
  options.model.keep_smoother = true;
  options.train.updates = 60;
  options.model.system.states = {"angle", "rate"};
  options.model.system.inputs = {"push"};
  options.model.system.parameters = {{"gravity", 3, true, 0}};
  options.model.system.ode = {{"angle", "rate"}, {"rate", "push - gravity*sin(angle) - 0.5*rate"}};
  options.model.system.measure = {{"across", "sin(angle)"}, {"rate", "rate"}};
  return options;
}

TEST(Members, FusedSmoothersTakeInputsGapsAndStepsOfAnyLength) {
  const Dataset data = pushed_pendulum(1200);
  const FitResult result = fit(data, pushed_options());
  EXPECT_GT(result.summary.smoother->updates, 0);
  const std::string method = result.summary.has_smoother() ? "fused" : "linearized";
  const Estimates smoothed = result.model.smooth(data, 1, {method});
  for (const double x : smoothed.series[0].mean) ASSERT_TRUE(std::isfinite(x));
  for (std::size_t i = 0; i < smoothed.series[0].covariance.size(); i += 4)
    ASSERT_GT(smoothed.series[0].covariance[i], 0);
  // A file keeps it.
  const model::Ensemble read =
      model::parse_model_file(member_bytes(result.model), "pendulum.kalmia");
  EXPECT_EQ(read.first().smoother() != nullptr, result.model.impl().first().smoother() != nullptr);
}

}  // namespace
}  // namespace kalmia::train
