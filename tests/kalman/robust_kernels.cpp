#include "kalman/robust_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/robust_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kalman/robust-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace kn = kalmia::kalman::HWY_NAMESPACE;

template <typename T>
lanes::LaneBits weights_of(RobustLines<T>& s) {
  const kn::LaneEmission<T> h{s.N, s.M, s.H.data(), s.R.data(), nullptr};
  const lanes::LaneBits failed =
      kn::robust_weights<T>(h, s.options, s.y.data(), s.masked ? s.observed.data() : nullptr,
                            s.x_pred.data(), s.P_pred.data(), s.weights.data(), s.scratch.data());
  kn::scale_noise<lanes::Put::Set, T>(s.M, s.weights.data(), s.R.data(), s.R_eff.data());
  return failed;
}

lanes::LaneBits weights_f(RobustLines<float>& s) { return weights_of(s); }
lanes::LaneBits weights_d(RobustLines<double>& s) { return weights_of(s); }
void add_noise_d(RobustLines<double>& s) {
  kn::scale_noise<lanes::Put::Add, double>(s.M, s.weights.data(), s.R_eff.data(), s.R.data());
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::test {

HWY_EXPORT(weights_f);
HWY_EXPORT(weights_d);
HWY_EXPORT(add_noise_d);

lanes::LaneBits robust_weights(RobustLines<float>& s) { return HWY_DYNAMIC_DISPATCH(weights_f)(s); }
lanes::LaneBits robust_weights(RobustLines<double>& s) {
  return HWY_DYNAMIC_DISPATCH(weights_d)(s);
}
void add_scaled_noise(RobustLines<double>& s) { HWY_DYNAMIC_DISPATCH(add_noise_d)(s); }

}  // namespace kalmia::test
#endif  // HWY_ONCE
