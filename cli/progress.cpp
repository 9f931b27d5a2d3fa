#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "output.hpp"

namespace kalmia::cli {
namespace {

constexpr int kBarWidth = 20;
constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::seconds kPlainLine{5};

std::string clock_text(double seconds) {
  const auto s = static_cast<long>(std::ceil(seconds));
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string bar(double share) {
  share = std::clamp(share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(std::lround(share * kBarWidth));
  return fmt::format("[{}{}] {:3.0f} %", std::string(full, '#'), std::string(kBarWidth - full, '.'),
                     100 * share);
}

}  // namespace

std::string short_number(double value) {
  if (!(std::abs(value) >= 1e3)) return fmt::format("{:.3g}", value);
  if (value >= 999.5e6) return fmt::format("{:.3g} G", value / 1e9);
  if (value >= 999.5e3) return fmt::format("{:.3g} M", value / 1e6);
  return fmt::format("{:.3g} k", value / 1e3);
}

std::string progress_line(const FitProgress& p) {
  std::string text = fmt::format("loss {:.4f}", p.loss);
  if (std::isfinite(p.held_out)) text += fmt::format("  held-out {:.4f}", p.held_out);
  if (p.steps_per_second > 0) text += fmt::format("  {} steps/s", short_number(p.steps_per_second));
  if (std::isfinite(p.seconds_left)) text += fmt::format("  {} left", clock_text(p.seconds_left));
  return text;
}

Progress::Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (drawn_ && terminal_) print_error("\n");
}

void Progress::show(const FitProgress& p) {
  draw(p.stage, bar(p.updates > 0 ? double(p.update) / p.updates : 0.0),
       fmt::format("{}/{}", p.update, p.updates), progress_line(p),
       p.updates > 0 && p.update == p.updates);
}

void Progress::show(const ReproduceProgress& p) {
  std::string text = fmt::format("{} of {} cells", p.finished, p.cells);
  if (p.resumed > 0) text += fmt::format(" ({} from the journal)", p.resumed);
  if (p.finished < p.cells) text += fmt::format("  {} left", clock_text(p.seconds_left));
  if (!p.last.empty()) text += "  " + p.last;
  draw("reproduce", bar(p.share), fmt::format("{:.0f} %", 100 * p.share), text,
       p.finished == p.cells);
}

void Progress::show(const DenoiseProgress& p) {
  std::string text;
  if (p.sound_seconds > 0) text = fmt::format("{} of sound", clock_text(p.sound_seconds));
  if (std::isfinite(p.seconds_left))
    text += fmt::format("{}{} left", text.empty() ? "" : "  ", clock_text(p.seconds_left));
  draw(p.stage, p.share ? bar(*p.share) : "",
       p.share ? fmt::format("{:.0f} %", 100 * *p.share) : "", text, p.share && *p.share >= 1);
}

void Progress::draw(const std::string& stage, const std::string& bar_text, const std::string& count,
                    const std::string& text, bool last_update) {
  if (quiet_) return;
  const Clock::time_point now = Clock::now();
  const bool new_stage = stage != stage_;
  const auto pause = terminal_ ? Clock::duration(kRedraw) : Clock::duration(kPlainLine);
  if (!new_stage && !(terminal_ && last_update) && now - last_ < pause) return;
  if (terminal_) {
    // A finished stage keeps its line.
    if (new_stage && drawn_) print_error("\n");
    std::string line = fmt::format("{}  {}  {}", stage, bar_text, text);
    line = line.substr(0, terminal_width() - 1);
    print_error("\r" + line + "\x1b[K");
  } else {
    print_error(fmt::format("{}  {}  {}\n", stage, count, text));
  }
  drawn_ = true;
  stage_ = stage;
  last_ = now;
}

}  // namespace kalmia::cli
