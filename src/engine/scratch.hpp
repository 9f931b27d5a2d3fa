// Lines of scratch, laid out by one function that is run twice: by a counter, to know how many
// lines there are, and by a taker, to hand them out. So neither can be forgotten when the other
// changes.
//
// In debug builds and under the address sanitizer a guard line follows each portion: a kernel that
// writes past its portion is found out there.
#pragma once

#include <cstddef>

#include "lanes/panel.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define KALMIA_GUARDS_SCRATCH 1
#elif !defined(NDEBUG)
#include <cassert>
#define KALMIA_GUARDS_SCRATCH 1
#else
#define KALMIA_GUARDS_SCRATCH 0
#endif

namespace kalmia::engine {

inline constexpr int kGuardLines = KALMIA_GUARDS_SCRATCH;

/// Counts the lines that a layout takes.
class LineCounter {
 public:
  double* take(int lines) {
    count_ += lines + kGuardLines;
    return nullptr;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Hands out the lines of a buffer, portion after portion.
class LineTaker {
 public:
  explicit LineTaker(double* buffer) : rest_(buffer) {}
  LineTaker(const LineTaker&) = delete;
  LineTaker& operator=(const LineTaker&) = delete;

  double* take(int lines) {
    double* here = rest_;
    rest_ += static_cast<std::ptrdiff_t>(lines) * kLanes;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(here, static_cast<std::size_t>(lines) * kLineBytes);
    __asan_poison_memory_region(rest_, kLineBytes);
#elif KALMIA_GUARDS_SCRATCH
    for (int i = 1; i < kLanes; ++i) rest_[i] = kCanary;
    rest_[0] = ++guards_ == 1 ? 0.0 : lines + 1.0;  // lines back to the guard before
#endif
    rest_ += kGuardLines * kLanes;
    return here;
  }

#if KALMIA_GUARDS_SCRATCH && !defined(__SANITIZE_ADDRESS__)
  ~LineTaker() {
    const double* guard = rest_ - kLanes;
    for (; guards_ > 0; --guards_, guard -= static_cast<std::ptrdiff_t>(guard[0]) * kLanes)
      for (int i = 1; i < kLanes; ++i)
        assert(guard[i] == kCanary && "a kernel wrote past its portion of the scratch");
  }
#endif

 private:
  static constexpr int kLanes = lanes::kLineLanes<double>;
  static constexpr double kCanary = -3.25e77;
  double* rest_;
  [[maybe_unused]] int guards_ = 0;
};

/// The lines that `Lines::lay_out(taker, sizes...)` takes.
template <typename Lines, typename... Sizes>
int count_lines(const Sizes&... sizes) {
  LineCounter counter;
  Lines().lay_out(counter, sizes...);
  return counter.count();
}

}  // namespace kalmia::engine
