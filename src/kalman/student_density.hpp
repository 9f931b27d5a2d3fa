// What a caller of student_density-inl.h allocates.
#pragma once

#include "kalman/student_nodes.hpp"
#include "lanes/panel.hpp"

namespace kalmia::kalman {

/// Lines that a StudentDensity of M components works in.
constexpr int student_density_lines(int M) {
  return 4 * lanes::triangle_size(M) + (4 + StudentNodes::kMost) * M;
}

}  // namespace kalmia::kalman
