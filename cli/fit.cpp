// kalmia fit: learns a model.
#include "kalmia/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "command.hpp"
#include "config.hpp"
#include "equation_options.hpp"
#include "interrupt.hpp"
#include "kalmia/error.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kFitDescription =
    "Learns a model from noisy measurements alone, and says how it went. DATA is a file of series\n"
    "(.csv, .npy, .npz, .wav, .flac, .jsonl; - is CSV from standard input), or a configuration\n"
    "(.toml) with the tables data, model and train, whose keys are the options below with _ in "
    "place\n"
    "of -, data.file and output, and system for equations; options on the command line override "
    "it.\n"
    "Truth in the file is never read. Ctrl-C ends the training and keeps the best model so far.";

constexpr const char* kFitExamples =
    "kalmia simulate lorenz --steps 2000 -o lorenz.csv\n"
    "kalmia fit lorenz.csv -o lorenz.kalmia\n"
    "kalmia fit lorenz.csv --prior constant-velocity --noise 0.5 --hidden 32 -o lorenz.kalmia\n"
    "kalmia simulate pendulum --steps 1000 -o swing.csv\n"
    "kalmia fit swing.csv --ode 'y1 = v' --ode 'v = -k*sin(y1)' --parameter 'k = 5 learn' -o "
    "k.kalmia";

struct FitCommand {
  std::string input;
  std::string validation;
  std::string output;
  FieldOptions<DataOptions> data;
  FieldOptions<ModelOptions> model;
  EquationOptions system;
  FieldOptions<TrainOptions> train;
  CommonOptions common;

  bool parse(const Arguments& arguments) {
    Parser parser("fit", kFitDescription, kFitExamples);
    parser.positional("DATA", "file of measurements, or configuration (.toml)", input);
    parser.file("-o,--output",
                "where the model goes (required here, or as output in the configuration)", output);
    parser.file("--validation",
                "other measurements to choose the model by, in place of --holdout; DATA are then "
                "all trained on",
                validation);
    parser.group("Columns of the file");
    data.add_to(parser);
    parser.group("Model");
    model.add_to(parser);
    system.add_to(parser);
    parser.group("Training");
    train.add_to(parser);
    common.add_to(parser, true, true);
    return parser.parse(arguments);
  }

  FitConfig config() const {
    FitConfig config;
    if (is_config(input)) {
      config = read_fit_config(input);
      if (config.file.empty())
        throw ConfigError(input + ": no data; set file in the table data: file = \"data.csv\"");
    } else {
      config.file = input;
    }
    data.apply_to(config.data);
    model.apply_to(config.fit.model);
    apply_system(config);
    train.apply_to(config.fit.train);
    visit_fields(config.fit.train, [&](const char* field, const auto&...) {
      if (train.given(field)) config.places[field] = option_name(field);
    });
    if (!validation.empty()) config.validation = validation;
    if (!output.empty()) config.output = output;
    return config;
  }

  // Options come before the file: a prior takes the place of its equations, equations that of its
  // prior.
  void apply_system(FitConfig& config) const {
    ModelOptions& options = config.fit.model;
    visit_fields(options, [&](const char* field, const auto&...) {
      if (model.given(field)) config.places[field] = option_name(field);
    });
    const bool other_prior =
        model.given("prior") && options.prior != "auto" && !takes_equations(options.prior);
    if (other_prior && system.given())
      throw ConfigError("--prior " + options.prior + " and " + system.first() +
                        ": states move by a prior or by equations; leave one of them out, or add "
                        "parts to the equations: --prior \"system + level\"");
    const bool in_file = config.places.contains("system");
    if (other_prior || (!takes_equations(options.prior) && !in_file && !system.given())) return;
    if (!takes_equations(options.prior)) options.prior = "system";
    system.apply_to(options.system, config.places);
    const IntegrationOptions given = std::exchange(options.integration, ModelOptions().integration);
    IntegrationOptions& integration = options.system.integration;
    if (model.given("flow")) integration.flow = given.flow;
    if (model.given("order")) integration.order = given.order;
    if (model.given("substeps")) integration.substeps = given.substeps;
    for (const char* field : {"flow", "order", "substeps"})
      if (model.given(field)) config.places[std::string("system.") + field] = option_name(field);
  }
};

// Every rule that is violated, with the place where the user did so.
void refuse_violations(const FitConfig& config) {
  std::string all;
  const std::vector<std::string> violations = config.fit.violations();
  const std::string separator = violations.size() > 1 ? "\n  " : "";
  // The library names options with their table, places without.
  for (const std::string& each : violations)
    all += separator + with_place(each.substr(each.find('.') + 1), config.places, "");
  if (!all.empty()) throw ConfigError((violations.size() > 1 ? "invalid options:" : "") + all);
}

// Nobody sets an option in order that nothing happens. But what an option makes idle of a file is
// what overriding it means.
void refuse_idle(const FitConfig& config) {
  std::string all;
  for (const std::string& each : config.fit.without_effect(!config.validation.empty())) {
    const std::string placed = with_place(each, config.places, "");
    if (placed.starts_with("--") || std::ranges::find(config.idle, each) != config.idle.end())
      all += (all.empty() ? "" : "\n  ") + placed;
  }
  if (!all.empty()) throw ConfigError(all);
}

void check(const FitCommand& command, const FitConfig& config) {
  if (config.output.empty())
    throw ConfigError(
        "no place for the model; give -o MODEL.kalmia, or output in the configuration");
  if (config.output == "-") throw ConfigError("-o -: a model is a binary file; give it a name");
  refuse_violations(config);
  refuse_idle(config);
  if (config.file == "-" && config.validation == "-")
    throw ConfigError("--validation -: standard input holds the data already; give it a file");
  check_output(config.output, {command.input, config.file, config.validation});
}

FitResult train(const FitCommand& command, const FitConfig& config, const Dataset& dataset) {
  const InterruptGuard guard(
      "stopping; the best model so far is kept, if there is one (Ctrl-C again ends at once)\n");
  Progress progress(command.common.quiet);
  const std::string file = is_config(command.input) ? command.input + ": " : "";
  const auto go_on = [&progress](const FitProgress& state) {
    progress.show(state);
    return !InterruptGuard::interrupted();
  };
  try {
    if (config.validation.empty()) return fit(dataset, config.fit, config.data, go_on);
    return fit(dataset, read_dataset(config.validation, config.data), config.fit, config.data,
               go_on);
  } catch (const Interrupted& e) {
    throw Interrupted(fmt::format("{}: {} is not written", e.what(), config.output));
  } catch (const ConfigError& e) {
    throw ConfigError(with_place(e.what(), config.places, file));
  } catch (const NumericalError& e) {
    if (!takes_equations(config.fit.model.prior)) throw;
    // An equation that is to blame is named by its place.
    if (const std::string placed = with_place(e.what(), config.places, ""); placed != e.what())
      throw NumericalError(placed);
    throw NumericalError(fmt::format(
        "{}{} (do the equations let the states run away? Try other starting values of parameters, "
        "bounds, or more substeps)",
        file, e.what()));
  }
}

}  // namespace

void run_fit(const Arguments& arguments) {
  FitCommand command;
  if (!command.parse(arguments)) return;
  FitConfig config = command.config();
  check(command, config);
  const Dataset dataset = read_dataset(config.file, config.data);
  add_inputs(dataset.u_names, config.fit.model.system);
  const FitResult result = train(command, config, dataset);
  {
    const InterruptDelay whole_file;
    result.model.save(config.output);
  }
  if (command.common.json) {
    print_json(with_output(result.summary.to_json(), config.output));
  } else if (!command.common.quiet) {
    print(lines(result.summary.brief()) + "model: " + config.output + "\n");
  }
}

}  // namespace kalmia::cli
