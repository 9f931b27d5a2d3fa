// Which expert a test asks for.
#pragma once

#include <string>

#include "prior/expert.hpp"

namespace kalmia::test {

/// An expert by its name, and what is asked of its flow. Of ar, the order is the number of lags.
inline prior::ExpertSpec named(const std::string& name, int order = 0, const std::string& flow = "",
                               int substeps = 0) {
  prior::ExpertSpec spec;
  spec.kind = prior::prior_of_name(name);
  const bool lagged = name == "ar";
  spec.integration = {prior::flow_of_name(flow, "", true), lagged ? 0 : order, substeps};
  spec.lags = lagged ? order : 0;
  return spec;
}

/// A user's equations.
inline prior::ExpertSpec equations(const System& system, double departure = 0) {
  prior::ExpertSpec spec = named("system");
  spec.system = system;
  spec.departure = departure;
  return spec;
}

}  // namespace kalmia::test
