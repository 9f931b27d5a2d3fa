// The head of the recursive models: its adjoint.
#include "heads/recursion/recursion.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heads/state_gradient.hpp"

namespace kalmia::heads {
namespace {

std::vector<GradientCase> recursion_gradient_cases() {
  const FeatureKinds kinds;
  return {
      {"RecursiveFilterInGaps",
       HeadKind::Recursion,
       false,
       3,
       2,
       {.missing = true, .centre = true, .gaps = true}},
      {"RecursiveFilterInGapsEverything", HeadKind::Recursion, false, 4, 2, kinds.in_gaps},
      {"RecursiveFilterInGapsBent", HeadKind::Recursion, false, 3, 2, kinds.bent_gaps},
      {"RecursiveFilterFlow", HeadKind::Recursion, false, 3, 2, {.flow = true}},
      {"RecursiveFilterFlowEverything", HeadKind::Recursion, false, 4, 2, kinds.flow},
      {"AlternativePosteriorFlow", HeadKind::Recursion, true, 3, 2, kinds.flow,
       nn::EncoderKind::Gru, 5, PosteriorRule::Alternative},
      {"RecursiveFilter", HeadKind::Recursion, false, 3, 3, kinds.plain},
      {"RecursiveFilterWithoutMap", HeadKind::Recursion, false, 3, 2, kinds.no_map},
      {"RecursiveFilterMissing", HeadKind::Recursion, false, 3, 2, {.missing = true}},
      {"RecursiveFilterUneven", HeadKind::Recursion, false, 2, 2, {.uneven = true}},
      {"RecursiveFilterCarried", HeadKind::Recursion, false, 3, 1, {.carried = true}},
      {"RecursiveFilterCentred", HeadKind::Recursion, false, 3, 2, {.centre = true}},
      {"RecursiveFilterDriven", HeadKind::Recursion, false, 3, 2, {.driven = true}},
      {"RecursiveFilterWeighted",
       HeadKind::Recursion,
       false,
       3,
       2,
       {.missing = true, .weighted = true}},
      {"RecursiveFilterBent", HeadKind::Recursion, false, 3, 2, {.driven = true, .bent = true}},
      {"RecursiveFilterBentEverything", HeadKind::Recursion, false, 3, 2, kinds.bent},
      {"RecursiveFilterEverything", HeadKind::Recursion, false, 4, 2, kinds.all},
      {"RecursiveSmootherEverything", HeadKind::Recursion, true, 3, 2, kinds.all},
      {"MoreMeasurementsThanStates", HeadKind::Recursion, false, 2, 3, kinds.all},
      {"OneState", HeadKind::Recursion, false, 1, 1, kinds.all},
      {"LstmFilter", HeadKind::Recursion, false, 3, 3, kinds.plain, nn::EncoderKind::Lstm},
      {"LstmFilterEverything", HeadKind::Recursion, false, 3, 2, kinds.all, nn::EncoderKind::Lstm},
      {"LstmSmootherEverything", HeadKind::Recursion, true, 3, 2, kinds.all, nn::EncoderKind::Lstm},
      {"ConvFilter", HeadKind::Recursion, false, 3, 3, kinds.plain, nn::EncoderKind::Conv},
      {"ConvFilterEverything", HeadKind::Recursion, false, 3, 2, kinds.all, nn::EncoderKind::Conv},
      {"ConvSmootherEverything", HeadKind::Recursion, true, 3, 2, kinds.all, nn::EncoderKind::Conv},
      {"ConvOfOneTap", HeadKind::Recursion, true, 3, 2, kinds.all, nn::EncoderKind::Conv, 1},
      {"AlternativePosterior", HeadKind::Recursion, true, 3, 2, kinds.plain, nn::EncoderKind::Gru,
       5, PosteriorRule::Alternative},
      {"AlternativePosteriorEverything", HeadKind::Recursion, true, 3, 2, kinds.all,
       nn::EncoderKind::Gru, 5, PosteriorRule::Alternative},
      {"AlternativePosteriorManyMeasurements", HeadKind::Recursion, false, 2, 3, kinds.all,
       nn::EncoderKind::Gru, 5, PosteriorRule::Alternative},
      {"RecursiveFilterScored", HeadKind::Recursion, false, 3, 2, {.scored = true}},
      {"AlternativePosteriorScored", HeadKind::Recursion, true, 3, 2, kinds.scored,
       nn::EncoderKind::Gru, 5, PosteriorRule::Alternative},
      {"TowardTheCentre",
       HeadKind::Recursion,
       true,
       3,
       3,
       {.centre = true},
       nn::EncoderKind::Gru,
       5,
       PosteriorRule::Predicted,
       TransitionRule::TowardCentre},
      {"TowardTheCentreEverything", HeadKind::Recursion, true, 3, 2, kinds.scored,
       nn::EncoderKind::Gru, 5, PosteriorRule::Predicted, TransitionRule::TowardCentre},
      {"TowardTheCentreFlow", HeadKind::Recursion, true, 3, 2, kinds.flow, nn::EncoderKind::Gru, 5,
       PosteriorRule::Predicted, TransitionRule::TowardCentre},
      {"TowardTheCentreAlternative", HeadKind::Recursion, true, 2, 2, kinds.all,
       nn::EncoderKind::Gru, 5, PosteriorRule::Alternative, TransitionRule::TowardCentre}};
}

class RecursionGradient : public testing::TestWithParam<GradientCase> {};

TEST_P(RecursionGradient, MatchesCentralDifferences) { expect_adjoint(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Models, RecursionGradient, testing::ValuesIn(recursion_gradient_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kalmia::heads
