// kalmia forecast: the steps after the end of each series.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "command.hpp"
#include "estimate.hpp"
#include "kalmia/error.hpp"
#include "output.hpp"

namespace kalmia::cli {
namespace {

// The rows of future inputs: columns as in `data`, of which the inputs alone are read.
Dataset read_future(const std::string& path, DataOptions columns, const Dataset& data) {
  columns.measure = data.u_names;
  columns.inputs.clear();
  columns.noise_columns.clear();
  Dataset future = read_dataset(path, columns);
  future.u_names = std::move(future.y_names);
  future.y_names.clear();
  for (Series& series : future.series) {
    series.u = std::move(series.y);
    series.y.clear();
  }
  return future;
}

}  // namespace

void run_forecast(const Arguments& arguments) {
  Parser parser(
      "forecast",
      "Continues each series after its last row, measured or not, with the uncertainty growing as\n"
      "it should. Writes what is measured under the names of its columns, then the states of your\n"
      "own equations, each with its standard deviation (<name>_std).",
      "kalmia forecast lorenz.kalmia lorenz.csv --horizon 20 -o ahead.csv\n"
      "kalmia forecast lorenz.kalmia lorenz.csv --horizon 3 --measurements");
  EstimateCommand command;
  command.ahead = true;
  int horizon = 10;
  std::string future_file;
  command.add_to(parser);
  command.add_measurements(parser);
  parser.value("--horizon", "steps to go on", horizon);
  parser.file("--future-inputs",
              "file with the inputs of the steps to come, a row each (and their times); without it "
              "the last inputs are held",
              future_file);
  command.add_common(parser);
  if (!parser.parse(arguments)) return;
  if (horizon < 1)
    throw ConfigError("--horizon = " + std::to_string(horizon) + ", but it must be >= 1");
  command.run([&](const Model& model, const Dataset& data) {
    if (model.input_names().empty() && !future_file.empty())
      throw ConfigError("--future-inputs = " + future_file + ", but the model has no inputs");
    std::optional<Dataset> future;
    if (!future_file.empty())
      future = read_future(future_file, data_options(model, command.columns, false), data);
    if (!model.input_names().empty()) command.inputs = future ? "given" : "held";
    // The inputs of the last row act during the first step as it is.
    if (command.inputs == "held" && horizon > 1 && !command.common.quiet)
      print_error(fmt::format(
          "kalmia forecast: the inputs ({}) are held at their last values; --future-inputs FILE "
          "gives those of the steps to come\n",
          fmt::join(data.u_names, ", ")));
    return model.forecast(data, horizon, command.common.threads, future ? &*future : nullptr);
  });
}

}  // namespace kalmia::cli
