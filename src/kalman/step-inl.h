// The kernels of one step of the recursion, for one line of lanes: predict, update, their adjoints
// and the smoother's backward step.

#if defined(KALMIA_KALMAN_STEP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_KALMAN_STEP_INL_H_
#undef KALMIA_KALMAN_STEP_INL_H_
#else
#define KALMIA_KALMAN_STEP_INL_H_
#endif

#include "kalman/predict-inl.h"
#include "kalman/rts-inl.h"
#include "kalman/update-inl.h"

#endif
