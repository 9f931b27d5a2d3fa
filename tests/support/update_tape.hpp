// Room for the tape of one measurement update.
#pragma once

#include "kalman/scratch.hpp"
#include "support/lines.hpp"

namespace kalmia::test {

template <typename T>
class TapeLines {
 public:
  TapeLines(int state_dim, int meas_dim)
      : N_(state_dim), M_(meas_dim), lines_(lanes::count_lines<kalman::UpdateTape<T>>(N_, M_), 1) {}

  kalman::UpdateTape<T> tape() {
    lanes::LineTaker<T> taker(lines_.data());
    kalman::UpdateTape<T> tape;
    tape.lay_out(taker, N_, M_);
    return tape;
  }

 private:
  int N_, M_;
  Lines<T> lines_;
};

}  // namespace kalmia::test
