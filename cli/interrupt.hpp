/// \file
/// How Ctrl-C ends a fit.
#pragma once

#include <signal.h>

namespace kalmia::cli {

/// While it lives, the first Ctrl-C only sets a flag; the second ends the program at once. Where
/// the program was started with Ctrl-C ignored, it stays ignored.
class InterruptGuard {
 public:
  InterruptGuard();
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
