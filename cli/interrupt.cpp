#include "interrupt.hpp"

#include <unistd.h>

#include <string_view>

namespace kalmia::cli {
namespace {

volatile sig_atomic_t interrupt_seen = 0;
std::string_view interrupt_notice;

extern "C" void on_interrupt(int) {
  interrupt_seen = 1;
  // Below the bar. Only `write` may be called here.
  [[maybe_unused]] ssize_t n = isatty(STDERR_FILENO) ? write(STDERR_FILENO, "\n", 1) : 0;
  n = write(STDERR_FILENO, interrupt_notice.data(), interrupt_notice.size());
}

}  // namespace

InterruptGuard::InterruptGuard(const char* notice) {
  interrupt_seen = 0;
  interrupt_notice = notice;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  // The handler serves once; after it, the default ends the program.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, nullptr, &before_);
  if (before_.sa_handler != SIG_IGN) sigaction(SIGINT, &action, nullptr);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }

bool InterruptGuard::interrupted() { return interrupt_seen != 0; }

InterruptDelay::InterruptDelay() {
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before_);
}

InterruptDelay::~InterruptDelay() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace kalmia::cli
