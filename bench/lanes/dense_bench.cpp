// The products a GRU of 64 units is made of, on 32 lanes.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lanes/dense_bench.cpp"
#include <hwy/foreach_target.h>

#include "lanes/dense-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::lanes::HWY_NAMESPACE {

void forward_here(const PackedMatrix<float>& W, const float* in, int lanes, float* out) {
  product(W, in, lanes, Start::Zero, static_cast<const float*>(nullptr), out);
}
// Weight gradient of `steps` steps, the transposition included.
void gradient_here(const float* a, int rows, const float* b, int cols, int steps, int lanes,
                   float* b_T, float* sums) {
  for (int t = 0; t < steps; ++t)
    transpose(b + t * cols * lanes, cols, lanes, b_T + t * cols * lanes, cols);
  outer_product_wide<float>({a, rows * lanes}, rows, {b_T, cols * lanes}, cols, cols, steps, lanes,
                            sums);
}

}  // namespace kalmia::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <benchmark/benchmark.h>

namespace kalmia::lanes {
namespace {

HWY_EXPORT(forward_here);
HWY_EXPORT(gradient_here);

constexpr int kLanes = 32, kCols = 64;

void count_flops(benchmark::State& state, double flops) {
  state.counters["FLOP/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * flops,
                                                benchmark::Counter::kIsRate);
}

void weights_times_panel(benchmark::State& state) {
  const int rows = static_cast<int>(state.range(0));
  const Buffer<float> W(static_cast<std::size_t>(rows * kCols));
  PackedMatrix<float> packed;
  packed.pack(W.data(), rows, kCols, false);
  const Buffer<float> in(kCols * kLanes);
  Buffer<float> out(static_cast<std::size_t>(rows * kLanes));
  for (auto _ : state) {
    HWY_DYNAMIC_DISPATCH(forward_here)(packed, in.data(), kLanes, out.data());
    benchmark::DoNotOptimize(out.data());
  }
  count_flops(state, 2.0 * rows * kCols * kLanes);
}
BENCHMARK(weights_times_panel)->Arg(18)->Arg(64)->Arg(192)->Arg(408);

void weight_gradient(benchmark::State& state) {
  const int rows = 192, steps = static_cast<int>(state.range(0));
  const Buffer<float> a(static_cast<std::size_t>(steps * rows * kLanes));
  const Buffer<float> b(static_cast<std::size_t>(steps * kCols * kLanes));
  Buffer<float> b_T(b.size()), sums(static_cast<std::size_t>(rows * kCols));
  for (auto _ : state) {
    HWY_DYNAMIC_DISPATCH(gradient_here)
    (a.data(), rows, b.data(), kCols, steps, kLanes, b_T.data(), sums.data());
    benchmark::DoNotOptimize(sums.data());
  }
  count_flops(state, 2.0 * rows * kCols * kLanes * steps);
}
BENCHMARK(weight_gradient)->Arg(4)->Arg(8)->Arg(16)->Arg(32);

}  // namespace
}  // namespace kalmia::lanes
#endif
