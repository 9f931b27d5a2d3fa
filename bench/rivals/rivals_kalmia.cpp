// Kalmia's side of the rivals' comparison: runs the case in a directory and writes its speed and
// its results there. README.md says what the files are; run.py calls this program.
//
//   rivals_kalmia CASE_DIRECTORY [SECONDS]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "engine/batch.hpp"
#include "heads/state_stream.hpp"
#include "kalmia/classical.hpp"
#include "nn/adam.hpp"
#include "prior/expert.hpp"

namespace {

using kalmia::Buffer;
using nlohmann::json;
namespace engine = kalmia::engine;
namespace heads = kalmia::heads;
namespace prior = kalmia::prior;
using Path = std::filesystem::path;

template <typename T>
std::vector<T> read_array(const Path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<T> values(std::filesystem::file_size(path) / sizeof(T));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  return values;
}

template <typename Container>
void write_array(const Path& path, const Container& values) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(*values.data())));
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

// Repeats `work` until `seconds` have passed and returns repetitions per second, best of 5 parts:
// the machine may be busy with something else in one of them.
template <typename Work>
double rate_of(double seconds, const Work& work) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int part = 0; part < 5; ++part) {
    const auto start = Clock::now();
    int count = 0;
    double elapsed = 0;
    do {
      work();
      ++count;
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    } while (elapsed < seconds / 5);
    best = std::max(best, count / elapsed);
  }
  return best;
}

// The case's map as equations, with the constants of the case: a map as users' programs run it.
std::shared_ptr<const kalmia::kalman::TransitionMap> map_of(const json& map) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::System;
  kalmia::System& system = spec.system;
  if (map.at("kind") == "lorenz") {
    system.states = {"x1", "x2", "x3"};
    for (const char* name : {"sigma", "rho", "beta"})
      system.define.push_back({name, map.at(name).dump()});
    system.matrix = {{"-sigma", "sigma", "0"}, {"rho - x3", "-1", "0"}, {"x2", "0", "-beta"}};
    system.integration.order = map.at("order");
  } else {
    const json& F = map.at("F");
    std::size_t n = 0;
    while (n * n < F.size()) system.states.push_back(std::string("x").append(std::to_string(++n)));
    for (std::size_t i = 0; i < n; ++i) {
      std::string sum = "0";
      for (std::size_t j = 0; j < n; ++j)
        if (F[i * n + j] != 0)
          sum.append(" + (").append(F[i * n + j].dump()).append(")*").append(system.states[j]);
      system.next.push_back({system.states[i], sum});
    }
  }
  return prior::make_expert(spec, system.states).map;
}

// The learned filter of a case, with its data in lane groups.
struct LearnedCase {
  json spec;
  int batch, steps, N, M;
  std::vector<double> y;  // [batch][time][M]
  heads::Architecture architecture;
  kalmia::kalman::Emission emission;
  std::shared_ptr<const kalmia::kalman::TransitionMap> map;
  Buffer<float> parameters;
  heads::PackedModel<float> network;
  kalmia::ThreadTeam team;
  std::vector<heads::StateGroup<float>> groups;

  LearnedCase(const json& given, const Path& directory)
      : spec(given),
        batch(given.value("batch", 1)),
        steps(given.at("window")),
        N(given.at("state_dim")),
        M(given.at("meas_dim")),
        y(read_array<double>(directory / "y.bin")),
        architecture(options_of(given)),
        emission(N, M, given.at("H").get<std::vector<double>>(),
                 given.at("R").get<std::vector<double>>()),
        map(map_of(given.at("map"))),
        team(given.value("threads", 2)) {
    const auto values = read_array<float>(directory / "params.bin");
    if (static_cast<std::ptrdiff_t>(values.size()) != architecture.parameters.size())
      throw std::runtime_error("params.bin does not fit the model");
    parameters.resize(values.size());
    std::copy(values.begin(), values.end(), parameters.data());
    network.pack(architecture, parameters.data());
    fill_groups();
  }

  heads::StateModel<float> window_model() const {
    return {&architecture, &network, &emission,
            map.get(),     nullptr,  spec.at("map").value("dt", 1.0)};
  }
  std::size_t at(int sequence, int k) const {
    return static_cast<std::size_t>((sequence * steps + k) * M);
  }
  double flops() const { return architecture.network_flops(); }

 private:
  static heads::ArchitectureOptions options_of(const json& given) {
    heads::ArchitectureOptions options;
    options.state_dim = given.at("state_dim");
    options.meas_dim = given.at("meas_dim");
    options.input_dim = options.meas_dim;
    options.hidden = given.at("hidden");
    options.decoder = {given.at("decoder_hidden").get<int>()};
    return options;
  }

  void fill_groups() {
    const int lanes = std::min(engine::kGroupLanes, kalmia::lanes::padded_lanes(batch));
    for (int first = 0; first < batch; first += lanes) {
      heads::StateGroup<float>& group = groups.emplace_back();
      group.resize(architecture, steps, lanes);
      if (first + lanes > batch) group.length.assign(static_cast<std::size_t>(lanes), 0);
      for (int lane = 0; lane < lanes && first + lane < batch; ++lane) {
        if (!group.length.empty()) group.length[static_cast<std::size_t>(lane)] = steps;
        for (int k = 0; k < steps; ++k)
          for (int m = 0; m < M; ++m) {
            const double value = y[at(first + lane, k) + static_cast<std::size_t>(m)];
            group.y[static_cast<std::size_t>((k * M + m) * lanes + lane)] = value;
            if (k + 1 < steps)
              group.input_fwd[static_cast<std::size_t>(((k + 1) * M + m) * lanes + lane)] =
                  static_cast<float>(value);
          }
      }
    }
  }
};

json run_train(const json& spec, const Path& directory, double seconds) {
  LearnedCase c(spec, directory);
  const double scale = 1.0 / (static_cast<double>(c.batch) * c.steps);
  engine::BatchEngine<heads::StateGroup<float>> engine(c.window_model(), c.team, c.steps,
                                                       c.groups[0].lanes, true);
  Buffer<float> gradient(c.parameters.size());
  const engine::BatchResult first = engine.gradient(c.groups, scale, gradient.span());
  write_array(directory / "grads.bin", gradient);

  kalmia::nn::AdamOptions options;
  options.learning_rate = spec.at("learning_rate");
  options.clip_norm = spec.at("clip");
  kalmia::nn::Adam<float> adam(c.architecture.parameters.size(), options);
  const double rate = rate_of(seconds, [&] {
    engine.gradient(c.groups, scale, gradient.span());
    adam.step(gradient.span(), c.parameters.span());
    c.network.pack(c.architecture, c.parameters.data());
  });
  const double steps_per_s = rate * c.batch * c.steps;
  return {{"steps_per_s", steps_per_s},
          {"loss", first.nll * scale},
          {"gflops", steps_per_s * 3 * c.flops() * 1e-9}};
}

json run_infer(const json& spec, const Path& directory, double seconds) {
  LearnedCase c(spec, directory);
  const int N = c.N, lanes = c.groups[0].lanes;
  engine::BatchEngine<heads::StateGroup<float>> engine(c.window_model(), c.team, c.steps, lanes,
                                                       false);
  std::vector<Buffer<double>> means(c.groups.size()), covs(c.groups.size());
  std::vector<heads::StateMoments> moments(c.groups.size());
  for (std::size_t g = 0; g < c.groups.size(); ++g) {
    means[g].resize(static_cast<std::size_t>(c.steps * N * lanes));
    covs[g].resize(static_cast<std::size_t>(c.steps * N * N * lanes));
    moments[g].x_filt = means[g].data();
    moments[g].P_filt = covs[g].data();
  }
  const engine::BatchResult first = engine.forward(c.groups, moments);
  const auto in_order = [&](const std::vector<Buffer<double>>& panels, int rows) {
    std::vector<double> out;
    out.reserve(static_cast<std::size_t>(c.batch) * static_cast<std::size_t>(c.steps * rows));
    for (int s = 0; s < c.batch; ++s)
      for (int i = 0; i < c.steps * rows; ++i)
        out.push_back(panels[static_cast<std::size_t>(s / lanes)]
                            [static_cast<std::size_t>(i * lanes + s % lanes)]);
    return out;
  };
  write_array(directory / "means.bin", in_order(means, N));
  write_array(directory / "covs.bin", in_order(covs, N * N));
  const double rate = rate_of(seconds, [&] { engine.forward(c.groups, moments); });
  const double steps_per_s = rate * c.batch * c.steps;
  return {{"steps_per_s", steps_per_s},
          {"loss", first.nll / (static_cast<double>(c.batch) * c.steps)},
          {"gflops", steps_per_s * c.flops() * 1e-9}};
}

json run_stream(const json& spec, const Path& directory, double seconds) {
  LearnedCase c(spec, directory);
  heads::StateStream<float> stream(c.window_model(), c.parameters.span());
  heads::StreamState<float> state;
  const auto run = [&] {
    state = stream.start();
    for (int k = 0; k < c.steps; ++k) {
      const std::span<const double> y(c.y.data() + c.at(0, k), static_cast<std::size_t>(c.M));
      stream.step(state, y);
      std::copy(y.begin(), y.end(), state.features.begin());
    }
  };
  run();
  write_array(directory / "means.bin", state.x);
  write_array(directory / "covs.bin", state.P);
  const double steps_per_s = rate_of(seconds, run) * c.steps;
  return {{"steps_per_s", steps_per_s}, {"us_per_step", 1e6 / steps_per_s}};
}

json run_classical(const json& spec, const Path& directory, double seconds) {
  const auto numbers = [&](const char* name) { return spec.at(name).get<std::vector<double>>(); };
  kalmia::LinearModel linear;
  linear.state_dim = spec.at("state_dim");
  linear.meas_dim = spec.at("meas_dim");
  linear.F = numbers("F");
  linear.Q = numbers("Q");
  linear.H = numbers("H");
  linear.R = numbers("R");
  linear.x0 = numbers("x0");
  linear.P0 = numbers("P0");
  const auto y = read_array<double>(directory / "y.bin");
  kalmia::MeasurementsView view;
  view.data = y.data();
  view.series = spec.at("series");
  view.steps = spec.at("steps");
  view.meas_dim = linear.meas_dim;
  kalmia::FilterOptions options;  // what the rivals store: the filtered moments
  options.predicted = false;
  options.innovations = false;
  options.threads = spec.value("threads", 2);
  const kalmia::FilterResult first = kalmia::kalman_filter(linear, view, options);
  write_array(directory / "means.bin", first.filtered.mean);
  write_array(directory / "covs.bin", first.filtered.covariance);
  kalmia::FilterResult result;
  const double rate =
      rate_of(seconds, [&] { kalmia::kalman_filter(linear, view, options, result); });
  return {{"steps_per_s", rate * view.series * view.steps},
          {"log_likelihood", first.log_likelihood}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s CASE_DIRECTORY [SECONDS]\n", argv[0]);
    return 2;
  }
  try {
    const Path directory = argv[1];
    const double seconds = argc > 2 ? std::stod(argv[2]) : 2.0;
    const json spec = json::parse(std::ifstream(directory / "case.json"));
    const std::string kind = spec.at("kind");
    json result;
    if (kind == "train")
      result = run_train(spec, directory, seconds);
    else if (kind == "infer")
      result = run_infer(spec, directory, seconds);
    else if (kind == "stream")
      result = run_stream(spec, directory, seconds);
    else if (kind == "kf")
      result = run_classical(spec, directory, seconds);
    else
      throw std::runtime_error("case.json: kind = \"" + kind +
                               "\", but it must be train, infer, stream or kf");
    std::ofstream(directory / "result.json") << result.dump(1) << "\n";
    std::printf("%.0f steps/s\n", result.at("steps_per_s").get<double>());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rivals_kalmia: %s\n", error.what());
    return 1;
  }
}
