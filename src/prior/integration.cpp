#include "prior/integration.hpp"

#include "kalmia/error.hpp"

namespace kalmia::prior {
namespace {

constexpr int kHighestOrder = 20;
constexpr int kMostSubsteps = 100;

void check_range(const std::string& name, int value, int least, int most) {
  if (value < least || value > most)
    throw ConfigError(name + " = " + std::to_string(value) + ", but it must be in " +
                      std::to_string(least) + ".." + std::to_string(most));
}

}  // namespace

void check_ranges(const Integration& integration, const std::string& place, int least) {
  check_order(integration.order, place, least);
  check_range(place + "substeps", integration.substeps, least, kMostSubsteps);
}

void check_order(int order, const std::string& place, int least) {
  check_range(place + "order", order, least, kHighestOrder);
}

}  // namespace kalmia::prior
