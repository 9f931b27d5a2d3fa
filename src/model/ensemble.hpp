// One fitted model, or several that are used together.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "model/distance_factors.hpp"
#include "model/learned_model.hpp"

namespace kalmia::model {

/// Factors that make reported covariances honest, found on measurements that were hidden or held
/// out: what the covariance of a state is multiplied by before its own measurement is added. That
/// is P[k|<k] of the filter, and what all other measurements say, of either smoother. 1: as
/// computed.
struct Calibration {
  DistanceFactors filter;
  DistanceFactors linearized;
  DistanceFactors trained;  ///< the smoother with networks of its own
};

/// Members whose networks come from different seeds, and what is said of them as a whole.
struct Ensemble {
  /// At least one. They share all but the numbers of their networks, of their smoothers and of a
  /// learned R, the trust in gaps and the noise of iterated smoothing.
  std::vector<std::shared_ptr<const LearnedModel<float>>> members;
  std::optional<Calibration> calibration;  ///< of reported covariances
  DataOptions data;                        ///< how the columns were read
  /// How training went, without anything that varies from run to run.
  std::string summary_json = "{}";

  /// For all that members share.
  const LearnedModel<float>& first() const { return *members.front(); }
  /// How the smoother that was trained is called; empty if no member has one.
  std::string trained_smoother() const {
    for (const auto& member : members)
      if (member->smoother() != nullptr)
        return std::string(smoother_name(member->description().smoother.kind));
    return {};
  }
  /// Results are not those of one model as they come.
  bool is_combined() const { return members.size() > 1 || calibration.has_value(); }
};

}  // namespace kalmia::model
