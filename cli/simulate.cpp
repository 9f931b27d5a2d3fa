// kalmia simulate: data of systems with known truth, or a file spoilt.
#include "kalmia/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.hpp"
#include "command.hpp"
#include "kalmia/error.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kSimulateDescription =
    "Simulates a system with known truth and writes measurements, truth and time; or, as the "
    "system\n"
    "`replay`, takes an existing file as the truth. Either way the measurements can then be "
    "spoilt.";

constexpr const char* kSimulateExamples =
    "kalmia simulate --list\n"
    "kalmia simulate lorenz --steps 2000 --seed 7 -o lorenz.csv\n"
    "kalmia simulate lorenz --series 8 --steps 500 --missing 0.1 --missing-run 5 -o gaps.npz\n"
    "kalmia simulate replay --from lorenz.csv --add-noise 2 --missing 0.1 -o spoilt.csv";

constexpr const char* kReplay = "replay";

struct SimulateCommand {
  std::string system;
  std::string output = "-";
  std::string from;
  bool list = false;
  FieldOptions<SimulateOptions> simulate;
  FieldOptions<SpoilOptions> spoil;
  FieldOptions<DataOptions> data;
  CommonOptions common;

  bool parse(const Arguments& arguments) {
    Parser parser("simulate", kSimulateDescription, kSimulateExamples);
    parser.positional("SYSTEM", "name of the system (--list shows them), or replay", system, false);
    parser.file("-o,--output", "where the data go; - or nothing: CSV to standard output", output);
    parser.flag("--list", "list the systems", list);
    parser.group("Simulation");
    simulate.add_to(parser);
    parser.group("Spoiling");
    spoil.add_to(parser);
    parser.group("Replay");
    parser.file("--from", "file to take as the truth", from);
    data.add_to(parser);
    common.add_to(parser, true);
    return parser.parse(arguments);
  }
};

void print_systems(bool json) {
  Json result = Json::array();
  std::string text;
  for (const SystemInfo& system : simulated_systems()) {
    result.push_back({{"name", system.name}, {"description", system.description}});
    text += fmt::format("{:<20} {}\n", system.name, system.description);
  }
  text += fmt::format("{:<20} an existing file (--from) taken as the truth\n", kReplay);
  if (json)
    print_json(result);
  else
    print(text);
}

void check_system(const std::string& name) {
  std::vector<std::string> known = {kReplay};
  for (const SystemInfo& system : simulated_systems()) known.push_back(system.name);
  if (name.empty()) throw ConfigError("SYSTEM is required (kalmia simulate --list shows them)");
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw ConfigError("unknown system " + name + did_you_mean(name, known) +
                      " (kalmia simulate --list shows them)");
}

// Options of the other mode would be ignored in silence.
void check_mode(const SimulateCommand& command) {
  if (command.system == kReplay) {
    if (command.from.empty()) throw ConfigError("replay needs --from FILE, the data to replay");
    for (const char* field : {"steps", "series", "dt", "noise", "states", "measured"}) {
      if (command.simulate.given(field))
        throw ConfigError(fmt::format("{} does not go with replay, which takes the file as it is",
                                      option_name(field)));
    }
  } else {
    if (!command.from.empty()) throw ConfigError("--from goes with replay only");
    for (const char* field : {"measure", "truth", "inputs", "time", "key"}) {
      if (command.data.given(field))
        throw ConfigError(option_name(field) + " goes with replay only");
    }
  }
}

// The file's measurements are the truth of a replay, unless other columns were named.
Dataset replayed(const SimulateCommand& command) {
  Dataset data = read_dataset(command.from, command.data.values());
  if (command.data.given("truth")) return data;
  data.x_names.clear();
  for (Series& series : data.series) series.x.clear();
  return data;
}

}  // namespace

void run_simulate(const Arguments& arguments) {
  SimulateCommand command;
  if (!command.parse(arguments)) return;
  if (command.list) return print_systems(command.common.json);
  check_system(command.system);
  check_mode(command);
  if (command.common.json && command.output == "-")
    throw ConfigError("--json needs -o FILE for the data: standard output cannot hold both");
  check_output(command.output, {command.from});
  check_output_name(command.output);
  const SimulateOptions options = command.simulate.values();
  Dataset data = command.system == kReplay ? replayed(command) : simulate(command.system, options);
  spoil(data, command.spoil.values(), options.seed);
  write_dataset(command.output, data);
  if (command.common.json) {
    print_json({{"output", command.output},
                {"system", command.system},
                {"series", data.series.size()},
                {"steps", data.total_steps()},
                {"measured", data.y_names},
                {"truth", data.x_names},
                {"seed", options.seed}});
  } else if (!command.common.quiet && command.output != "-") {
    print(fmt::format("{}: {} steps in {} series\n", command.output, data.total_steps(),
                      data.series.size()));
  }
}

}  // namespace kalmia::cli
