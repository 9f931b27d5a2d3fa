// One step of a causal transformer on panels and its adjoint, and one step of one sequence. See
// transformer.hpp for the equations.
//
// The slot of a step (key, value, mark) stays where later steps find it: that of lag j lies j slots
// before the step's own.

#if defined(KALMIA_NN_TRANSFORMER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KALMIA_NN_TRANSFORMER_INL_H_
#undef KALMIA_NN_TRANSFORMER_INL_H_
#else
#define KALMIA_NN_TRANSFORMER_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <vector>

#include "lanes/dense-inl.h"
#include "lanes/math-inl.h"
#include "lanes/matvec-inl.h"
#include "nn/transformer.hpp"

HWY_BEFORE_NAMESPACE();
namespace kalmia::nn::HWY_NAMESPACE {

using namespace lanes::HWY_NAMESPACE;  // NOLINT: lines and products of this instruction set
using lanes::kLineLanes;

// Below every score, for lags that do not exist. Finite, so that differences are.
inline constexpr double kNoScore = -1e30;

/// norm = (x - mean) scale, scale = 1 / sqrt(var + kNormFloor), of each lane over the rows.
///
/// Shapes: x and norm rows x lanes, scale one row. Cost: 5 rows FLOP a lane.
template <typename T>
HWY_NOINLINE void norm_forward(const T* x, int rows, int lanes, T* norm, T* scale) {
  const Line<T> share = broadcast(T(1) / static_cast<T>(rows));
  for (int lane = 0; lane < lanes; lane += kLineLanes<T>) {
    Line<T> sum = zero<T>(), squares = zero<T>();
    for (int i = 0; i < rows; ++i) sum = sum + load(x + i * lanes + lane);
    const Line<T> mean = sum * share;
    for (int i = 0; i < rows; ++i) {
      const Line<T> away = load(x + i * lanes + lane) - mean;
      squares = fma(away, away, squares);
    }
    const Line<T> by =
        broadcast(T(1)) / sqrt(fma(squares, share, broadcast(static_cast<T>(kNormFloor))));
    for (int i = 0; i < rows; ++i)
      store((load(x + i * lanes + lane) - mean) * by, norm + i * lanes + lane);
    store(by, scale + lane);
  }
}

/// Adjoint of `norm_forward`: d_x = start + scale (d_norm - mean(d_norm) - norm mean(d_norm norm)).
/// `start` is a panel like x; d_x may be it.
template <typename T>
HWY_NOINLINE void norm_backward(const T* norm, const T* scale, const T* d_norm, int rows, int lanes,
                                const T* start, T* d_x) {
  const Line<T> share = broadcast(T(1) / static_cast<T>(rows));
  for (int lane = 0; lane < lanes; lane += kLineLanes<T>) {
    Line<T> sum = zero<T>(), along = zero<T>();
    for (int i = 0; i < rows; ++i) {
      const Line<T> d = load(d_norm + i * lanes + lane);
      sum = sum + d;
      along = fma(d, load(norm + i * lanes + lane), along);
    }
    const Line<T> mean = sum * share, slope = along * share, by = load(scale + lane);
    for (int i = 0; i < rows; ++i) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * lanes + lane;
      const Line<T> d = fnma(slope, load(norm + at), load(d_norm + at) - mean);
      store(fma(by, d, load(start + at)), d_x + at);
    }
  }
}

/// Attention of one step: sets `weights` (heads taps rows) and `heard` (hidden rows).
///
///   w[j] = softmax over j of (q . key[j] / sqrt(d) + p[j]),   heard = sum over j of w[j] value[j]
///
/// `slot` is the step's own; that of lag j lies j steps of `slot_step` before it. Lags whose mark
/// is zero have no weight. Cost: 4 hidden taps FLOP and heads taps exponentials a lane.
template <typename T>
HWY_NOINLINE void attend_forward(const PackedTransformer<T>& net, const T* q, const T* slot,
                                 std::ptrdiff_t slot_step, int lanes, T* weights, T* heard) {
  const int d = net.hidden / net.heads;
  const std::ptrdiff_t values = static_cast<std::ptrdiff_t>(net.hidden) * lanes;
  const Line<T> scale = broadcast(static_cast<T>(1 / std::sqrt(static_cast<double>(d))));
  const Line<T> none = broadcast(static_cast<T>(kNoScore));
  for (int head = 0; head < net.heads; ++head)
    for (int lane = 0; lane < lanes; lane += kLineLanes<T>) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(head) * d * lanes + lane;
      T* w = weights + static_cast<std::ptrdiff_t>(head) * net.taps * lanes + lane;
      const auto exists = [&](int j) HWY_ATTR {
        return nonzero(load(slot - j * slot_step + 2 * values + lane));
      };
      Line<T> best = none;
      for (int j = 0; j < net.taps; ++j) {
        const T* key = slot - j * slot_step + first;
        Line<T> dot = zero<T>();
        for (int i = 0; i < d; ++i)
          dot = fma(load(q + first + i * lanes), load(key + i * lanes), dot);
        const Line<T> score = select(
            exists(j), fma(dot, scale, broadcast(net.position.data()[head * net.taps + j])), none);
        best = select(greater(score, best), score, best);
        store(score, w + j * lanes);
      }
      Line<T> sum = zero<T>();
      for (int j = 0; j < net.taps; ++j) {
        const Line<T> e = select(exists(j), exp(load(w + j * lanes) - best), zero<T>());
        sum = sum + e;
        store(e, w + j * lanes);
      }
      const Line<T> share = broadcast(T(1)) / sum;
      for (int j = 0; j < net.taps; ++j) store(load(w + j * lanes) * share, w + j * lanes);
      for (int i = 0; i < d; ++i) {
        const T* value = slot + values + first + i * lanes;
        Line<T> out = zero<T>();
        for (int j = 0; j < net.taps; ++j)
          out = fma(load(w + j * lanes), load(value - j * slot_step), out);
        store(out, heard + first + i * lanes);
      }
    }
}

/// Adjoint of `attend_forward`.
///
///   d_w[j] = d_heard . value[j],   d_s[j] = w[j] (d_w[j] - d_heard . heard)
///   d_q = sum over j of d_s[j] key[j] / sqrt(d),   d_key[j] += d_s[j] q / sqrt(d),
///   d_value[j] += w[j] d_heard
///
/// Sets d_q and adds to the slots of d_slot, which lie as those of `slot` do. `weights` holds d_s
/// afterwards, whose sum over time and lanes is d_p.
template <typename T>
HWY_NOINLINE void attend_backward(const PackedTransformer<T>& net, const T* q, const T* slot,
                                  std::ptrdiff_t slot_step, const T* heard, const T* d_heard,
                                  int lanes, T* weights, T* d_slot, T* d_q) {
  const int d = net.hidden / net.heads;
  const std::ptrdiff_t values = static_cast<std::ptrdiff_t>(net.hidden) * lanes;
  const Line<T> scale = broadcast(static_cast<T>(1 / std::sqrt(static_cast<double>(d))));
  for (int head = 0; head < net.heads; ++head)
    for (int lane = 0; lane < lanes; lane += kLineLanes<T>) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(head) * d * lanes + lane;
      T* w = weights + static_cast<std::ptrdiff_t>(head) * net.taps * lanes + lane;
      Line<T> shared = zero<T>();
      for (int i = 0; i < d; ++i)
        shared = fma(load(d_heard + first + i * lanes), load(heard + first + i * lanes), shared);
      for (int i = 0; i < d; ++i) store(zero<T>(), d_q + first + i * lanes);
      for (int j = 0; j < net.taps; ++j) {
        const T* key = slot - j * slot_step + first;
        T* d_key = d_slot - j * slot_step + first;
        const Line<T> weight = load(w + j * lanes);
        Line<T> d_w = zero<T>();
        for (int i = 0; i < d; ++i) {
          const Line<T> d_out = load(d_heard + first + i * lanes);
          d_w = fma(d_out, load(key + values + i * lanes), d_w);
          store(fma(weight, d_out, load(d_key + values + i * lanes)), d_key + values + i * lanes);
        }
        const Line<T> d_s = weight * (d_w - shared), scaled = d_s * scale;
        store(d_s, w + j * lanes);
        for (int i = 0; i < d; ++i) {
          T* to = d_q + first + i * lanes;
          store(fma(scaled, load(key + i * lanes), load(to)), to);
          store(fma(scaled, load(q + first + i * lanes), load(d_key + i * lanes)),
                d_key + i * lanes);
        }
      }
    }
}

template <typename T>
HWY_INLINE void add_bias(const Buffer<T>& bias, int lanes, T* panel) {
  for (std::size_t i = 0; i < bias.size(); ++i, panel += lanes) {
    const Line<T> more = broadcast(bias.data()[i]);
    for (int lane = 0; lane < lanes; lane += kLineLanes<T>)
      store(load(panel + lane) + more, panel + lane);
  }
}

/// h = transformer(x, the slots before `slot`). Sets the slot of the step, which exists, and the
/// tape.
///
/// Shapes: x input x lanes; slot 2 hidden + 1 rows; tape as TransformerTape says; h hidden x lanes.
template <typename T>
HWY_INLINE void transformer_forward(const PackedTransformer<T>& net, const TransformerTape& at,
                                    const T* x, int lanes, T* slot, T* tape, T* h) {
  const auto rows = [lanes](int count) { return static_cast<std::ptrdiff_t>(count) * lanes; };
  const int H = net.hidden;
  product(net.embed, x, lanes, Start::Bias, net.embed_bias.data(), h);
  norm_forward(static_cast<const T*>(h), H, lanes, tape + rows(at.norm_u), tape + rows(at.scale_u));
  const T* norm_u = tape + rows(at.norm_u);
  product(net.query, norm_u, lanes, Start::Bias, net.query_bias.data(), tape + rows(at.query));
  product(net.key_value, norm_u, lanes, Start::Zero, static_cast<const T*>(nullptr), slot);
  std::fill_n(slot + rows(2 * H), lanes, T(1));
  attend_forward(net, static_cast<const T*>(tape + rows(at.query)), static_cast<const T*>(slot),
                 rows(2 * H + 1), lanes, tape + rows(at.weights), tape + rows(at.heard));
  add_bias(net.output_bias, lanes, h);
  product(net.output, static_cast<const T*>(tape + rows(at.heard)), lanes, Start::Accumulate,
          static_cast<const T*>(nullptr), h);
  norm_forward(static_cast<const T*>(h), H, lanes, tape + rows(at.norm_r), tape + rows(at.scale_r));
  T* inner = tape + rows(at.inner);
  product(net.expand, static_cast<const T*>(tape + rows(at.norm_r)), lanes, Start::Bias,
          net.expand_bias.data(), inner);
  for (std::ptrdiff_t i = 0; i < rows(2 * H); i += kLineLanes<T>)
    store(tanh(load(inner + i)), inner + i);
  add_bias(net.contract_bias, lanes, h);
  product(net.contract, static_cast<const T*>(inner), lanes, Start::Accumulate,
          static_cast<const T*>(nullptr), h);
  for (std::ptrdiff_t i = 0; i < rows(H); i += kLineLanes<T>) store(tanh(load(h + i)), h + i);
}

/// Adjoint of `transformer_forward`: from d_h, and from what later steps have added to the step's
/// own adjoint slot, to `adjoint` (TransformerAdjoint) and the adjoint slots of the steps before.
///
/// The weight gradients are d_W_2 = out inner', d_W_1 = inner norm_r', d_W_o = r heard',
/// d_W_q = query norm_u', d_W_kv = d_slot norm_u', d_W_e = u x' (adjoint times tape); d_p is the
/// sum of the tape's weights. `beside` is a panel of hidden rows.
template <typename T>
HWY_INLINE void transformer_backward(const PackedTransformer<T>& net, const TransformerTape& at,
                                     const TransformerAdjoint& to, const T* h, const T* d_h,
                                     const T* slot, int lanes, T* tape, T* d_slot, T* adjoint,
                                     T* beside) {
  const auto rows = [lanes](int count) { return static_cast<std::ptrdiff_t>(count) * lanes; };
  const auto through =
      [&](const lanes::PackedMatrix<T>& W, const T* d, Start start, T* into)
          HWY_ATTR { product(W, d, lanes, start, static_cast<const T*>(nullptr), into); };
  const int H = net.hidden;
  T* out = adjoint + rows(to.out);
  T* inner = adjoint + rows(to.inner);
  T* r = adjoint + rows(to.r);
  T* d_q = adjoint + rows(to.query);
  const Line<T> one = broadcast(T(1));
  for (std::ptrdiff_t i = 0; i < rows(H); i += kLineLanes<T>) {
    const Line<T> value = load(h + i);
    store(load(d_h + i) * fnma(value, value, one), out + i);
  }
  through(net.contract_T, out, Start::Zero, inner);
  for (std::ptrdiff_t i = 0; i < rows(2 * H); i += kLineLanes<T>) {
    const Line<T> value = load(static_cast<const T*>(tape + rows(at.inner)) + i);
    store(load(inner + i) * fnma(value, value, one), inner + i);
  }
  through(net.expand_T, inner, Start::Zero, beside);
  norm_backward<T>(tape + rows(at.norm_r), tape + rows(at.scale_r), beside, H, lanes, out, r);
  through(net.output_T, r, Start::Zero, beside);
  attend_backward<T>(net, tape + rows(at.query), slot, rows(2 * H + 1), tape + rows(at.heard),
                     beside, lanes, tape + rows(at.weights), d_slot, d_q);
  through(net.query_T, d_q, Start::Zero, beside);
  through(net.key_value_T, d_slot, Start::Accumulate, beside);
  norm_backward<T>(tape + rows(at.norm_u), tape + rows(at.scale_u), beside, H, lanes, r,
                   adjoint + rows(to.u));
}

// norm(x) of one vector of `size` numbers, padded with zeros to whole lines; what stands in the
// padding of `norm` is of no use.
template <typename T>
HWY_INLINE void norm_of_vector(const Buffer<T>& x, int size, Buffer<T>& norm) {
  const auto padded = static_cast<int>(x.size());
  Line<T> sum = zero<T>(), squares = zero<T>();
  for (int u = 0; u < padded; u += kLineLanes<T>) sum = sum + load(x.data() + u);
  const T mean = sum_lanes(sum) / static_cast<T>(size);
  for (int u = 0; u < padded; u += kLineLanes<T>) {
    const Line<T> away = load(x.data() + u) - broadcast(mean);
    squares = fma(away, away, squares);
  }
  // The padding is `mean` away, too.
  const T var =
      (sum_lanes(squares) - static_cast<T>(padded - size) * mean * mean) / static_cast<T>(size);
  const T scale = T(1) / std::sqrt(std::max(var, T(0)) + static_cast<T>(kNormFloor));
  for (int u = 0; u < padded; u += kLineLanes<T>)
    store((load(x.data() + u) - broadcast(mean)) * broadcast(scale), norm.data() + u);
}

// The newest slot of a ring: the one so marked, or the last.
template <typename T>
int newest_slot(const std::vector<T>& ring, int slots, int slot_rows) {
  for (int i = 0; i + 1 < slots; ++i)
    if (ring[static_cast<std::size_t>((i + 1) * slot_rows - 1)] == T(kNewestMark)) return i;
  return slots - 1;
}

// Attention of one sequence over its own slot, net.slot, and the ring of those before.
template <typename T>
void attend_one(StreamedTransformer<T>& net, const std::vector<T>& ring, int newest) {
  const int H = net.hidden, d = H / net.heads, slot_rows = 2 * H + 1;
  const int padded = static_cast<int>(net.exists.size());
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(d)));
  const auto slot = [&](int j) {
    if (j == 0) return static_cast<const T*>(net.slot.data());
    const int at = newest - (j - 1);
    return ring.data() + static_cast<std::ptrdiff_t>(at < 0 ? at + net.taps - 1 : at) * slot_rows;
  };
  for (int j = 0; j < net.taps; ++j)
    net.exists[static_cast<std::size_t>(j)] = j == 0 || slot(j)[2 * H] != T(0) ? T(1) : T(0);
  std::fill_n(net.heard.data(), H, T(0));
  for (int head = 0; head < net.heads; ++head) {
    const T* q = net.q.data() + head * d;
    const T* position = net.position.data() + head * padded;
    T* w = net.weights.data() + head * padded;
    T best = static_cast<T>(kNoScore);
    for (int j = 0; j < net.taps; ++j) {
      const T* key = slot(j) + head * d;
      T dot = 0;
      for (int i = 0; i < d; ++i) dot += q[i] * key[i];
      w[j] = net.exists[static_cast<std::size_t>(j)] != T(0) ? dot * scale + position[j]
                                                             : static_cast<T>(kNoScore);
      best = std::max(best, w[j]);
    }
    Line<T> sum = zero<T>();
    for (int j = 0; j < padded; j += kLineLanes<T>) {
      const Line<T> e = exp(load(w + j) - broadcast(best)) * load(net.exists.data() + j);
      sum = sum + e;
      store(e, w + j);
    }
    const T share = T(1) / sum_lanes(sum);
    T* heard = net.heard.data() + head * d;
    for (int j = 0; j < net.taps; ++j) {
      const T* value = slot(j) + H + head * d;
      const T weight = w[j] * share;
      for (int i = 0; i < d; ++i) heard[i] += weight * value[i];
    }
  }
}

/// h = transformer(x, ring) of one sequence, padded to whole lines; the step's own slot takes the
/// place of the oldest of the ring. What a window carries, oldest first, is such a ring.
template <typename T>
void stream_step(StreamedTransformer<T>& net, const T* x, std::vector<T>& ring, T* h) {
  const int H = net.hidden, slot_rows = 2 * H + 1, slots = net.taps - 1;
  const int newest = newest_slot(ring, slots, slot_rows);
  const auto at = [](const Buffer<T>& b) { return static_cast<const T*>(b.data()); };
  matvec(net.embed, x, net.embed_bias.data(), net.r.data());
  norm_of_vector(net.r, H, net.norm);
  matvec(net.query, at(net.norm), net.query_bias.data(), net.q.data());
  matvec(net.key_value, at(net.norm), net.zeros.data(), net.slot.data());
  attend_one(net, ring, newest);
  matvec(net.output, at(net.heard), net.output_bias.data(), h);
  for (int u = 0; u < net.output.rows; u += kLineLanes<T>)
    store(load(h + u) + load(net.r.data() + u), net.r.data() + u);
  norm_of_vector(net.r, H, net.norm);
  matvec(net.expand, at(net.norm), net.expand_bias.data(), net.inner.data());
  for (int u = 0; u < net.expand.rows; u += kLineLanes<T>)
    store(tanh(load(net.inner.data() + u)), net.inner.data() + u);
  matvec(net.contract, at(net.inner), net.contract_bias.data(), h);
  for (int u = 0; u < net.contract.rows; u += kLineLanes<T>)
    store(tanh(load(h + u) + load(net.r.data() + u)), h + u);
  if (slots == 0) return;
  const auto mark = [&](int slot) -> T& {
    return ring[static_cast<std::size_t>((slot + 1) * slot_rows - 1)];
  };
  const int own = (newest + 1) % slots;
  if (mark(newest) != T(0)) mark(newest) = T(1);
  std::copy_n(net.slot.data(), 2 * H, ring.data() + static_cast<std::ptrdiff_t>(own) * slot_rows);
  mark(own) = T(kNewestMark);
}

}  // namespace kalmia::nn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
