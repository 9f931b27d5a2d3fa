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

namespace kalmia::lanes {

inline constexpr int kGuardLines = KALMIA_GUARDS_SCRATCH;

/// Counts the lines that a layout takes.
class LineCounter {
 public:
  constexpr std::nullptr_t take(int lines) {
    count_ += lines + kGuardLines;
    return nullptr;
  }
  constexpr int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Hands out the lines of a buffer, portion after portion. Its end checks the guards and takes them
/// away: what is left of the buffer is plain memory again.
///
/// Kernels lay their scratch out anew in every call. Without guards that is adding constants to a
/// pointer, if only it is inlined: hence the attribute, here and on the layouts of kernels.
template <typename T>
class LineTaker {
 public:
  explicit LineTaker(T* buffer) : rest_(buffer) {
#if defined(__SANITIZE_ADDRESS__)
    begin_ = buffer;
#endif
  }
  LineTaker(const LineTaker&) = delete;
  LineTaker& operator=(const LineTaker&) = delete;

  [[gnu::always_inline]] T* take(int lines) {
    T* here = rest_;
    rest_ += static_cast<std::ptrdiff_t>(lines) * kLanes;
#if defined(__SANITIZE_ADDRESS__)
    __asan_poison_memory_region(rest_, kLineBytes);
#elif KALMIA_GUARDS_SCRATCH
    for (int i = 1; i < kLanes; ++i) rest_[i] = kCanary;
    rest_[0] = ++guards_ == 1 ? T(0) : static_cast<T>(lines + 1);  // lines back to the guard before
#endif
    rest_ += kGuardLines * kLanes;
    return here;
  }

#if defined(__SANITIZE_ADDRESS__)
  ~LineTaker() {
    __asan_unpoison_memory_region(begin_, static_cast<std::size_t>(rest_ - begin_) * sizeof(T));
  }
#elif KALMIA_GUARDS_SCRATCH
  ~LineTaker() {
    const T* guard = rest_ - kLanes;
    for (; guards_ > 0; --guards_, guard -= static_cast<std::ptrdiff_t>(guard[0]) * kLanes)
      for (int i = 1; i < kLanes; ++i)
        assert(guard[i] == kCanary && "a kernel wrote past its portion of the scratch");
  }
#endif

 private:
  static constexpr int kLanes = kLineLanes<T>;
#if defined(__SANITIZE_ADDRESS__)
  T* begin_;
#elif KALMIA_GUARDS_SCRATCH
  static constexpr T kCanary = T(-3.25e37);
  int guards_ = 0;
#endif
  T* rest_;
};

/// The lines that `Lines::lay_out(taker, sizes...)` takes.
template <typename Lines, typename... Sizes>
constexpr int count_lines(const Sizes&... sizes) {
  Lines lines{};
  LineCounter counter;
  lines.lay_out(counter, sizes...);
  return counter.count();
}

}  // namespace kalmia::lanes
