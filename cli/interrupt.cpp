#include "interrupt.hpp"

#include <unistd.h>

#include <string_view>

namespace kalmia::cli {
namespace {

volatile sig_atomic_t signal_seen = 0;
std::string_view interrupt_notice;

extern "C" void on_signal(int number) {
  // Only functions that are safe in a handler may be called here.
  signal_seen = number;
  // The handler serves once; after it, the default ends the program.
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (const int each : kEndSignals) {
    struct sigaction now {};
    if (sigaction(each, nullptr, &now) == 0 && now.sa_handler == on_signal)
      sigaction(each, &plain, nullptr);
  }
  // Below the bar.
  [[maybe_unused]] ssize_t n = isatty(STDERR_FILENO) ? write(STDERR_FILENO, "\n", 1) : 0;
  n = write(STDERR_FILENO, interrupt_notice.data(), interrupt_notice.size());
}

}  // namespace

InterruptGuard::InterruptGuard(const char* notice) {
  interrupt_notice = notice;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  // One at a time, so that the first of several decides.
  sigemptyset(&action.sa_mask);
  for (const int each : kEndSignals) sigaddset(&action.sa_mask, each);
  for (std::size_t i = 0; i < std::size(kEndSignals); ++i) {
    sigaction(kEndSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kEndSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < std::size(kEndSignals); ++i)
    sigaction(kEndSignals[i], &before_[i], nullptr);
}

int InterruptGuard::signal() { return signal_seen; }

InterruptDelay::InterruptDelay() {
  sigset_t all;
  sigemptyset(&all);
  for (const int each : kEndSignals) sigaddset(&all, each);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

InterruptDelay::~InterruptDelay() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace kalmia::cli
