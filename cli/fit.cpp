// kalmia fit: learns a model.
#include "kalmia/fit.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "config.hpp"
#include "interrupt.hpp"
#include "kalmia/error.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kDescription =
    "Learns a model from noisy measurements alone, and says how it went. DATA is a file of series\n"
    "(.csv, .npy, .npz, .wav, .flac, .jsonl; - is CSV from standard input), or a configuration\n"
    "(.toml) with the tables data, model and train, whose keys are the options below with _ in "
    "place\n"
    "of -, data.file and output; options on the command line override it. Truth in the file is\n"
    "never read. Ctrl-C ends the training and keeps the best model so far.";

constexpr const char* kExamples =
    "kalmia simulate lorenz --steps 2000 -o lorenz.csv\n"
    "kalmia fit lorenz.csv -o lorenz.kalmia\n"
    "kalmia fit lorenz.csv --prior constant-velocity --noise 0.5 --hidden 32 -o lorenz.kalmia";

struct FitCommand {
  std::string input;
  std::string output;
  FieldOptions<DataOptions> data;
  FieldOptions<ModelOptions> model;
  FieldOptions<TrainOptions> train;
  CommonOptions common;

  bool parse(const Arguments& arguments) {
    Parser parser("fit", kDescription, kExamples);
    parser.positional("DATA", "file of measurements, or configuration (.toml)", input);
    parser.file("-o,--output",
                "where the model goes (required here, or as output in the configuration)", output);
    parser.group("Columns of the file");
    data.add_to(parser);
    parser.group("Model");
    model.add_to(parser);
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
    train.apply_to(config.fit.train);
    if (!output.empty()) config.output = output;
    return config;
  }
};

void check(const FitCommand& command, const FitConfig& config) {
  if (config.output.empty())
    throw ConfigError(
        "no place for the model; give -o MODEL.kalmia, or output in the configuration");
  if (config.output == "-") throw ConfigError("-o -: a model is a binary file; give it a name");
  try {
    config.fit.validate();
  } catch (const ConfigError& e) {
    if (!is_config(command.input)) throw;
    throw ConfigError(fmt::format("{}: {}", command.input, e.what()));
  }
  check_output(config.output, {command.input, config.file});
}

FitResult train(const FitConfig& config, const Dataset& dataset, bool quiet) {
  const InterruptGuard guard;
  Progress progress(quiet);
  return fit(dataset, config.fit, config.data, [&progress](const FitProgress& state) {
    progress.show(state);
    return !InterruptGuard::interrupted();
  });
}

}  // namespace

void run_fit(const Arguments& arguments) {
  FitCommand command;
  if (!command.parse(arguments)) return;
  const FitConfig config = command.config();
  check(command, config);
  const Dataset dataset = read_dataset(config.file, config.data);
  const FitResult result = train(config, dataset, command.common.quiet);
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
