// The kernels of kalman/student_density-inl.h behind run-time dispatch, for the tests.
#pragma once

#include "kalman/student_density.hpp"
#include "support/lines.hpp"

namespace kalmia::test {

/// Inputs and outputs of StudentDensity.
struct StudentLines {
  StudentLines(int m, double degrees_of_freedom)
      : M(m),
        nodes(degrees_of_freedom),
        r(m, 1),
        B(m, m),
        R(m, m),
        observed(m, 1),
        nll(1, 1),
        d_nll(1, 1),
        d_r(m, 1),
        d_B(m, m),
        d_R(m, m),
        lines(kalman::student_density_lines(m), 1) {}

  int M;
  kalman::StudentNodes nodes;
  bool masked = false;  ///< false stands for observed null
  Lines<double> r, B, R, observed, nll, d_nll, d_r, d_B, d_R;
  Lines<double> lines;
};

void student_density(StudentLines& s);
/// With the forward before it.
void student_density_backward(StudentLines& s);

}  // namespace kalmia::test
