// What `kalmia --help` prints.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "command.hpp"

namespace kalmia::cli {

std::span<const Command> commands() {
  static constexpr std::string_view kLearn = "Learn";
  static constexpr std::string_view kUse = "Use a model";
  static constexpr std::string_view kSound = "Sound";
  static constexpr std::string_view kLook = "Look and try";
  static constexpr std::array<Command, 12> kCommands = {{
      {kLearn, "fit", "learn a model from noisy measurements alone", run_fit},
      {kUse, "filter", "estimate each state from the measurements up to it", run_filter},
      {kUse, "smooth", "estimate each state from all measurements", run_smooth},
      {kUse, "forecast", "continue each series beyond its end", run_forecast},
      {kUse, "sample", "draw trajectories that the measurements allow", run_sample},
      {kUse, "stream", "filter lines from standard input, answering each at once", run_stream},
      {kSound, "denoise", "take the noise out of a recording", run_denoise},
      {kLook, "evaluate", "score a model: errors, likelihood, calibration", run_evaluate},
      {kLook, "info", "show what a model file holds", run_info},
      {kLook, "simulate", "make data of systems with known truth, or spoil a file", run_simulate},
      {kLook, "bench", "measure the speed of this machine", run_bench},
      {kLook, "reproduce", "run the paper's experiments, with its numbers beside ours",
       run_reproduce},
  }};
  return kCommands;
}

std::string overview() {
  std::string text =
      "kalmia learns to filter, smooth and forecast noisy time series from the measurements "
      "alone:\n"
      "no clean data, no hand tuning; estimates come with their uncertainty.\n"
      "\n"
      "usage: kalmia COMMAND [options]\n";
  std::string_view group;
  for (const Command& command : commands()) {
    if (command.group != group) text += fmt::format("\n{}:\n", group = command.group);
    text += fmt::format("  {:<11}{}\n", command.name, command.summary);
  }
  text +=
      "\n"
      "kalmia COMMAND --help shows the options of a command; kalmia --version the version.\n"
      "\n"
      "Example:\n"
      "  kalmia simulate lorenz --steps 2000 -o lorenz.csv\n"
      "  kalmia fit lorenz.csv -o lorenz.kalmia\n"
      "  kalmia smooth lorenz.kalmia lorenz.csv -o clean.csv\n"
      "  kalmia evaluate lorenz.kalmia lorenz.csv\n";
  return text;
}

}  // namespace kalmia::cli
