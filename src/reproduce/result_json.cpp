#include "reproduce/result_json.hpp"

#include <ctime>
#include <string>

#include "base/threads.hpp"
#include "kalmia/version.hpp"
#include "lanes/isa.hpp"

namespace kalmia::reproduction {
namespace {

#if defined(__clang__)
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

Json build_json() {
  return {{"version", kVersionText},
          {"compiler", kCompiler},
          {"instruction_set", std::string(lanes::isa_name(lanes::current_isa()))}};
}

Json options_json(const ReproduceOptions& options) {
  return {
      {"experiment", options.experiment}, {"quick", options.quick}, {"sizes", options.sizes},
      {"seeds", options.seeds},           {"seed", options.seed},   {"methods", options.methods},
      {"validation", options.validation}, {"test", options.test}};
}

Json journal_kind(const ReproduceOptions& options) {
  Json kind = {{"journal", 1}, {"experiment", options.experiment}};
  kind.update(build_json());
  kind["validation"] = options.validation;
  kind["test"] = options.test;
  return kind;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

namespace {

Json spread_json(const ReproduceSpread& spread) {
  return {{"median", optional_json(spread.median)},
          {"low", optional_json(spread.low)},
          {"high", optional_json(spread.high)}};
}

Json provenance(const Reproduction& result) {
  Json json = build_json();
  json["options"] = options_json(result.options);
  json["threads"] = result.options.threads > 0 ? result.options.threads : hardware_threads();
  json["started"] = result.started;
  json["seconds"] = result.seconds;
  json["resumed_cells"] = result.resumed;
  json["complete"] = result.complete;
  return json;
}

Json methods(const Reproduction& result) {
  Json list = Json::array();
  for (const ReproduceMethod& each : result.methods)
    list.push_back({{"name", each.name},
                    {"description", each.description},
                    {"self_supervised", each.self_supervised},
                    {"smooths", each.smooths},
                    {"in_paper", each.in_paper},
                    {"paper_state_mse", optional_json(each.paper_state_mse)},
                    {"settings", each.settings}});
  return list;
}

Json summaries(const Reproduction& result) {
  Json list = Json::array();
  for (const ReproduceSummary& each : result.summary)
    list.push_back({{"method", each.method},
                    {"n", each.n},
                    {"seeds", each.seeds},
                    {"state_mse", spread_json(each.state_mse)},
                    {"position_mse", spread_json(each.position_mse)},
                    {"nees", optional_json(each.nees)},
                    {"coverage95", optional_json(each.coverage95)}});
  return list;
}

// The decomposition is in the rows; here what they say of it: estimate against truth.
Json theory(const Reproduction& result) {
  Json decomposition = Json::array();
  for (const ReproduceRow& row : result.rows)
    if (row.reducible_error && row.prediction_error)
      decomposition.push_back({{"method", row.method},
                               {"n", row.n},
                               {"seed", row.seed},
                               {"estimated", *row.reducible_error},
                               {"true", *row.prediction_error},
                               {"standard_error", optional_json(row.reducible_error_std)}});
  Json json = {{"decomposition", decomposition}};
  if (result.smoother_check)
    json["linearized_smoother"] = {
        {"steps", result.smoother_check->steps},
        {"mean_difference", result.smoother_check->mean_difference},
        {"variance_difference", result.smoother_check->variance_difference}};
  return json;
}

}  // namespace

Json result_json(const Reproduction& result) {
  Json rows = Json::array();
  for (const ReproduceRow& row : result.rows) rows.push_back(row_json(row));
  return {{"experiment", result.options.experiment},
          {"provenance", provenance(result)},
          {"methods", methods(result)},
          {"rows", rows},
          {"summary", summaries(result)},
          {"theory", theory(result)}};
}

}  // namespace kalmia::reproduction
