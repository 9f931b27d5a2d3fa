// kalmia info: what a model file holds.
#include "command.hpp"
#include "kalmia/model.hpp"
#include "output.hpp"
#include "parser.hpp"
#include "report.hpp"

namespace kalmia::cli {

void run_info(const Arguments& arguments) {
  Parser parser("info", "Shows what a model file holds: options, scaling and how training went.",
                "kalmia info lorenz.kalmia\n"
                "kalmia info lorenz.kalmia --json");
  std::string file;
  CommonOptions common;
  parser.positional("MODEL", "model file made by kalmia fit", file);
  common.add_to(parser);
  if (!parser.parse(arguments)) return;
  const std::string info = Model::load(file).info_json();
  print(common.json ? lines(info) : json_as_text(Json::parse(info)));
}

}  // namespace kalmia::cli
