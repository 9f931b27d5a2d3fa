#include "reproduce/provenance.hpp"

#include <ctime>
#include <string>

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

}  // namespace kalmia::reproduction
