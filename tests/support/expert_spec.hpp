// Which expert a test asks for.
#pragma once

#include <string>
#include <vector>

#include "prior/expert.hpp"
#include "prior/parts_text.hpp"

namespace kalmia::test {

/// An expert by its name, and what is asked of its flow. Of ar, the order is the number of lags; a
/// sum is one of two parts.
inline prior::ExpertSpec named(const std::string& name, int order = 0, const std::string& flow = "",
                               int substeps = 0) {
  prior::ExpertSpec spec;
  spec.kind = prior::prior_of_name(name);
  const bool lagged = name == "ar";
  spec.integration = {prior::flow_of_name(flow, "", true), lagged ? 0 : order, substeps};
  spec.lags = lagged ? order : 0;
  if (spec.kind == prior::PriorKind::Sum)
    spec.parts = {{prior::PartKind::Trend}, {prior::PartKind::Season, 24, 2}};
  return spec;
}

/// A sum of parts, as users write it, with times in steps.
inline prior::ExpertSpec sum_of_parts(const std::string& text,
                                      const std::vector<std::string>& channels) {
  prior::ExpertSpec spec = named("sum");
  spec.parts = prior::parts_in_steps(prior::parse_sum(text).parts, {.channels = channels});
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
