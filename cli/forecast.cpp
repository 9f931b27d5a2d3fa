// kalmia forecast: the steps after the end of each series.
#include "command.hpp"
#include "estimate.hpp"
#include "kalmia/error.hpp"

namespace kalmia::cli {

void run_forecast(const Arguments& arguments) {
  Parser parser("forecast",
                "Continues each series beyond its end, with the uncertainty growing as it should.\n"
                "Writes the states with their standard deviations (<state>_std).",
                "kalmia forecast lorenz.kalmia lorenz.csv --horizon 20 -o ahead.csv\n"
                "kalmia forecast lorenz.kalmia lorenz.csv --horizon 3");
  EstimateCommand command;
  int horizon = 10;
  command.add_to(parser);
  parser.value("--horizon", "steps to go on", horizon);
  command.add_common(parser);
  if (!parser.parse(arguments)) return;
  if (horizon < 1)
    throw ConfigError("--horizon = " + std::to_string(horizon) + ", but it must be >= 1");
  command.run([&](const Model& model, const Dataset& data) {
    return model.forecast(data, horizon, command.common.threads);
  });
}

}  // namespace kalmia::cli
