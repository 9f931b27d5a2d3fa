// From estimates of the test trajectory to the figures of a row.
#pragma once

#include <vector>

#include "kalmia/classical.hpp"
#include "kalmia/model.hpp"
#include "reproduce/method.hpp"
#include "study/truth.hpp"

namespace kalmia::reproduction {

/// What a filter, and perhaps a smoother over it, made of a trajectory.
struct Pass {
  Analysis analysis;
  std::vector<double> H, R;  ///< M x N, M x M, row-major
};

/// Of a classical filter or smoother over the one series of `data`. Without smoothed moments, the
/// filtered ones stand in their place.
Pass classical_pass(const FilterResult& result, const Dataset& data, std::vector<double> H,
                    std::vector<double> R);

/// Which of a pass's estimates are scored.
enum class Scored {
  Filter,
  Smoother,       ///< a backward pass over the filter, whose predictions are decomposed
  SmootherAlone,  ///< what predicts is not the filter it goes by: nothing is decomposed
};

/// `truth`: that of `test`.
Outcome outcome_of(const Pass& pass, const Dataset& test, const study::Truth& truth, Scored what);
/// `test` has the truth of all states in the order of the estimates, or of the channels.
Outcome outcome_of(const Pass& pass, const Dataset& test, Scored what);

/// The column of the truth that has the m-th channel. Throws DataError if there is none.
std::size_t truth_column(const Dataset& data, std::size_t m);

/// The state error of estimates of the channels alone, with an error of `channel_mse`, if every
/// other state of `test` is estimated by 0.
double state_mse_with_zeros(const Dataset& test, double channel_mse);

/// The measurements themselves as the estimate; of states that are not measured there is none.
Outcome raw_outcome(const Dataset& test);

}  // namespace kalmia::reproduction
