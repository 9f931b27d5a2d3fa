// Reading a million rows of three columns, the size at which loading must not be noticed.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/random.hpp"
#include "data/csv.hpp"
#include "kalmia/data.hpp"

namespace kalmia::data {
namespace {

constexpr int kRows = 1000000;

// t with two decimals, y1 with six, y2 with all there are.
std::string text_of(bool keyed) {
  RandomStream random(5, "csv_bench");
  std::string text = keyed ? "unique_id,t,y1,y2\n" : "t,y1,y2\n";
  for (int i = 0; i < kRows; ++i) {
    char line[128];
    const int length = std::snprintf(line, sizeof(line), "%d.%02d,%.6f,%.15g\n", i / 100, i % 100,
                                     random.normal(), 10 * random.normal());
    if (keyed) text += "series" + std::to_string(i % 1000) + ",";
    text.append(line, static_cast<std::size_t>(length));
  }
  return text;
}

void count_rows(benchmark::State& state, const std::string& text) {
  state.counters["rows/s"] = benchmark::Counter(static_cast<double>(state.iterations()) * kRows,
                                                benchmark::Counter::kIsRate);
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(text.size()));
}

// Measured: 0.23 s of one core of a Xeon at 2.3 GHz.
void wide_file(benchmark::State& state) {
  const std::string text = text_of(false);
  const std::string path =
      (std::filesystem::temp_directory_path() / "kalmia_csv_bench.csv").string();
  std::ofstream(path, std::ios::binary) << text;
  for (auto _ : state) benchmark::DoNotOptimize(read_dataset(path));
  std::filesystem::remove(path);
  count_rows(state, text);
}
BENCHMARK(wide_file)->Unit(benchmark::kMillisecond);

// A thousand series whose rows are mixed: the worst case of finding the series of a row.
// Measured: 0.34 s.
void long_text_mixed(benchmark::State& state) {
  const std::string text = text_of(true);
  for (auto _ : state) benchmark::DoNotOptimize(read_csv("bench", text, {}));
  count_rows(state, text);
}
BENCHMARK(long_text_mixed)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kalmia::data
