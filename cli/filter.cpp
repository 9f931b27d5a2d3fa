// kalmia filter: states from the measurements up to each of them.
#include "command.hpp"
#include "estimate.hpp"

namespace kalmia::cli {

void run_filter(const Arguments& arguments) {
  Parser parser(
      "filter",
      "Estimates each state from the measurements up to it, as one could have done at the time.\n"
      "Writes what is measured, cleaned, under the names of its columns, then the states of your "
      "own\n"
      "equations, each with its standard deviation (<name>_std), in the format of OUT's name: "
      ".csv,\n"
      ".npz (with full covariances), .jsonl, .wav, .flac.",
      "kalmia filter lorenz.kalmia lorenz.csv -o filtered.csv\n"
      "kalmia filter lorenz.kalmia lorenz.csv | head -3");
  EstimateCommand command;
  command.add_to(parser);
  command.add_common(parser);
  if (!parser.parse(arguments)) return;
  command.run([&command](const Model& model, const Dataset& data) {
    return model.filter(data, command.common.threads);
  });
}

}  // namespace kalmia::cli
