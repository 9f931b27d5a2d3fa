/// \file
/// The command line of one command.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "command.hpp"
#include "kalmia/error.hpp"
#include "kalmia/option_rules.hpp"
#include "values.hpp"

namespace kalmia::cli {

/// What a help text says about one argument.
struct Argument {
  std::string names;         ///< "MODEL", "--json" or "-o,--output"
  std::string value_name;    ///< "FILE"; empty for switches
  std::string help;          ///< what it means
  std::string default_text;  ///< empty: none, or said in the help
};

/// Reads the arguments of a command and prints its help. Options appear in the help under the last
/// `group`, in the order they were added.
class Parser {
 public:
  using Take = std::function<void(const Texts&)>;

  /// `examples`: lines that can be run as they are.
  Parser(std::string_view command, std::string description, std::string examples);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void group(std::string title);
  void positional(const char* name, const char* help, std::string& value, bool required = true);
  void flag(const char* names, const char* help, bool& value);
  /// A switch that is on unless its opposite, --no-..., is given. `name`: "--calibrate".
  void switch_off(const std::string& name, const char* help, bool& on, bool& off);
  /// An option with a value; `take` is called once with all that was given for it.
  void option(const Argument& argument, Take take);

  template <typename T>
  void value(const char* name, const char* help, T& value) {
    option({name, std::string(value_name(value)), help, value_text(value)},
           [&value, name](const Texts& texts) { read_value(name, texts, value); });
  }
  /// An option that takes a file name.
  void file(const char* names, const char* help, std::string& value) {
    option({names, "FILE", help, ""}, [&value](const Texts& texts) { value = texts.back(); });
  }

  /// False if help was asked for and printed. Throws ConfigError for arguments that do not fit.
  [[nodiscard]] bool parse(const Arguments& arguments);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The help of an option with the rule of its values behind it: "networks; in 1..64" (without the
/// remark of a range), "what reads the measurements: gru (the paper's) | lstm".
inline std::string with_rule(const std::string& help) { return help; }
std::string with_rule(const std::string& help, const Range& range);
std::string with_rule(const std::string& help, Choices choices);

/// One option of the command line for each field of an options struct (its `visit_fields` list).
template <typename Options>
class FieldOptions {
 public:
  /// Must outlive the parsing.
  void add_to(Parser& parser) {
    Options defaults;
    visit_fields(defaults,
                 [&](const char* field, const auto& value, const char* help, const auto&... rule) {
                   const std::string name = option_name(field);
                   if constexpr (std::is_same_v<decltype(value), const bool&>) {
                     // A switch: given or not.
                     if (value)
                       parser.switch_off(name, help, switches_[field], opposites_[field]);
                     else
                       parser.flag(name.c_str(), help, switches_[field]);
                   } else {
                     add_value(parser, name, field, value, with_rule(help, rule...));
                   }
                 });
  }

  /// Sets the fields whose options were given.
  void apply_to(Options& options) const {
    visit_fields(options, [&](const char* field, auto& value, const char*, const auto&...) {
      if constexpr (std::is_same_v<decltype(value), bool&>) {
        const bool on = is_set(switches_, field), off = is_set(opposites_, field);
        if (on && off)
          throw ConfigError(option_name(field) + " and its opposite; leave one of them out");
        value = (value || on) && !off;
      } else if (const auto found = given_.find(field); found != given_.end()) {
        read_value(option_name(field), found->second, value);
      }
    });
  }

  Options values() const {
    Options options;
    apply_to(options);
    return options;
  }

  bool given(const std::string& field) const {
    return given_.contains(field) || is_set(switches_, field) || is_set(opposites_, field);
  }

 private:
  static bool is_set(const std::map<std::string, bool>& switches, const std::string& field) {
    const auto found = switches.find(field);
    return found != switches.end() && found->second;
  }

  template <typename T>
  void add_value(Parser& parser, const std::string& name, const char* field, const T& value,
                 const std::string& help) {
    // Fields whose default is not a constant say so in their help.
    const bool told = help.find("default:") != std::string::npos;
    parser.option({name, std::string(value_name(value)), help, told ? "" : value_text(value)},
                  [this, name, field = std::string(field), value](const Texts& texts) {
                    // Wrong values are refused now, right ones kept until they are applied.
                    auto checked = value;
                    read_value(name, texts, checked);
                    given_[field] = texts;
                  });
  }

  std::map<std::string, Texts> given_;
  std::map<std::string, bool> switches_;
  std::map<std::string, bool> opposites_;  // --no-... of those that are on by default
};

/// What every command takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int threads = 0;
  std::uint64_t seed = 1;

  /// `own_seed`, `own_threads`: the command's options have a field of that name already.
  void add_to(Parser& parser, bool own_seed = false, bool own_threads = false);
};

}  // namespace kalmia::cli
