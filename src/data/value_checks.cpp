#include "data/value_checks.hpp"

#include <limits>

#include "data/iso_time.hpp"
#include "data/text_number.hpp"

namespace kalmia::data {
namespace {

std::string time_text(TimeKind kind, double value) {
  return kind == TimeKind::Date ? iso_text(value, DateStyle::Second) : number_text(value);
}

}  // namespace

void refuse_value(const std::string& where, double value) {
  throw DataError(where + ": value " + number_text(value) +
                  ", but values must lie within -1e100 and 1e100 (leave missing ones empty)");
}

void check_time(const std::string& where, TimeKind kind, double last, double next) {
  if (std::isnan(next)) throw DataError(where + ": time is missing, but every row needs one");
  if (!usable(next)) refuse_value(where, next);
  if (next <= last)
    throw DataError(where + ": time " + time_text(kind, next) + " comes after " +
                    time_text(kind, last) + ", but time must increase within a series");
}

void check_steps(const std::string& where, std::size_t steps) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (steps > kMost)
    throw DataError(where + ": a series of " + std::to_string(steps) +
                    " steps, but it may have at most " + std::to_string(kMost));
}

}  // namespace kalmia::data
