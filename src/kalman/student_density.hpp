// What a caller of student_density-inl.h allocates.
#pragma once

#include "kalman/student.hpp"
#include "lanes/scratch.hpp"

namespace kalmia::kalman {

/// Lines that a StudentDensity of M components works in.
struct StudentDensityLines {
  double *C_, *l_B_, *l_R_, *d_C_, *z_, *a_, *d_z_, *d_a_, *shares_;

  template <typename Taker>
  constexpr void lay_out(Taker& taker, int M) {
    const int triangle = lanes::triangle_size(M);
    C_ = taker.take(triangle);
    l_B_ = taker.take(triangle);
    l_R_ = taker.take(triangle);
    d_C_ = taker.take(triangle);
    z_ = taker.take(M);
    a_ = taker.take(M);
    d_z_ = taker.take(M);
    d_a_ = taker.take(M);
    shares_ = taker.take(StudentNodes::kMost * M);
  }
};

constexpr int student_density_lines(int M) { return lanes::count_lines<StudentDensityLines>(M); }

}  // namespace kalmia::kalman
