// kalmia evaluate: how good a model's estimates are.
#include "kalmia/evaluate.hpp"

#include "command.hpp"
#include "estimate.hpp"
#include "output.hpp"
#include "report.hpp"

namespace kalmia::cli {

void run_evaluate(const Arguments& arguments) {
  Parser parser("evaluate",
                "Scores a model: errors against the truth if the file has it (columns true_*, or\n"
                "--truth), against measurements hidden for the purpose (--hide), likelihood,\n"
                "calibration and whiteness of the innovations.",
                "kalmia evaluate lorenz.kalmia lorenz.csv\n"
                "kalmia evaluate lorenz.kalmia lorenz.csv --hide 0.1 --hide-run 5 --json");
  std::string model_file;
  std::string data_file;
  FieldOptions<EvaluateOptions> scoring;
  FieldOptions<DataOptions> columns;
  CommonOptions common;
  parser.positional("MODEL", "model file made by kalmia fit", model_file);
  parser.positional("DATA", "file of measurements; - is CSV from standard input", data_file);
  parser.group("Scoring");
  scoring.add_to(parser);
  parser.group("Columns of the file (as at the fit, unless given)");
  columns.add_to(parser);
  common.add_to(parser, true, true);
  if (!parser.parse(arguments)) return;

  const Model model = Model::load(model_file);
  refuse_idle_iterations(model, scoring.values().smoothing.iterations);
  const Dataset data = read_dataset(data_file, data_options(model, columns, true));
  const Evaluation evaluation = evaluate(model, data, scoring.values());
  print(lines(common.json ? evaluation.to_json() : evaluation.to_text()));
}

}  // namespace kalmia::cli
