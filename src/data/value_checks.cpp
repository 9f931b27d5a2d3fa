#include "data/value_checks.hpp"

#include <limits>

#include "data/iso_time.hpp"
#include "data/text_number.hpp"
#include "kalmia/text.hpp"

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

void refuse_std(const std::string& where, double std, const std::string& measured) {
  throw DataError(where + ": the standard deviation of " + printable(measured) + " is " +
                  (std::isnan(std) ? std::string("missing") : number_text(std)) +
                  ", but a measured value needs one between 1e-100 and 1e100 (leave the value "
                  "empty if it is of no use)");
}

void check_stds(const Dataset& data) {
  const std::string source = data.source.empty() ? "the data" : data.source;
  const std::size_t M = data.y_names.size();
  if (!data.std_names.empty() && data.std_names.size() != M)
    throw DataError(source + ": std_names has " + std::to_string(data.std_names.size()) +
                    " names, but " + std::to_string(M) + " columns are measured");
  for (const Series& series : data.series) {
    const std::string place =
        source + (series.key.empty() ? "" : ", series \"" + printable(series.key) + "\"");
    const std::size_t wanted = data.std_names.empty() ? 0 : series.y.size();
    if (series.y_std.size() != wanted)
      throw DataError(place + ": y_std has " + std::to_string(series.y_std.size()) +
                      " numbers, but it must have " + std::to_string(wanted) +
                      (wanted == 0 ? ", for std_names is empty" : ""));
    for (std::size_t i = 0; i < series.y_std.size(); ++i)
      if (!usable_std(series.y_std[i], series.y[i]))
        refuse_std(place + ", step " + std::to_string(i / M + 1) + ", column " +
                       printable(data.std_names[i % M]),
                   series.y_std[i], data.y_names[i % M]);
  }
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
