/// \file
/// How the progress of long work is shown.
#pragma once

#include <chrono>
#include <string>

#include "kalmia/denoise.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/reproduce.hpp"

namespace kalmia::cli {

/// Shows progress on standard error: on a terminal a bar redrawn in place, elsewhere a line every
/// few seconds.
class Progress {
 public:
  explicit Progress(bool quiet);
  /// Leaves the bar's line, so that what is printed next begins its own.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const FitProgress& progress);
  void show(const ReproduceProgress& progress);
  void show(const DenoiseProgress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  /// `bar` stands before `text` on a terminal, `count` elsewhere. Lines come now and then; `last`
  /// is drawn on a terminal in any case.
  void draw(const std::string& stage, const std::string& bar, const std::string& count,
            const std::string& text, bool last);

  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::string stage_;
  Clock::time_point last_;
};

/// One line about where a fit stands, without the bar.
std::string progress_line(const FitProgress& progress);

/// 1234567 -> "1.23 M".
std::string short_number(double value);

}  // namespace kalmia::cli
