// kalmia smooth: states from all measurements.
#include "command.hpp"
#include "estimate.hpp"
#include "kalmia/error.hpp"

namespace kalmia::cli {

void run_smooth(const Arguments& arguments) {
  Parser parser("smooth",
                "Estimates each state from all measurements, before and after it: the best "
                "estimate of the past.\n"
                "Writes what is measured, cleaned, under the names of its columns, then the states "
                "of your own\n"
                "equations, each with its standard deviation (<name>_std), in the format of OUT's "
                "name: .csv,\n"
                ".npz (with full covariances), .jsonl, .wav, .flac.",
                "kalmia smooth lorenz.kalmia lorenz.csv -o clean.csv\n"
                "kalmia smooth lorenz.kalmia lorenz.csv --json -o clean.npz");
  EstimateCommand command;
  FieldOptions<SmoothOptions> smoothing;
  command.add_to(parser);
  command.add_measurements(parser);
  parser.group("Smoothing");
  smoothing.add_to(parser);
  command.add_common(parser);
  if (!parser.parse(arguments)) return;
  command.run([&](const Model& model, const Dataset& data) {
    refuse_idle_iterations(model, smoothing.values().iterations);
    if (command.list.parts && !model.smooths_by_map(smoothing.values()))
      throw ConfigError(
          "--parts: a recurrent smoother estimates what is measured, not the parts of it; take "
          "--method linearized");
    return model.smooth(data, command.common.threads, smoothing.values());
  });
}

}  // namespace kalmia::cli
