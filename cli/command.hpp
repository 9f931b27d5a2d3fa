/// \file
/// The commands of the program, one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia::cli {

/// What follows the command's name on the command line.
using Arguments = std::vector<std::string>;

/// A command. Its function throws on failure; the exit code follows from the exception.
struct Command {
  std::string_view group;
  std::string_view name;
  std::string_view summary;  ///< one line
  void (*run)(const Arguments&);
};

/// All of them, in the order they are listed to users.
std::span<const Command> commands();
/// What `kalmia --help` prints.
std::string overview();

void run_simulate(const Arguments& arguments);
void run_fit(const Arguments& arguments);
void run_filter(const Arguments& arguments);
void run_smooth(const Arguments& arguments);
void run_forecast(const Arguments& arguments);
void run_sample(const Arguments& arguments);
void run_evaluate(const Arguments& arguments);
void run_stream(const Arguments& arguments);
void run_denoise(const Arguments& arguments);
void run_info(const Arguments& arguments);
void run_bench(const Arguments& arguments);
void run_reproduce(const Arguments& arguments);
/// `reproduce audio`, what follows these two.
void run_reproduce_audio(const Arguments& arguments);

}  // namespace kalmia::cli
