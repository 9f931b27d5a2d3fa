#include "kalman/student_density_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/student_density_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kalman/student_density-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

void density_here(StudentLines& s) {
  kalman::HWY_NAMESPACE::StudentDensity density(s.M, s.nodes, s.lines.data());
  density.forward(s.r.data(), s.B.data(), s.R.data(), s.masked ? s.observed.data() : nullptr,
                  s.nll.data());
}

void density_backward_here(StudentLines& s) {
  kalman::HWY_NAMESPACE::StudentDensity density(s.M, s.nodes, s.lines.data());
  const double* observed = s.masked ? s.observed.data() : nullptr;
  density.forward(s.r.data(), s.B.data(), s.R.data(), observed, s.nll.data());
  density.backward(s.r.data(), s.B.data(), s.R.data(), observed, s.d_nll.data(), s.d_r.data(),
                   s.d_B.data(), s.d_R.data());
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::test {

HWY_EXPORT(density_here);
HWY_EXPORT(density_backward_here);

void student_density(StudentLines& s) { HWY_DYNAMIC_DISPATCH(density_here)(s); }
void student_density_backward(StudentLines& s) { HWY_DYNAMIC_DISPATCH(density_backward_here)(s); }

}  // namespace kalmia::test
#endif  // HWY_ONCE
