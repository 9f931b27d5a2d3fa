// One step of one sequence for every kind of encoder: the overloads of `stream_step`.

#if defined(KALMIA_NN_ENCODER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_ENCODER_INL_H_
#undef KALMIA_NN_ENCODER_INL_H_
#else
#define KALMIA_NN_ENCODER_INL_H_
#endif

#include "nn/conv-inl.h"
#include "nn/encoder.hpp"
#include "nn/gru-inl.h"
#include "nn/lstm-inl.h"
#include "nn/tcn-inl.h"
#include "nn/transformer-inl.h"

#endif
