#include "kalman/step_kernels.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/step_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kalman/step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace kn = kalmia::kalman::HWY_NAMESPACE;

// In double by the calls, which heads of any size take; in float the kernels themselves.
template <typename T>
void predict_forward_of(StepLines<T>& s, bool with_F) {
  const T* F = with_F ? s.F.data() : nullptr;
  if constexpr (std::is_same_v<T, double>)
    kn::predict_call(s.N, F, s.e.data(), s.Q.data(), s.x_filt.data(), s.P_filt.data(),
                     s.x_pred.data(), s.P_pred.data(), s.scratch.data());
  else
    kn::predict_forward<T>(s.N, F, s.e.data(), s.Q.data(), s.x_filt.data(), s.P_filt.data(),
                           s.x_pred.data(), s.P_pred.data(), s.scratch.data());
}
template <typename T>
void predict_backward_of(StepLines<T>& s, bool with_F) {
  const T* F = with_F ? s.F.data() : nullptr;
  if constexpr (std::is_same_v<T, double>)
    kn::predict_backward_call(s.N, F, s.x_filt.data(), s.P_filt.data(), s.d_x_pred.data(),
                              s.d_P_pred.data(), s.d_F.data(), s.d_x_filt.data(), s.d_P_filt.data(),
                              s.scratch.data());
  else
    kn::predict_backward<T>(s.N, F, s.x_filt.data(), s.P_filt.data(), s.d_x_pred.data(),
                            s.d_P_pred.data(), s.d_F.data(), s.d_x_filt.data(), s.d_P_filt.data(),
                            s.scratch.data());
}
template <typename T>
lanes::LaneBits update_forward_of(const kalman::EmissionView& h, StepLines<T>& s, bool masked) {
  if constexpr (std::is_same_v<T, double>)
    return kn::update_call(h, s.y.data(), masked ? s.observed.data() : nullptr, s.x_pred.data(),
                           s.P_pred.data(), s.x_new.data(), s.P_new.data(), s.nll.data(),
                           s.tape.tape(), s.scratch.data());
  else
    return kn::update_forward<T>(h, s.y.data(), masked ? s.observed.data() : nullptr,
                                 s.x_pred.data(), s.P_pred.data(), s.x_new.data(), s.P_new.data(),
                                 s.nll.data(), s.tape.tape(), s.scratch.data());
}
template <typename T>
void update_backward_of(const kalman::EmissionView& h, StepLines<T>& s, bool masked) {
  if constexpr (std::is_same_v<T, double>)
    kn::update_backward_call(h, masked ? s.observed.data() : nullptr, s.tape.tape(), s.d_nll.data(),
                             s.d_x_new.data(), s.d_P_new.data(), s.d_x_pred.data(),
                             s.d_P_pred.data(), s.d_R.data(), s.scratch.data());
  else
    kn::update_backward<T>(h, masked ? s.observed.data() : nullptr, s.tape.tape(), s.d_nll.data(),
                           s.d_x_new.data(), s.d_P_new.data(), s.d_x_pred.data(), s.d_P_pred.data(),
                           s.d_R.data(), s.scratch.data());
}
template <typename T>
lanes::LaneBits rts_step_of(StepLines<T>& s) {
  return kn::rts_step<T>(s.N, s.F.data(), s.Q.data(), s.x_filt.data(), s.P_filt.data(),
                         s.x_pred.data(), s.P_pred.data(), s.x_smooth.data(), s.P_smooth.data(),
                         s.x_out.data(), s.P_out.data(), s.scratch.data());
}

void predict_forward_f(StepLines<float>& s, bool with_F) { predict_forward_of(s, with_F); }
void predict_forward_d(StepLines<double>& s, bool with_F) { predict_forward_of(s, with_F); }
void predict_backward_f(StepLines<float>& s, bool with_F) { predict_backward_of(s, with_F); }
void predict_backward_d(StepLines<double>& s, bool with_F) { predict_backward_of(s, with_F); }
lanes::LaneBits update_forward_f(const kalman::EmissionView& h, StepLines<float>& s, bool masked) {
  return update_forward_of(h, s, masked);
}
lanes::LaneBits update_forward_d(const kalman::EmissionView& h, StepLines<double>& s, bool masked) {
  return update_forward_of(h, s, masked);
}
void update_backward_f(const kalman::EmissionView& h, StepLines<float>& s, bool masked) {
  update_backward_of(h, s, masked);
}
void update_backward_d(const kalman::EmissionView& h, StepLines<double>& s, bool masked) {
  update_backward_of(h, s, masked);
}
lanes::LaneBits rts_step_f(StepLines<float>& s) { return rts_step_of(s); }
lanes::LaneBits rts_step_d(StepLines<double>& s) { return rts_step_of(s); }

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::test {

HWY_EXPORT(predict_forward_f);
HWY_EXPORT(predict_forward_d);
HWY_EXPORT(predict_backward_f);
HWY_EXPORT(predict_backward_d);
HWY_EXPORT(update_forward_f);
HWY_EXPORT(update_forward_d);
HWY_EXPORT(update_backward_f);
HWY_EXPORT(update_backward_d);
HWY_EXPORT(rts_step_f);
HWY_EXPORT(rts_step_d);

void predict_forward(StepLines<float>& s, bool with_F) {
  HWY_DYNAMIC_DISPATCH(predict_forward_f)(s, with_F);
}
void predict_forward(StepLines<double>& s, bool with_F) {
  HWY_DYNAMIC_DISPATCH(predict_forward_d)(s, with_F);
}
void predict_backward(StepLines<float>& s, bool with_F) {
  HWY_DYNAMIC_DISPATCH(predict_backward_f)(s, with_F);
}
void predict_backward(StepLines<double>& s, bool with_F) {
  HWY_DYNAMIC_DISPATCH(predict_backward_d)(s, with_F);
}
lanes::LaneBits update_forward(const kalman::EmissionView& h, StepLines<float>& s, bool masked) {
  return HWY_DYNAMIC_DISPATCH(update_forward_f)(h, s, masked);
}
lanes::LaneBits update_forward(const kalman::EmissionView& h, StepLines<double>& s, bool masked) {
  return HWY_DYNAMIC_DISPATCH(update_forward_d)(h, s, masked);
}
void update_backward(const kalman::EmissionView& h, StepLines<float>& s, bool masked) {
  HWY_DYNAMIC_DISPATCH(update_backward_f)(h, s, masked);
}
void update_backward(const kalman::EmissionView& h, StepLines<double>& s, bool masked) {
  HWY_DYNAMIC_DISPATCH(update_backward_d)(h, s, masked);
}
lanes::LaneBits rts_step(StepLines<float>& s) { return HWY_DYNAMIC_DISPATCH(rts_step_f)(s); }
lanes::LaneBits rts_step(StepLines<double>& s) { return HWY_DYNAMIC_DISPATCH(rts_step_d)(s); }

}  // namespace kalmia::test
#endif  // HWY_ONCE
