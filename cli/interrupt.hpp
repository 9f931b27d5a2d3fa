/// \file
/// How Ctrl-C ends long work.
#pragma once

#include <signal.h>

namespace kalmia::cli {

/// While it lives, the first Ctrl-C only sets a flag; the second ends the program at once. Where
/// the program was started with Ctrl-C ignored, it stays ignored.
class InterruptGuard {
 public:
  /// `notice` is printed at the first Ctrl-C: a line that stays in memory.
  explicit InterruptGuard(const char* notice);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted();

 private:
  struct sigaction before_;
};

/// While it lives, Ctrl-C waits: for short work that must not be left half done.
class InterruptDelay {
 public:
  InterruptDelay();
  ~InterruptDelay();
  InterruptDelay(const InterruptDelay&) = delete;
  InterruptDelay& operator=(const InterruptDelay&) = delete;

 private:
  sigset_t before_;
};

}  // namespace kalmia::cli
