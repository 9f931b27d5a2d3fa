// kalmia sample: trajectories that the measurements allow.
#include "command.hpp"
#include "estimate.hpp"
#include "kalmia/error.hpp"

namespace kalmia::cli {

void run_sample(const Arguments& arguments) {
  Parser parser(
      "sample",
      "Draws whole trajectories from what the measurements leave possible. Series `a` gives\n"
      "`a#1`, `a#2`, ... in the key column. Columns are those of filter and smooth.",
      "kalmia sample lorenz.kalmia lorenz.csv --count 5 -o paths.csv\n"
      "kalmia sample lorenz.kalmia lorenz.csv --count 2 --seed 3 | head -3");
  EstimateCommand command;
  int count = 10;
  command.add_to(parser);
  parser.value("--count", "trajectories of each series", count);
  command.add_common(parser);
  if (!parser.parse(arguments)) return;
  if (count < 1) throw ConfigError("--count = " + std::to_string(count) + ", but it must be >= 1");
  command.run([&](const Model& model, const Dataset& data) {
    return model.sample(data, count, command.common.seed, command.common.threads);
  });
}

}  // namespace kalmia::cli
