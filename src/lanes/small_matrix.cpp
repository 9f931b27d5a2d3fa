// The algebra of small matrices that is called, not inlined, compiled once for all that use it.

#define KALMIA_SIZES_UNKNOWN
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/small_matrix.cpp"
#include <hwy/foreach_target.h>

#include "lanes/cholesky-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

KALMIA_PRODUCT_CALLS(, double);
KALMIA_TRIANGLE_CALLS(, double);
KALMIA_CHOLESKY_CALLS(, Pivots::Positive, Side::Lower, double);
KALMIA_CHOLESKY_CALLS(, Pivots::Semidefinite, Side::Upper, double);

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
