#include "lanes/isa.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <span>
#include <string>

#include "kalmia/error.hpp"
#include "kalmia/instruction_set.hpp"

namespace kalmia::lanes {
namespace {

// Highway's bit for an instruction set; the portable one is what was compiled in statically.
constexpr std::int64_t target_of(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return HWY_AVX3;
    case Isa::Avx2:
      return HWY_AVX2;
    case Isa::Portable:
      break;
  }
  return HWY_STATIC_TARGET;
}

std::int64_t compiled_and_present() {
  hwy::SetSupportedTargetsForTest(0);
  return hwy::SupportedTargets() & HWY_TARGETS;
}

// What the machine has, read once, before anything was forced.
std::int64_t machine_targets() {
  static const std::int64_t targets = compiled_and_present();
  return targets;
}

bool available(Isa isa) {
  return isa == Isa::Portable || (machine_targets() & target_of(isa)) != 0;
}

void choose(std::int64_t targets) {
  hwy::SetSupportedTargetsForTest(targets);
  hwy::GetChosenTarget().Update(targets == 0 ? machine_targets() : targets);
}

Isa& chosen() {
  static Isa isa = available_isas().back();
  return isa;
}

constexpr Isa kAll[] = {Isa::Portable, Isa::Avx2, Isa::Avx512};

std::string listed(std::span<const Isa> isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(isa_name(isa));
  return text;
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::Avx512:
      return "avx512";
    case Isa::Avx2:
      return "avx2";
    case Isa::Portable:
      break;
  }
  return "portable";
}

Isa isa_from_name(std::string_view name) {
  for (const Isa isa : kAll)
    if (isa_name(isa) == name) return isa;
  throw ConfigError("isa = \"" + std::string(name) + "\", but it must be one of " + listed(kAll));
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : kAll)
    if (available(isa)) isas.push_back(isa);
  return isas;
}

Isa current_isa() { return chosen(); }

void force_isa(Isa isa) {
  if (!available(isa))
    throw ConfigError("isa = \"" + std::string(isa_name(isa)) +
                      "\", but this machine or this build does not have it; there is " +
                      listed(available_isas()));
  chosen() = isa;
  choose(target_of(isa));
}

void use_best_isa() {
  chosen() = available_isas().back();
  choose(0);
}

}  // namespace kalmia::lanes

namespace kalmia {

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const lanes::Isa isa : lanes::available_isas()) names.emplace_back(lanes::isa_name(isa));
  return names;
}

std::string instruction_set() { return std::string(lanes::isa_name(lanes::current_isa())); }

void use_instruction_set(const std::string& name) { lanes::force_isa(lanes::isa_from_name(name)); }

}  // namespace kalmia
