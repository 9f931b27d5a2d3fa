// kalmia stream: filters lines from standard input, answering each at once.
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "command.hpp"
#include "kalmia/error.hpp"
#include "kalmia/model.hpp"
#include "line_reader.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "state_store.hpp"
#include "stream_answers.hpp"
#include "stream_line.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kStreamDescription =
    "Filters lines from standard input, v1,v2,... (commas or spaces; empty or NaN: missing; no "
    "header,\n"
    "no time column): the measured values, then the inputs, then, if the model was fitted with\n"
    "--noise-columns, the standard deviations. Answers each at once with a line: what is "
    "measured,\n"
    "cleaned, and the states of your own equations, then their standard deviations, named by a "
    "first\n"
    "line. With --key the first field of a line tells the series apart; each has its own state, "
    "and\n"
    "there may be millions. Answers are held back only while more input is waiting.";

constexpr const char* kStreamExamples =
    "printf '1,2,3\\n1.1,,3.2\\n' | kalmia stream lorenz.kalmia\n"
    "printf 'a 1 2 3\\nb 4 5 6\\na 1.1 2.1 3.1\\n' | kalmia stream lorenz.kalmia --key --json";

// The filter of one series or of many.
class Filters {
 public:
  explicit Filters(const Model& model, bool keyed)
      : stream_(model.stream()),
        measured_(static_cast<std::size_t>(model.meas_dim())),
        inputs_(model.input_names().size()),
        stds_(model.data_options().noise_columns.size()),
        y_std_(stds_ > 0 ? measured_ : 0),
        keyed_(keyed),
        state_(stream_.start()),
        store_(state_) {}

  const Stream& stream() const { return stream_; }

  /// Numbers in a line.
  std::size_t fields() const { return measured_ + inputs_ + stds_; }
  /// `values`: what is measured, then the inputs, then deviations of the noise, one for each
  /// measured value or one for all.
  void step(std::string_view key, std::span<const double> values) {
    std::byte* const slot = keyed_ ? store_.find(key) : nullptr;
    if (keyed_) store_.load(slot, state_);
    try {
      const std::span<const double> stds = values.last(stds_);
      for (std::size_t m = 0; m < y_std_.size(); ++m) y_std_[m] = stds[stds_ == 1 ? 0 : m];
      stream_.step(state_, values.first(measured_), std::nan(""),
                   values.subspan(measured_, inputs_), y_std_);
    } catch (const NumericalError&) {
      // The state is of no use any more; the next line of the series begins anew.
      state_ = stream_.start();
      if (keyed_) store_.save(state_, slot);
      throw;
    }
    if (keyed_) store_.save(state_, slot);
  }

 private:
  Stream stream_;
  std::size_t measured_, inputs_, stds_;
  std::vector<double> y_std_;
  bool keyed_;
  Stream::State state_;
  StateStore store_;
};

struct StreamCommand {
  std::string model;
  bool keyed = false;
  bool no_header = false;
  bool skip_bad = false;
  ListOptions list;
  CommonOptions common;

  bool parse(const Arguments& arguments) {
    Parser parser("stream", kStreamDescription, kStreamExamples);
    parser.positional("MODEL", "model file made by kalmia fit", model);
    parser.flag("--key", "the first field names the series; the answer begins with it", keyed);
    parser.flag("--no-header", "do not name the answers' columns in a first line", no_header);
    parser.flag("--skip-bad", "answer a bad line with an empty one and go on", skip_bad);
    parser.flag("--all-states",
                "answer with every state of the model, not those of your own "
                "equations alone",
                list.all_states);
    parser.flag("--parts", "answer with what each part of the prior adds to each channel as well",
                list.parts);
    common.add_to(parser);
    return parser.parse(arguments);
  }
};

// Runs `work` on a line; errors get its place.
template <typename Work>
void at_line(std::size_t number, const Work& work) {
  const auto place = [number](const std::exception& e) {
    return fmt::format("<stdin>:{}: {}", number, e.what());
  };
  try {
    work();
  } catch (const DataError& e) {
    throw DataError(place(e));
  } catch (const NumericalError& e) {
    throw NumericalError(place(e));
  }
}

}  // namespace

void run_stream(const Arguments& arguments) {
  StreamCommand command;
  if (!command.parse(arguments)) return;
  if (command.no_header && command.common.json)
    throw ConfigError("--no-header has no effect: answers in JSON have no header; leave it out");
  const Model model = Model::load(command.model);
  Filters filters(model, command.keyed);
  StreamAnswers answers(Listing(model, command.list), command.keyed, command.common.json);
  if (!command.no_header && !command.common.json) answers.add_header();

  LineReader reader(STDIN_FILENO, [&answers] { answers.flush(); });
  std::vector<double> y(filters.fields());
  std::string_view line;
  const auto answer = [&] {
    const std::string_view key = parse_stream_line(line, command.keyed, y);
    filters.step(key, y);
    answers.add(key, filters.stream());
  };
  for (bool more = true; more;) {
    try {
      more = reader.next(line);
      if (more) at_line(reader.line_number(), answer);
    } catch (const IoError&) {
      throw;
    } catch (const Error& e) {
      if (!command.skip_bad) {
        answers.flush();
        throw;
      }
      print_error(fmt::format("kalmia stream: {}\n", e.what()));
      answers.add_empty();
    }
  }
  answers.flush();
}

}  // namespace kalmia::cli
