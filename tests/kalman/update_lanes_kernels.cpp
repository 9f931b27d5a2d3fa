#include "kalman/update_lanes_kernels.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/update_lanes_kernels.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "kalman/step-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace kn = kalmia::kalman::HWY_NAMESPACE;

template <typename T>
kn::LaneEmission<T> emission(const UpdateLines<T>& s) {
  return {s.N, s.M, s.H.data(), s.R.data(), s.linear ? nullptr : s.y_pred.data()};
}
template <typename T>
lanes::LaneBits forward_of(UpdateLines<T>& s) {
  if constexpr (std::is_same_v<T, double>)
    return kn::update_call(emission(s), s.y.data(), s.masked ? s.observed.data() : nullptr,
                           s.x_pred.data(), s.P_pred.data(), s.x_filt.data(), s.P_filt.data(),
                           s.nll.data(), s.tape.tape(), s.scratch.data());
  else
    return kn::update_forward<T>(emission(s), s.y.data(), s.masked ? s.observed.data() : nullptr,
                                 s.x_pred.data(), s.P_pred.data(), s.x_filt.data(), s.P_filt.data(),
                                 s.nll.data(), s.tape.tape(), s.scratch.data());
}
template <typename T>
void backward_of(UpdateLines<T>& s) {
  if constexpr (std::is_same_v<T, double>)
    kn::update_backward_call(emission(s), s.masked ? s.observed.data() : nullptr, s.P_filt.data(),
                             s.tape.tape(), s.d_nll.data(), s.d_x_filt.data(), s.d_P_filt.data(),
                             s.d_x_pred.data(), s.d_P_pred.data(), s.d_y.data(), s.d_H.data(),
                             s.d_R.data(), s.scratch.data());
  else
    kn::update_backward<T>(emission(s), s.masked ? s.observed.data() : nullptr, s.P_filt.data(),
                           s.tape.tape(), s.d_nll.data(), s.d_x_filt.data(), s.d_P_filt.data(),
                           s.d_x_pred.data(), s.d_P_pred.data(), s.d_y.data(), s.d_H.data(),
                           s.d_R.data(), s.scratch.data());
  if (s.linear)
    kn::predicted_backward<T>(emission(s), s.x_pred.data(), s.d_y.data(), s.d_x_pred.data(),
                              s.d_H.data());
}
template <typename T>
void set_noise_of(UpdateLines<T>& s, const double* shared) {
  if (shared == nullptr)
    kn::set_unit_noise<T>(s.M, s.R.data());
  else
    kn::set_shared_noise<T>(s.M, shared, s.R.data());
}

lanes::LaneBits forward_f(UpdateLines<float>& s) { return forward_of(s); }
lanes::LaneBits forward_d(UpdateLines<double>& s) { return forward_of(s); }
void backward_f(UpdateLines<float>& s) { backward_of(s); }
void backward_d(UpdateLines<double>& s) { backward_of(s); }
void set_noise_f(UpdateLines<float>& s, const double* shared) { set_noise_of(s, shared); }
void set_noise_d(UpdateLines<double>& s, const double* shared) { set_noise_of(s, shared); }

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::test {

HWY_EXPORT(forward_f);
HWY_EXPORT(forward_d);
HWY_EXPORT(backward_f);
HWY_EXPORT(backward_d);
HWY_EXPORT(set_noise_f);
HWY_EXPORT(set_noise_d);

lanes::LaneBits update_forward(UpdateLines<float>& s) { return HWY_DYNAMIC_DISPATCH(forward_f)(s); }
lanes::LaneBits update_forward(UpdateLines<double>& s) {
  return HWY_DYNAMIC_DISPATCH(forward_d)(s);
}
void update_backward(UpdateLines<float>& s) { HWY_DYNAMIC_DISPATCH(backward_f)(s); }
void update_backward(UpdateLines<double>& s) { HWY_DYNAMIC_DISPATCH(backward_d)(s); }
void set_noise(UpdateLines<float>& s, const double* shared) {
  HWY_DYNAMIC_DISPATCH(set_noise_f)(s, shared);
}
void set_noise(UpdateLines<double>& s, const double* shared) {
  HWY_DYNAMIC_DISPATCH(set_noise_d)(s, shared);
}

}  // namespace kalmia::test
#endif  // HWY_ONCE
