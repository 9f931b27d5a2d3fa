/// \file
/// How signals end long work: Ctrl-C (SIGINT), SIGTERM and SIGHUP.
#pragma once

#include <signal.h>

#include <iterator>

namespace kalmia::cli {

/// The signals that ask the program to end.
inline constexpr int kEndSignals[] = {SIGINT, SIGTERM, SIGHUP};

/// While it lives, the first of these signals only sets a flag; the second ends the program at
/// once. A signal that the program was started with ignored (nohup) stays ignored.
class InterruptGuard {
 public:
  /// `notice` is printed at the first signal: a line that stays in memory.
  explicit InterruptGuard(const char* notice);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool interrupted() { return signal() != 0; }
  /// The signal that any guard of this process has seen; 0: none.
  static int signal();

 private:
  struct sigaction before_[std::size(kEndSignals)];
};

/// While it lives, these signals wait: for short work that must not be left half done.
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
