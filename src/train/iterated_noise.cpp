#include "train/iterated_noise.hpp"

#include <algorithm>

#include "infer/refine.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

// Pieces are long, so that how they start hardly counts; there are enough of them that the
// likelihoods of two shares differ by more than chance.
constexpr int kIteratedPiece = 2048;
constexpr int kMostIteratedSteps = 1 << 15;
// Passes to settle at the filter's noise, and at each smaller one.
constexpr int kFirstPasses = 10;
constexpr int kIteratedPasses = 4;
constexpr int kMostCuts = 8;
constexpr double kCut = 1.0 / 3;

std::vector<infer::Piece> pieces_of(const ScaledData& data, const std::vector<Stretch>& stretches) {
  std::vector<infer::Piece> pieces;
  int steps = 0;
  for (const Stretch& stretch : stretches)
    for (int from = stretch.begin; from < stretch.end && steps < kMostIteratedSteps;
         from += kIteratedPiece) {
      const Stretch part{stretch.series, from, std::min(stretch.end, from + kIteratedPiece)};
      pieces.push_back(data.piece(part));
      steps += part.steps();
    }
  return pieces;
}

}  // namespace

double find_iterated_noise(const model::LearnedModel<float>& model, const ScaledData& data,
                           const std::vector<Stretch>& stretches, ThreadTeam& team) {
  if (model.expert().linear || !model.description().recursive() || model.description().tails > 0)
    return 1;
  const std::vector<infer::Piece> pieces = pieces_of(data, stretches);
  const auto name = [](int) { return std::string("the data"); };
  double best = 1;
  try {
    infer::FilterPass pass = infer::run_pass(model, pieces, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    double least = infer::refine_pass(model, pieces, pass, {kFirstPasses, 1}, team, name);
    double noise = 1;
    for (int cut = 0; cut < kMostCuts; ++cut) {
      noise *= kCut;
      const double nll =
          infer::refine_pass(model, pieces, pass, {kIteratedPasses, noise, noise}, team, name);
      if (!(nll < least)) break;
      least = nll;
      best = noise;
    }
  } catch (const NumericalError&) {
    // So little noise that a pass breaks down is too little.
  }
  return best;
}

}  // namespace kalmia::train
