// How often the test program has allocated.
#pragma once

#include <atomic>

namespace kalmia::test {

/// Every operator new of a test program counts here (allocations.cpp).
extern std::atomic<long> allocations;

}  // namespace kalmia::test
