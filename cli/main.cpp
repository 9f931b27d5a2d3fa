// The program kalmia: finds the command, runs it, and turns exceptions into messages and exit
// codes.
#include <csignal>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "base/suggest.hpp"
#include "command.hpp"
#include "interrupt.hpp"
#include "kalmia/error.hpp"
#include "kalmia/version.hpp"
#include "output.hpp"

namespace kalmia::cli {
namespace {

// How the program ends.
constexpr int kSuccess = 0;
constexpr int kOther = 1;      // a file that cannot be read or written, no memory, the rest
constexpr int kUsage = 2;      // wrong options or configuration
constexpr int kData = 3;       // data or model files that cannot be used
constexpr int kNumerical = 4;  // arithmetic that broke down
constexpr int kSignal = 128;   // and the number of the signal that ended long work

const Command& find_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& command : commands()) {
    if (command.name == name) return command;
    known.emplace_back(command.name);
  }
  const bool option = name.starts_with('-');
  if (option) known = {"--help", "--version"};
  throw ConfigError((option ? "unknown option " : "unknown command ") + name +
                    did_you_mean(name, known) + " (kalmia --help lists the commands)");
}

int run(const Arguments& arguments, std::string& place) {
  if (arguments.empty()) {
    print_error(overview());
    return kUsage;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || (first == "help" && arguments.size() == 1)) {
    print(overview());
  } else if (first == "--version") {
    print(std::string("kalmia ") + kVersionText + "\n");
  } else if (first == "help") {
    const Command& command = find_command(arguments[1]);
    command.run({"--help"});
  } else {
    const Command& command = find_command(first);
    place += ' ';
    place += command.name;
    command.run({arguments.begin() + 1, arguments.end()});
  }
  return kSuccess;
}

// Work that a signal ended has the exit code that shells give such a program.
int unless_interrupted(int code) {
  const int signal = InterruptGuard::signal();
  return signal == 0 ? code : kSignal + signal;
}

int guarded_run(const Arguments& arguments) {
  std::string place = "kalmia";
  const auto failed = [&place](const char* message, int code) {
    print_error(place + ": " + message + "\n");
    return unless_interrupted(code);
  };
  try {
    return unless_interrupted(run(arguments, place));
  } catch (const ConfigError& e) {
    return failed(e.what(), kUsage);
  } catch (const DataError& e) {
    return failed(e.what(), kData);
  } catch (const NumericalError& e) {
    return failed(e.what(), kNumerical);
  } catch (const std::bad_alloc&) {
    return failed("not enough memory", kOther);
  } catch (const std::length_error&) {
    return failed("not enough memory: an array would be larger than the machine can address",
                  kOther);
  } catch (const std::exception& e) {
    return failed(e.what(), kOther);
  }
}

}  // namespace
}  // namespace kalmia::cli

int main(int argc, char** argv) {
  // A reader that has seen enough (`| head -1`) ends the program quietly, even if the parent
  // process had the signal ignored.
  std::signal(SIGPIPE, SIG_DFL);
  // A limit on the size of files is an error like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  kalmia::cli::open_standard_streams();
  return kalmia::cli::guarded_run(kalmia::cli::Arguments(argv + 1, argv + argc));
}
