#define KALMIA_SIZES_UNKNOWN

#include "kalman/constant_system.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kalman/constant_system.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lanes/math-inl.h"
#include "lanes/scratch.hpp"
#include "lanes/triangle-inl.h"

#ifndef KALMIA_KALMAN_CONSTANT_LINES_
#define KALMIA_KALMAN_CONSTANT_LINES_
namespace kalmia::kalman {

// Where one line works, in lines of lanes.
struct ConstantLines {
  double *x, *P, *X, *d_x, *d_P, *Y, *d_g, *d_F, *d_Q, *d_R;
  double*
      tape;  // of each step: x and P (packed) before it, then g, s and the error of each component

  static int step_lines(int N, int M) { return N + lanes::triangle_size(N) + M * (N + 2); }

  template <typename Taker>
  void lay_out(Taker& taker, int N, int M, int entries, int steps) {
    x = taker.take(N);
    P = taker.take(N * N);
    X = taker.take(N * N);
    d_x = taker.take(N);
    d_P = taker.take(N * N);
    Y = taker.take(N * N);
    d_g = taker.take(N);
    d_F = taker.take(entries);
    d_Q = taker.take(N * N);
    d_R = taker.take(M);
    tape = taker.take(steps * step_lines(N, M));
  }
};

}  // namespace kalmia::kalman
#endif

HWY_BEFORE_NAMESPACE();
namespace kalmia::kalman::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;
using ln::entry;
using D = ln::Line<double>;

// One line of lanes; F, Q, H and R are the same in all of them.
class ConstantPass {
 public:
  ConstantPass(const ConstantSystem& system, const std::vector<MatrixEntry>& entries,
               const ConstantLines& lines)
      : s_(system), entries_(entries), w_(lines), N_(system.state_dim()), M_(system.meas_dim()) {}

  // The sum of the losses in each lane; leaves the tape.
  D forward(const ConstantLikelihood::Line& data) {
    D loss = ln::zero<double>();
    for (int n = 0; n < N_; ++n) put(w_.x, n, s_.x0[static_cast<std::size_t>(n)]);
    for (int i = 0; i < N_ * N_; ++i) put(w_.P, i, s_.P0[static_cast<std::size_t>(i)]);
    for (int k = 0; k < data.steps; ++k) {
      double* tape = step(k);
      if (k > 0) predict(tape);
      double* of = entry(tape, N_ + lanes::triangle_size(N_));
      for (int m = 0; m < M_; ++m, of = entry(of, N_ + 2))
        loss = loss + update(m, data, k * M_ + m, of);
    }
    return loss;
  }

  // Leaves the derivatives of the sum of the losses.
  void backward(const ConstantLikelihood::Line& data) {
    ln::set_zero(N_, w_.d_x);
    ln::set_zero(N_ * N_, w_.d_P);
    ln::set_zero(static_cast<int>(entries_.size()), w_.d_F);
    ln::set_zero(N_ * N_, w_.d_Q);
    ln::set_zero(M_, w_.d_R);
    for (int k = data.steps - 1; k >= 0; --k) {
      const double* tape = step(k);
      for (int m = M_ - 1; m >= 0; --m)
        update_backward(m, data, k * M_ + m,
                        entry(tape, N_ + lanes::triangle_size(N_) + m * (N_ + 2)));
      if (k > 0) predict_backward(tape);
    }
  }

 private:
  static void put(double* to, int index, double value) {
    ln::store(ln::broadcast(value), entry(to, index));
  }
  static D get(const double* from, int index) { return ln::load(entry(from, index)); }
  double* step(int k) const { return entry(w_.tape, k * ConstantLines::step_lines(N_, M_)); }
  D F(const MatrixEntry& at) const {
    return ln::broadcast(s_.F[static_cast<std::size_t>(at.row * N_ + at.col)]);
  }
  double H(int m, int n) const { return s_.H[static_cast<std::size_t>(m * N_ + n)]; }

  // sum over n of H(m, n) x[n stride].
  D measured(int m, const double* x, int stride) const {
    D sum = ln::zero<double>();
    for (int n = 0; n < N_; ++n)
      if (H(m, n) != 0) sum = ln::fma(ln::broadcast(H(m, n)), get(x, n * stride), sum);
    return sum;
  }
  void mirror(double* P) const {
    for (int i = 0; i < N_; ++i)
      for (int j = 0; j < i; ++j) ln::store(get(P, i * N_ + j), entry(P, j * N_ + i));
  }

  void predict(double* tape) {
    ln::copy_lines(N_, w_.x, tape);
    double* packed = entry(tape, N_);
    for (int i = 0; i < N_; ++i)
      for (int j = 0; j <= i; ++j)
        ln::store(get(w_.P, i * N_ + j), entry(packed, lanes::triangle_index(i, j)));
    ln::set_zero(N_, w_.x);
    ln::set_zero(N_ * N_, w_.X);
    for (const MatrixEntry& at : entries_) {
      const D f = F(at);
      ln::store(ln::fma(f, get(tape, at.col), get(w_.x, at.row)), entry(w_.x, at.row));
      for (int c = 0; c < N_; ++c)
        ln::store(ln::fma(f, get(w_.P, at.col * N_ + c), get(w_.X, at.row * N_ + c)),
                  entry(w_.X, at.row * N_ + c));
    }
    // Of X F', the lower triangle.
    for (int i = 0; i < N_; ++i)
      for (int j = 0; j <= i; ++j)
        put(w_.P, i * N_ + j, s_.Q[static_cast<std::size_t>(i * N_ + j)]);
    for (const MatrixEntry& at : entries_) {
      const D f = F(at);
      for (int i = at.row; i < N_; ++i)
        ln::store(ln::fma(f, get(w_.X, i * N_ + at.col), get(w_.P, i * N_ + at.row)),
                  entry(w_.P, i * N_ + at.row));
    }
    mirror(w_.P);
  }

  // With x, P and their adjoints d_x, d_P after the prediction, Y = d_P F:
  //   d_F = d_x x' + 2 Y P,   d_Q = d_P,   d_x <- F' d_x,   d_P <- F' Y
  void predict_backward(const double* tape) {
    const double* packed = entry(tape, N_);
    for (int i = 0; i < N_ * N_; ++i) ln::store(get(w_.d_Q, i) + get(w_.d_P, i), entry(w_.d_Q, i));
    ln::set_zero(N_ * N_, w_.Y);
    for (const MatrixEntry& at : entries_) {
      const D f = F(at);
      for (int i = 0; i < N_; ++i)
        ln::store(ln::fma(f, get(w_.d_P, i * N_ + at.row), get(w_.Y, i * N_ + at.col)),
                  entry(w_.Y, i * N_ + at.col));
    }
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const MatrixEntry at = entries_[e];
      D sum = ln::zero<double>();
      for (int c = 0; c < N_; ++c)
        sum = ln::fma(get(w_.Y, at.row * N_ + c),
                      get(packed, lanes::triangle_index(std::max(c, at.col), std::min(c, at.col))),
                      sum);
      sum = ln::fma(get(w_.d_x, at.row), get(tape, at.col), sum + sum);
      double* to = entry(w_.d_F, static_cast<int>(e));
      ln::store(ln::load(to) + sum, to);
    }
    ln::set_zero(N_, w_.d_g);
    ln::set_zero(N_ * N_, w_.d_P);
    for (const MatrixEntry& at : entries_) {
      const D f = F(at);
      ln::store(ln::fma(f, get(w_.d_x, at.row), get(w_.d_g, at.col)), entry(w_.d_g, at.col));
      for (int c = 0; c <= at.col; ++c)
        ln::store(ln::fma(f, get(w_.Y, at.row * N_ + c), get(w_.d_P, at.col * N_ + c)),
                  entry(w_.d_P, at.col * N_ + c));
    }
    mirror(w_.d_P);
    ln::copy_lines(N_, w_.d_g, w_.d_x);
  }

  // One component; `of`: g, s and the error go there.
  D update(int m, const ConstantLikelihood::Line& data, int at, double* of) {
    for (int n = 0; n < N_; ++n) ln::store(measured(m, entry(w_.P, n * N_), 1), entry(of, n));
    const D s = measured(m, of, 1) + ln::broadcast(s_.R[static_cast<std::size_t>(m)]);
    const D error = get(data.y.data(), at) - measured(m, w_.x, 1);
    ln::store(s, entry(of, N_));
    ln::store(error, entry(of, N_ + 1));
    const auto seen = ln::nonzero(get(data.seen.data(), at));
    const D inverse = ln::select(seen, ln::broadcast(1.0) / s, ln::zero<double>());
    const D v = error * inverse;
    for (int i = 0; i < N_; ++i) {
      const D g = get(of, i);
      ln::store(ln::fma(g, v, get(w_.x, i)), entry(w_.x, i));
      const D share = g * inverse;
      for (int j = 0; j <= i; ++j)
        ln::store(ln::fnma(share, get(of, j), get(w_.P, i * N_ + j)), entry(w_.P, i * N_ + j));
    }
    mirror(w_.P);
    const D nowhere = ln::broadcast(std::numeric_limits<double>::quiet_NaN());
    const D log_s = ln::select(ln::greater(s, ln::zero<double>()), ln::log(s), nowhere);
    return ln::select(seen, ln::fma(error, v, log_s), ln::zero<double>());
  }

  // With a = g' d_x, b = d_P g, e the error, nll = e^2 / s + log s:
  //   d_e = (a + 2 e) / s,   d_s = (1 - a e / s + g' b / s - e^2 / s) / s,
  //   d_g = d_x e / s - 2 b / s + d_s h,   d_x -= d_e h,   d_P += (d_g h' + h d_g') / 2,   d_R +=
  //   d_s
  void update_backward(int m, const ConstantLikelihood::Line& data, int at, const double* of) {
    const auto seen = ln::nonzero(get(data.seen.data(), at));
    const D inverse = ln::select(seen, ln::broadcast(1.0) / get(of, N_), ln::zero<double>());
    const D error = ln::select(seen, get(of, N_ + 1), ln::zero<double>());
    const D v = error * inverse;
    D a = ln::zero<double>(), gb = a;
    for (int i = 0; i < N_; ++i) {
      D b = ln::zero<double>();
      for (int j = 0; j < N_; ++j) b = ln::fma(get(w_.d_P, i * N_ + j), get(of, j), b);
      a = ln::fma(get(of, i), get(w_.d_x, i), a);
      gb = ln::fma(get(of, i), b, gb);
      ln::store(ln::fnma(inverse + inverse, b, get(w_.d_x, i) * v), entry(w_.d_g, i));
    }
    const D d_e = ln::fma(a, inverse, v + v);
    // inverse is 0 where nothing was seen, and so is all of this.
    const D d_s = inverse * (ln::broadcast(1.0) - a * v + gb * inverse - error * v);
    ln::store(get(w_.d_R, m) + d_s, entry(w_.d_R, m));
    const D half = ln::broadcast(0.5);
    for (int n = 0; n < N_; ++n) {
      if (H(m, n) == 0) continue;
      const D h = ln::broadcast(H(m, n));
      ln::store(ln::fma(d_s, h, get(w_.d_g, n)), entry(w_.d_g, n));
      ln::store(ln::fnma(d_e, h, get(w_.d_x, n)), entry(w_.d_x, n));
    }
    for (int n = 0; n < N_; ++n) {
      if (H(m, n) == 0) continue;
      const D h = half * ln::broadcast(H(m, n));
      for (int i = 0; i < N_; ++i) {
        const D share = h * get(w_.d_g, i);
        ln::store(get(w_.d_P, n * N_ + i) + share, entry(w_.d_P, n * N_ + i));
        ln::store(get(w_.d_P, i * N_ + n) + share, entry(w_.d_P, i * N_ + n));
      }
    }
  }

  const ConstantSystem& s_;
  const std::vector<MatrixEntry>& entries_;
  const ConstantLines w_;
  const int N_, M_;
};

void run_line(const ConstantSystem& system, const std::vector<MatrixEntry>& entries,
              const ConstantLikelihood::Line& data, const ConstantLines& lines,
              ConstantLikelihood::Share& share) {
  ConstantPass pass(system, entries, lines);
  share.nll = ln::sum_lanes(pass.forward(data));
  pass.backward(data);
  const auto sums = [](const double* from, std::vector<double>& to) HWY_ATTR {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = ln::sum_lanes(ln::load(entry(from, static_cast<int>(i))));
  };
  sums(lines.d_F, share.d_F);
  sums(lines.d_Q, share.d_Q);
  sums(lines.d_R, share.d_R);
}

}  // namespace kalmia::kalman::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kalmia::kalman {

HWY_EXPORT(run_line);

namespace {

constexpr int kConstantLanes = lanes::kLineLanes<double>;

}  // namespace

ConstantLikelihood::ConstantLikelihood(int state_dim, int meas_dim,
                                       std::vector<MatrixEntry> entries,
                                       std::span<const MeasuredSteps> series, ThreadTeam& team)
    : state_dim_(state_dim), meas_dim_(meas_dim), entries_(std::move(entries)), team_(team) {
  const auto M = static_cast<std::size_t>(meas_dim), N = static_cast<std::size_t>(state_dim);
  for (std::size_t first = 0; first < series.size(); first += kConstantLanes) {
    const auto lanes =
        series.subspan(first, std::min<std::size_t>(kConstantLanes, series.size() - first));
    Line& line = lines_.emplace_back();
    for (const MeasuredSteps& each : lanes) line.steps = std::max(line.steps, each.steps);
    longest_ = std::max(longest_, line.steps);
    const std::size_t values = static_cast<std::size_t>(line.steps) * M;
    line.y.resize(values * kConstantLanes);
    line.seen.resize(values * kConstantLanes);
    for (std::size_t b = 0; b < lanes.size(); ++b)
      for (std::size_t i = 0; i < static_cast<std::size_t>(lanes[b].steps) * M; ++i) {
        if (std::isnan(lanes[b].y[i])) continue;
        line.y[i * kConstantLanes + b] = lanes[b].y[i];
        line.seen[i * kConstantLanes + b] = 1;
      }
  }
  Share share;
  share.d_F.resize(entries_.size());
  share.d_Q.resize(N * N);
  share.d_R.resize(M);
  shares_.assign(lines_.size(), share);
  const int count = lanes::count_lines<ConstantLines>(state_dim, meas_dim,
                                                      static_cast<int>(entries_.size()), longest_);
  tapes_.resize(static_cast<std::size_t>(team.size()));
  for (Buffer<double>& tape : tapes_) tape.resize(static_cast<std::size_t>(count) * kConstantLanes);
}

ConstantLoss ConstantLikelihood::operator()(const ConstantSystem& system) {
  team_.run(static_cast<int>(lines_.size()), [&](int index, int thread) {
    lanes::LineTaker<double> taker(tapes_[static_cast<std::size_t>(thread)].data());
    ConstantLines lines;
    lines.lay_out(taker, state_dim_, meas_dim_, static_cast<int>(entries_.size()), longest_);
    const auto i = static_cast<std::size_t>(index);
    HWY_DYNAMIC_DISPATCH(run_line)(system, entries_, lines_[i], lines, shares_[i]);
  });
  ConstantLoss loss;
  loss.d_F.resize(entries_.size());
  loss.d_Q.resize(static_cast<std::size_t>(state_dim_ * state_dim_));
  loss.d_R.resize(static_cast<std::size_t>(meas_dim_));
  const auto add = [](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  for (const Share& share : shares_) {
    loss.nll += share.nll;
    add(share.d_F, loss.d_F);
    add(share.d_Q, loss.d_Q);
    add(share.d_R, loss.d_R);
  }
  return loss;
}

}  // namespace kalmia::kalman
#endif
