// Fits that search: what is found of whole data sets, and that what they do not need is not found.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "infer/model_impl.hpp"
#include "kalmia/fit.hpp"
#include "model/model_file.hpp"
#include "train/train_cases.hpp"

namespace kalmia {
namespace {

using train::dataset_of;
using train::local_level;

FitOptions without_networks() {
  FitOptions options;
  options.model.hidden = 0;
  options.train.threads = 1;
  return options;
}

// A trend that fades and a walk, in noise.
Dataset trend_and_level(int steps) {
  RandomStream random(31, "trend and level");
  const std::vector<double> level = local_level(steps, 0.1, 1, 32);
  Dataset data;
  data.y_names = {"moves", "stays"};
  Series& series = data.series.emplace_back();
  series.steps = steps;
  double x = 0, v = 0;
  for (const double value : level) {
    v = 0.9 * v + 0.5 * random.normal();
    x += v;
    series.y.insert(series.y.end(), {x + random.normal(), value});
  }
  return data;
}

TEST(FitSearch, ChannelsHavePartsOfTheirOwnAndTheSummaryTellsThem) {
  const Dataset data = trend_and_level(900);
  const FitResult result = fit(data, without_networks());
  const FitStaticSummary& fixed = result.summary.static_model;
  EXPECT_TRUE(fixed.prior_chosen);
  EXPECT_EQ(fixed.prior.rfind("moves: ", 0), 0u) << fixed.prior;
  EXPECT_NE(fixed.prior.find("; stays: "), std::string::npos) << fixed.prior;
  EXPECT_NE(fixed.found.find("; stays: "), std::string::npos) << fixed.found;
  int of_moves = 0, of_stays = 0, kept = 0;
  for (const FitCandidate& each : fixed.search) {
    of_moves += each.what.rfind("moves: ", 0) == 0 ? 1 : 0;
    of_stays += each.what.rfind("stays: ", 0) == 0 ? 1 : 0;
    kept += each.kept ? 1 : 0;
  }
  EXPECT_GT(of_moves, 3);
  EXPECT_GT(of_stays, 3);
  EXPECT_GE(kept, 2);
  const auto json = nlohmann::json::parse(result.summary.to_json());
  EXPECT_EQ(json["static"]["search"].size(), fixed.search.size());
  EXPECT_EQ(json["static"]["found"], fixed.found);
  // What one thread finds, two do.
  FitOptions two = without_networks();
  two.train.threads = 2;
  EXPECT_EQ(model::model_file_bytes(fit(data, two).model.impl()),
            model::model_file_bytes(result.model.impl()));
}

TEST(FitSearch, WhatIsNamedIsNotSearchedFor) {
  const Dataset data = dataset_of({local_level(900, 0.1, 1, 33)});
  FitOptions options = without_networks();
  options.model.prior = "trend + memory(5)";
  const FitStaticSummary sum = fit(data, options).summary.static_model;
  EXPECT_FALSE(sum.prior_chosen);
  EXPECT_TRUE(sum.search.empty());
  EXPECT_EQ(sum.found.rfind("a trend, variations that last", 0), 0u) << sum.found;
  // And --effort quick is what it was before there was a search.
  options = without_networks();
  options.model.effort = "quick";
  const FitStaticSummary quick = fit(data, options).summary.static_model;
  EXPECT_TRUE(quick.prior_chosen);
  EXPECT_TRUE(quick.search.empty());
  EXPECT_TRUE(quick.found.empty());
}

// Tails are heavy where there are outliers, and only there.
TEST(FitSearch, TailsAreThoseOfTheData) {
  std::vector<double> y = local_level(1500, 0.05, 1, 34);
  const auto tails = [](const std::vector<double>& values) {
    return fit(dataset_of({values}), without_networks()).model.impl().first().description().tails;
  };
  EXPECT_EQ(tails(y), 0);
  RandomStream random(35, "outliers");
  for (double& value : y)
    if (random.uniform() < 0.03) value += 20 * random.normal();
  EXPECT_GT(tails(y), 0);
}

}  // namespace
}  // namespace kalmia
