#include "parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "base/suggest.hpp"
#include "kalmia/error.hpp"
#include "kalmia/instruction_set.hpp"
#include "output.hpp"
#include "places.hpp"

namespace kalmia::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;
constexpr std::size_t kHelpWidth = 100;

// Two columns; a long left one has a line of its own, a long right one is wrapped at spaces.
std::string two_columns(const std::string& left, std::string_view right) {
  std::string text = "  " + left;
  if (text.size() + 2 > kHelpColumn)
    text += "\n" + std::string(kHelpColumn, ' ');
  else
    text.resize(kHelpColumn, ' ');
  while (right.size() > kHelpWidth - kHelpColumn) {
    std::size_t cut = right.rfind(' ', kHelpWidth - kHelpColumn);
    if (cut == std::string_view::npos) break;
    text += std::string(right.substr(0, cut)) + "\n" + std::string(kHelpColumn, ' ');
    right.remove_prefix(cut + 1);
  }
  return text + std::string(right) + "\n";
}

std::string help_line(const Argument& argument) {
  std::string left = argument.names;
  if (const auto comma = left.find(','); comma != std::string::npos) left.insert(comma + 1, " ");
  if (!argument.value_name.empty()) left += " " + argument.value_name;
  std::string right = argument.help;
  if (!argument.default_text.empty()) right += " [" + argument.default_text + "]";
  return two_columns(left, right);
}

}  // namespace

struct Parser::Impl {
  struct Group {
    std::string title;
    std::vector<Argument> arguments;
  };

  std::string command;
  std::string description;
  std::string examples;
  CLI::App app;
  std::string usage;
  std::vector<Argument> positionals;
  std::vector<Group> groups;
  std::vector<std::string> long_names;
  bool help = false;

  std::string help_text() const {
    std::string text = description + "\n\nusage: kalmia " + command + usage + " [options]\n";
    if (!positionals.empty()) text += '\n';
    for (const Argument& argument : positionals) text += help_line(argument);
    for (const Group& group : groups) {
      text += "\n" + group.title + ":\n";
      for (const Argument& argument : group.arguments) text += help_line(argument);
    }
    text += "\nExamples:\n";
    for (std::size_t begin = 0; begin < examples.size();) {
      const std::size_t end = std::min(examples.find('\n', begin), examples.size());
      text += "  " + examples.substr(begin, end - begin) + "\n";
      begin = end + 1;
    }
    return text;
  }

  void remember(const Argument& argument) {
    if (groups.empty()) groups.push_back({"Options", {}});
    groups.back().arguments.push_back(argument);
    const std::size_t dashes = argument.names.find("--");
    if (dashes != std::string::npos) long_names.push_back(argument.names.substr(dashes));
  }

  // The parser's complaint in our words; an unknown option explains most others, so it goes first.
  std::string complaint(const CLI::ParseError& error) const {
    const std::vector<std::string> rest = app.remaining();
    const auto option = std::find_if(rest.begin(), rest.end(), [](const std::string& text) {
      return text.size() > 1 && text.starts_with('-');
    });
    const std::string see = fmt::format(" (kalmia {} --help lists the options)", command);
    if (option != rest.end()) {
      const std::string name = option->substr(0, option->find('='));
      return "unknown option " + name + did_you_mean(name, long_names) + see;
    }
    const std::string how = fmt::format("; usage: kalmia {}{} [options]", command, usage);
    if (dynamic_cast<const CLI::ExtrasError*>(&error) && !rest.empty())
      return fmt::format("\"{}\" is one argument too many", rest.front()) + how;
    if (dynamic_cast<const CLI::RequiredError*>(&error)) return error.what() + how;
    const std::string text = error.what();
    // "--window: 1 required N missing"
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && text.ends_with("missing"))
      return text.substr(0, text.find(':')) + " needs a value" + see;
    return text + see;
  }
};

Parser::Parser(std::string_view command, std::string description, std::string examples)
    : impl_(std::make_unique<Impl>()) {
  impl_->command = command;
  impl_->description = std::move(description);
  impl_->examples = std::move(examples);
  impl_->app.set_help_flag("");
}

Parser::~Parser() = default;

void Parser::group(std::string title) { impl_->groups.push_back({std::move(title), {}}); }

void Parser::positional(const char* name, const char* help, std::string& value, bool required) {
  impl_->app.add_option(name, value)->required(required);
  impl_->positionals.push_back({name, "", help, ""});
  impl_->usage += required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
}

void Parser::flag(const char* names, const char* help, bool& value) {
  impl_->app.add_flag(names, value);
  impl_->remember({names, "", help, ""});
}

void Parser::switch_off(const std::string& name, const char* help, bool& on, bool& off) {
  const std::string opposite = "--no-" + name.substr(2);
  impl_->app.add_flag(name, on);
  impl_->app.add_flag(opposite, off);
  impl_->remember({name + "," + opposite, "", help, "on"});
  impl_->long_names.back() = name;
  impl_->long_names.push_back(opposite);
}

void Parser::option(const Argument& argument, Take take) {
  impl_->app
      .add_option(argument.names,
                  [take = std::move(take)](const CLI::results_t& texts) {
                    take(texts);
                    return true;
                  })
      ->type_size(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  impl_->remember(argument);
}

bool Parser::parse(const Arguments& arguments) {
  impl_->app.add_flag("-h,--help", impl_->help);
  impl_->remember({"-h,--help", "", "this text", ""});
  // Help is wanted however wrong the rest is.
  const auto values = std::find(arguments.begin(), arguments.end(), "--");
  if (std::find(arguments.begin(), values, "--help") != values ||
      std::find(arguments.begin(), values, "-h") != values) {
    print(impl_->help_text());
    return false;
  }
  try {
    // The parser takes its arguments from the end.
    impl_->app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    throw ConfigError(impl_->complaint(error));
  }
  return true;
}

std::string with_rule(const std::string& help, const Range& range) {
  const bool any = range.least == -Range::kNoEnd && range.largest == Range::kNoEnd;
  Range ends = range;
  ends.remark = "";
  return any ? help : help + "; " + ends.text();
}

std::string with_rule(const std::string& help, Choices choices) {
  std::string text = help;
  const char* separator = ": ";
  for (const Choice& each : choices()) {
    text += fmt::format("{}{}", separator, each.name);
    if (!each.meaning.empty()) text += fmt::format(" ({})", each.meaning);
    separator = " | ";
  }
  return text;
}

namespace {

// The instruction set is the process's and chosen before anything is computed, so that no command
// has to hand it on.
void choose_instruction_set(const Texts& names) {
  try {
    use_instruction_set(names.back());
  } catch (const ConfigError& e) {
    throw ConfigError(with_place(e.what(), {{"isa", "--isa"}}, ""));
  }
}

}  // namespace

void CommonOptions::add_to(Parser& parser, bool own_seed, bool own_threads) {
  parser.group("Common to all commands");
  parser.flag("--json", "print the result as JSON", json);
  parser.flag("-q,--quiet", "print nothing but results asked for and errors", quiet);
  if (!own_seed) parser.value("--seed", "seed of what is random, if anything is", seed);
  if (!own_threads) parser.value("--threads", "threads; 0: all the machine has", threads);
  parser.option({"--isa", "NAME",
                 "instruction set: avx512, avx2 or portable; default: the first of them that this "
                 "machine has",
                 ""},
                choose_instruction_set);
}

}  // namespace kalmia::cli
