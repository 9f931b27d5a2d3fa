#include "estimate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kalmia/error.hpp"
#include "kalmia/text.hpp"
#include "output.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

std::size_t total_steps(const Estimates& estimates) {
  std::size_t steps = 0;
  for (const StateEstimates& series : estimates.series)
    steps += static_cast<std::size_t>(series.steps);
  return steps;
}

void report(const EstimateCommand& command, const Estimates& estimates) {
  if (command.common.json) {
    Json json = {{"output", command.output},
                 {"series", estimates.series.size()},
                 {"steps", total_steps(estimates)},
                 {"columns", estimates.state_names},
                 {"measured_values", estimates.measured_values},
                 {"log_likelihood", estimates.log_likelihood}};
    if (!command.inputs.empty()) json["inputs"] = command.inputs;
    print_json(json);
  } else if (!command.common.quiet && command.output != "-") {
    print(printable(fmt::format("{}: {} steps in {} series; columns {}", command.output,
                                total_steps(estimates), estimates.series.size(),
                                fmt::join(estimates.state_names, ", "))) +
          "\n");
  }
}

}  // namespace

void EstimateCommand::add_to(Parser& parser) {
  parser.positional("MODEL", "model file made by kalmia fit", model);
  parser.positional("DATA", "file of measurements; - is CSV from standard input", data);
  parser.file("-o,--output", "where the estimates go; - or nothing: CSV to standard output",
              output);
  parser.flag("--all-states",
              "list every state of the model after what is measured; without it, those of your own "
              "equations alone",
              list.all_states);
  parser.flag("--parts",
              "list what each part of the prior adds to each channel, as <channel>:<part>: trend, "
              "season and so on, which add up to what is measured",
              list.parts);
}

void EstimateCommand::add_measurements(Parser& parser) {
  parser.flag("--measurements",
              "predict measurements: the bars of the measured columns hold their noise as well",
              list.measurements);
}

void EstimateCommand::add_common(Parser& parser) {
  parser.group("Columns of the file (as at the fit, unless given)");
  columns.add_to(parser);
  common.add_to(parser);
}

void EstimateCommand::run(const Estimator& estimate) const {
  if (common.json && output == "-")
    throw ConfigError("--json needs -o FILE for the estimates: standard output cannot hold both");
  if (columns.given("truth"))
    throw ConfigError("--truth has no effect: only evaluate reads the truth; leave it out");
  check_output(output, {model, data});
  check_output_name(output);
  const Model loaded = Model::load(model);
  const Dataset dataset = read_dataset(data, data_options(loaded, columns, false));
  const Listing listing(loaded, list);
  const Estimates states = estimate(loaded, dataset);
  // The steps of a forecast are none of the data's, whose rows may say how noisy they are.
  const bool of_rows = list.measurements && !ahead;
  const Estimates estimates = listing.of(states, of_rows ? &dataset : nullptr);
  write_estimates(output, estimates);
  report(*this, estimates);
}

void refuse_idle_iterations(const Model& model, int iterations) {
  if (iterations > 0 && !model.gains_by_iterations())
    throw ConfigError(fmt::format(
        "--iterations = {} has no effect: the model is linear, so that one pass is exact; leave "
        "it out",
        iterations));
}

DataOptions data_options(const Model& model, const FieldOptions<DataOptions>& given,
                         bool needs_truth) {
  DataOptions options = model.data_options();
  // Files without the truth of the fit can still be filtered.
  if (!needs_truth) options.truth.clear();
  given.apply_to(options);
  return options;
}

}  // namespace kalmia::cli
