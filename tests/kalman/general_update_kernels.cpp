#include "kalman/general_update_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/general_update_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kalman/general_update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

lanes::LaneBits general_update_here(GeneralLines& s) {
  kalman::HWY_NAMESPACE::GeneralUpdate update(s.emission, s.lines.data(), nullptr);
  const lanes::LaneBits failed = update.forward(
      {.x = s.x_pred.data(), .theta = s.theta}, s.relinearised ? s.linearise.data() : nullptr,
      s.y.data(), s.observed.data(), s.weighted ? s.given.data() : nullptr, s.P_pred.data(),
      s.x_filt.data(), s.P_filt.data(), s.nll.data(), s.tape.tape());
  for (std::size_t i = 0; i < s.weights.span().size(); ++i)
    s.weights.span()[i] = update.weights()[i];
  return failed;
}

void general_backward_here(GeneralLines& s) {
  static_cast<void>(general_update_here(s));
  for (double& d : s.d_R.span()) d = 0;
  for (double& d : s.d_theta.span()) d = 0;
  kalman::HWY_NAMESPACE::GeneralUpdate update(s.emission, s.lines.data(), nullptr);
  update.backward({.x = s.x_pred.data(), .theta = s.theta}, s.y.data(), s.observed.data(),
                  s.weighted ? s.given.data() : nullptr, s.P_pred.data(), s.P_filt.data(),
                  s.tape.tape(), s.d_nll.data(), s.d_x_filt.data(), s.d_P_filt.data(),
                  s.d_x_pred.data(), s.d_P_pred.data(), s.d_R.data(), s.d_theta.data());
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::test {

HWY_EXPORT(general_update_here);
HWY_EXPORT(general_backward_here);

lanes::LaneBits general_update(GeneralLines& s) {
  return HWY_DYNAMIC_DISPATCH(general_update_here)(s);
}
void general_update_backward(GeneralLines& s) { HWY_DYNAMIC_DISPATCH(general_backward_here)(s); }

}  // namespace kalmia::test
#endif  // HWY_ONCE
