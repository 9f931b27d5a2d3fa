// kalmia denoise: takes the noise out of a recording.
#include "kalmia/denoise.hpp"

#include "command.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "progress.hpp"

namespace kalmia::cli {
namespace {

constexpr const char* kDenoiseDescription =
    "Takes the noise out of a recording: WAV or FLAC of any rate, length and number of channels.\n"
    "What comes out has the same length, rate, channels and level. The noise is found in the "
    "pauses\n"
    "of the recording itself and followed as it changes; no clean sound is needed. Input and "
    "output\n"
    "may be pipes: sound then comes out while it still comes in, some seconds later.";

constexpr const char* kDenoiseExamples =
    "kalmia denoise noisy.wav -o clean.wav\n"
    "kalmia denoise noisy.wav --method wiener --most-reduction 12 -o clean.flac\n"
    "kalmia denoise noisy.wav --fit --fit-seconds 5 --save-model mine.kalmia-gains -o clean.wav\n"
    "cat noisy.wav | kalmia denoise - -o - > clean.wav";

}  // namespace

void run_denoise(const Arguments& arguments) {
  Parser parser("denoise", kDenoiseDescription, kDenoiseExamples);
  std::string input, output;
  FieldOptions<DenoiseOptions> fields;
  CommonOptions common;
  parser.positional("SOUND", "the recording; - is WAV from standard input", input);
  parser.file("-o,--output",
              "where the sound goes, .wav or .flac; - is WAV to standard output; required", output);
  parser.group("Denoising");
  fields.add_to(parser);
  common.add_to(parser, true, true);
  if (!parser.parse(arguments)) return;
  if (output.empty())
    throw ConfigError("-o FILE is required: where the sound goes (- is standard output)");
  if (common.json && output == "-")
    throw ConfigError("--json needs -o FILE for the sound: standard output cannot hold both");
  const DenoiseOptions options = fields.values();
  options.validate();
  const std::vector<std::string> inputs = {input, options.model, options.clean};
  check_output(output, inputs);
  if (!options.save_model.empty()) check_output(options.save_model, inputs);

  const InterruptGuard guard("stopping; nothing is written (Ctrl-C again ends at once)\n");
  const DenoiseReport report = [&] {
    // A pipe has no end to count towards.
    Progress progress(common.quiet || input == "-");
    return denoise(input, output, options, [&](const DenoiseProgress& state) {
      progress.show(state);
      return !InterruptGuard::interrupted();
    });
  }();
  if (!report.complete) throw Error("stopped; " + output + " is not written");
  if (common.json) {
    print(report.to_json() + "\n");
  } else if (!common.quiet) {
    if (output == "-")
      print_error(report.to_text());
    else
      print(report.to_text());
  }
}

}  // namespace kalmia::cli
