// kalmia reproduce audio: the paper's experiment on speech.
#include "kalmia/reproduce_audio.hpp"

#include <fmt/format.h>

#include "command.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kReproduceAudioDescription =
    "Runs the paper's experiment on speech (Sec. 8.3): spoken words with six real noises, and "
    "with\n"
    "one of them each. Methods learn from noisy recordings alone, or say what else they know, and\n"
    "are scored where speech is heard. The data set, Speech Commands, is not part of Kalmia:\n"
    "tools/fetch_speech_commands.py FOLDER fetches it. The folder --out gets rows.csv and\n"
    "rows.json (with full provenance) as cells are finished; a run begins anew each time.";

constexpr const char* kReproduceAudioExamples =
    "kalmia reproduce audio --list\n"
    "kalmia reproduce audio --quick --data speech_commands\n"
    "kalmia reproduce audio --noises white,tap --methods raw,wiener-quiet,recursive-filter "
    "--test 50";

void print_audio_methods(bool json) {
  Json list = Json::array();
  std::string text;
  for (const AudioMethod& method : audio_methods()) {
    list.push_back({{"name", method.name},
                    {"description", method.description},
                    {"self_supervised", method.self_supervised},
                    {"in_paper", method.in_paper}});
    text += fmt::format(" {}{:<28}{}\n", method.self_supervised ? ' ' : '*', method.name,
                        method.description);
  }
  text += "* knows clean speech, or the noise alone; others see noisy recordings only\n";
  if (json)
    print_json({{"audio", list}, {"noises", audio_noises()}});
  else
    print(text);
}

}  // namespace

void run_reproduce_audio(const Arguments& arguments) {
  Parser parser("reproduce audio", kReproduceAudioDescription, kReproduceAudioExamples);
  bool list = false;
  FieldOptions<AudioOptions> fields;
  CommonOptions common;
  parser.flag("--list", "list the methods", list);
  parser.group("Experiment");
  fields.add_to(parser);
  common.add_to(parser, true, true);
  if (!parser.parse(arguments)) return;
  if (list) return print_audio_methods(common.json);
  AudioOptions options = fields.values();
  if (options.out.empty())
    options.out = options.quick ? "reproduce-audio-quick" : "reproduce-audio";

  const InterruptGuard guard("stopping; what is finished is kept (Ctrl-C again ends at once)\n");
  const AudioReproduction result = [&] {
    Progress progress(common.quiet);
    return reproduce_audio(options, [&progress](const ReproduceProgress& state) {
      progress.show(state);
      return !InterruptGuard::interrupted();
    });
  }();
  if (common.json)
    print(lines(result.to_json()));
  else if (!common.quiet)
    print(lines(result.to_text()) + fmt::format("\n{}: rows.csv, rows.json\n", options.out));
}

}  // namespace kalmia::cli
