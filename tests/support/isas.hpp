// Runs a test body once per instruction set the machine has.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "lanes/isa.hpp"

namespace kalmia::test {

/// Calls `body` with each instruction set forced, and goes back to the best one.
template <typename Body>
void for_each_isa(const Body& body) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    SCOPED_TRACE(std::string(lanes::isa_name(isa)));
    lanes::force_isa(isa);
    body();
  }
  lanes::use_best_isa();
}

}  // namespace kalmia::test
