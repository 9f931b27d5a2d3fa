// Which expert a test asks for.
#pragma once

#include <string>

#include "prior/expert.hpp"

namespace kalmia::test {

/// An expert by its name, and what is asked of its flow.
inline prior::ExpertSpec named(const std::string& name, int order = 0, const std::string& flow = "",
                               int substeps = 0) {
  prior::ExpertSpec spec;
  spec.name = name;
  spec.flow = flow;
  spec.order = order;
  spec.substeps = substeps;
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
