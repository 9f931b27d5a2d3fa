// Training and filtering windows of one lane group on one thread, and one streaming step.
#include <benchmark/benchmark.h>

#include <cmath>
#include <memory>

#include "base/random.hpp"
#include "engine/batch.hpp"
#include "heads/state_stream.hpp"
#include "prior/expert.hpp"

namespace kalmia::heads {
namespace {

constexpr int kSteps = 128;

// The Lorenz filter of the rivals' comparison, on noise: the arithmetic is the same.
struct LorenzFilter {
  Architecture architecture;
  kalman::Emission emission;
  std::shared_ptr<const kalman::TransitionMap> map;
  Buffer<float> parameters;
  PackedModel<float> network;
  StateGroup<float> group;

  explicit LorenzFilter(int lanes, nn::EncoderKind encoder = nn::EncoderKind::Gru)
      : architecture(options(encoder)),
        emission(3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0.25, 0, 0, 0, 0.25, 0, 0, 0, 0.25}),
        map(prior::make_expert(lorenz(), {"y1", "y2", "y3"}).map),
        parameters(static_cast<std::size_t>(architecture.parameters.size())) {
    initialise(architecture, 1, 0.3, 1.0, parameters.data());
    network.pack(architecture, parameters.data());
    group.resize(architecture, kSteps, lanes);
    RandomStream random(1, "window bench");
    for (double& y : group.y.span()) y = random.normal();
    for (float& x : group.input_fwd.span()) x = static_cast<float>(random.normal());
  }
  static prior::ExpertSpec lorenz() {
    prior::ExpertSpec spec;
    spec.kind = prior::PriorKind::Lorenz;
    return spec;
  }
  static ArchitectureOptions options(nn::EncoderKind encoder) {
    ArchitectureOptions o;
    o.encoder = encoder;
    o.state_dim = o.meas_dim = o.input_dim = 3;
    return o;
  }
  StateModel<float> model() const {
    return {&architecture, &network, &emission, map.get(), nullptr, 0.05};
  }
};

void report(benchmark::State& state, double steps, double flops) {
  const double total = static_cast<double>(state.iterations()) * steps;
  state.counters["steps/s"] = benchmark::Counter(total, benchmark::Counter::kIsRate);
  state.counters["FLOP/s"] = benchmark::Counter(total * flops, benchmark::Counter::kIsRate);
}

void train_window(benchmark::State& state, nn::EncoderKind encoder) {
  const int lanes = static_cast<int>(state.range(0));
  LorenzFilter filter(lanes, encoder);
  StateWorkspace<float> workspace;
  workspace.prepare(filter.model(), kSteps, lanes, true);
  for (auto _ : state) {
    engine::window_forward(filter.model(), filter.group.view(), filter.group.carry, {}, workspace);
    engine::window_backward(filter.model(), filter.group.view(), 1e-4, workspace);
    benchmark::DoNotOptimize(workspace.gradient.data());
  }
  report(state, kSteps * lanes, 3 * filter.architecture.network_flops());
}
BENCHMARK_CAPTURE(train_window, gru, nn::EncoderKind::Gru)->Arg(16)->Arg(32)->Arg(64);
BENCHMARK_CAPTURE(train_window, lstm, nn::EncoderKind::Lstm)->Arg(32);
BENCHMARK_CAPTURE(train_window, conv, nn::EncoderKind::Conv)->Arg(32);
BENCHMARK_CAPTURE(train_window, transformer, nn::EncoderKind::Transformer)->Arg(32);
BENCHMARK_CAPTURE(train_window, tcn, nn::EncoderKind::Tcn)->Arg(32);

void filter_window(benchmark::State& state) {
  const int lanes = static_cast<int>(state.range(0));
  LorenzFilter filter(lanes);
  StateWorkspace<float> workspace;
  workspace.prepare(filter.model(), kSteps, lanes, false);
  for (auto _ : state)
    benchmark::DoNotOptimize(engine::window_forward(filter.model(), filter.group.view(),
                                                    filter.group.carry, {}, workspace));
  report(state, kSteps * lanes, filter.architecture.network_flops());
}
BENCHMARK(filter_window)->Arg(16)->Arg(32)->Arg(64);

void stream_step(benchmark::State& state) {
  LorenzFilter filter(16);
  StateStream<float> stream(filter.model(), filter.parameters.span());
  StreamState<float> sequence = stream.start();
  const double y[] = {0.3, -0.2, 0.1};
  sequence.features = {0.3f, -0.2f, 0.1f};
  for (auto _ : state) benchmark::DoNotOptimize(stream.step(sequence, y));
  report(state, 1, filter.architecture.network_flops());
}
BENCHMARK(stream_step);

}  // namespace
}  // namespace kalmia::heads
