// kalmia reproduce: the paper's experiments.
#include "kalmia/reproduce.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kReproduceDescription =
    "Runs an experiment of the paper: `linear` (Sec. 8.1) or `lorenz` (Sec. 8.2). Every method\n"
    "learns from the beginning of a training trajectory, for several sizes and seeds, and is "
    "scored\n"
    "on a test trajectory. What is finished goes to a journal in the folder --out: a run that was\n"
    "stopped or killed goes on where it was. The folder then holds rows.csv, rows.json (with full\n"
    "provenance) and trajectories.csv. Complete runs take long: the time left is shown.\n"
    "`audio` (Sec. 8.3) has options of its own: kalmia reproduce audio --help.";

constexpr const char* kReproduceExamples =
    "kalmia reproduce --list\n"
    "kalmia reproduce linear --quick\n"
    "kalmia reproduce lorenz --sizes 512 --seeds 1 --methods raw,eks,flow-smoother "
    "--out some\n"
    "kalmia reproduce audio --help";

std::string default_folder(const ReproduceOptions& options) {
  return "reproduce-" + options.experiment + (options.quick ? "-quick" : "");
}

void print_methods(bool json) {
  Json result = Json::object();
  std::string text;
  std::size_t width = 0;
  for (const char* experiment : {"linear", "lorenz"})
    for (const ReproduceMethod& method : reproduce_methods(experiment))
      width = std::max(width, method.name.size());
  for (const char* experiment : {"linear", "lorenz"}) {
    text += fmt::format("{}:\n", experiment);
    for (const ReproduceMethod& method : reproduce_methods(experiment)) {
      result[experiment].push_back({{"name", method.name},
                                    {"description", method.description},
                                    {"self_supervised", method.self_supervised},
                                    {"smooths", method.smooths},
                                    {"in_paper", method.in_paper}});
      text += fmt::format(" {}{:<{}}  {}\n", method.self_supervised ? ' ' : '*', method.name, width,
                          method.description);
    }
  }
  text +=
      "* knows clean data, or the true parameters and noise; others may know equations, and learn "
      "from noisy data alone\n";
  if (json)
    print_json(result);
  else
    print(text);
}

}  // namespace

void run_reproduce(const Arguments& arguments) {
  if (!arguments.empty() && arguments[0] == "audio")
    return run_reproduce_audio({arguments.begin() + 1, arguments.end()});
  Parser parser("reproduce", kReproduceDescription, kReproduceExamples);
  std::string experiment;
  bool list = false;
  FieldOptions<ReproduceOptions> fields;
  CommonOptions common;
  parser.positional("EXPERIMENT", "linear, lorenz, or audio, which comes first", experiment, false);
  parser.flag("--list", "list the methods", list);
  parser.group("Experiment");
  fields.add_to(parser);
  common.add_to(parser, true, true);
  if (!parser.parse(arguments)) return;
  if (list) return print_methods(common.json);
  if (experiment.empty())
    throw ConfigError(
        "EXPERIMENT is required: linear, lorenz or audio; usage: kalmia reproduce EXPERIMENT "
        "[options]");
  if (experiment == "audio")
    throw ConfigError(
        "audio stands behind an option, but it must come first: kalmia reproduce audio [options]");
  ReproduceOptions options = fields.values();
  options.experiment = experiment;
  if (options.out.empty()) options.out = default_folder(options);
  (void)options.resolved();

  const InterruptGuard guard("stopping; what is finished is kept (Ctrl-C again ends at once)\n");
  const Reproduction result = [&] {
    Progress progress(common.quiet);
    return reproduce(options, [&progress](const ReproduceProgress& state) {
      progress.show(state);
      return !InterruptGuard::interrupted();
    });
  }();
  if (common.json)
    print(lines(result.to_json()));
  else if (!common.quiet)
    print(lines(result.to_text()) +
          fmt::format("\n{}: rows.csv, rows.json, trajectories.csv\n", options.out));
}

}  // namespace kalmia::cli
