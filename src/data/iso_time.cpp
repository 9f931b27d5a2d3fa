#include "data/iso_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "data/text_number.hpp"

namespace kalmia::data {
namespace {

constexpr double kDaySeconds = 86400;

// Walks through the text from left to right.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Exactly `count` digits.
  bool digits(int count, int& value) {
    const auto n = static_cast<std::size_t>(count);
    if (rest_.size() < n) return false;
    value = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return false;
      value = 10 * value + (rest_[i] - '0');
    }
    rest_.remove_prefix(n);
    return true;
  }
  // One digit or more; those that a double cannot tell apart are passed over.
  bool fraction(double& value) {
    std::uint64_t number = 0;
    std::uint64_t scale = 1;
    std::size_t n = 0;
    for (; n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9'; ++n) {
      if (n >= 18) continue;
      number = 10 * number + static_cast<std::uint64_t>(rest_[n] - '0');
      scale *= 10;
    }
    rest_.remove_prefix(n);
    value = static_cast<double>(number) / static_cast<double>(scale);
    return n > 0;
  }

 private:
  std::string_view rest_;
};

std::optional<double> midnight(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  return kDaySeconds * static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count());
}

// Z, +HH, +HHMM or +HH:MM, in seconds.
bool take_offset(Scanner& scan, double& offset) {
  offset = 0;
  if (scan.done() || scan.take('Z') || scan.take('z')) return true;
  const bool ahead = scan.take('+');
  if (!ahead && !scan.take('-')) return false;
  int hours = 0, minutes = 0;
  if (!scan.digits(2, hours)) return false;
  const bool colon = scan.take(':');
  if ((colon || !scan.done()) && !scan.digits(2, minutes)) return false;
  if (hours > 23 || minutes > 59) return false;
  offset = (ahead ? 1 : -1) * (3600.0 * hours + 60.0 * minutes);
  return true;
}

}  // namespace

std::optional<double> parse_iso_time(std::string_view text) {
  Scanner scan(trimmed(text));
  int year = 0, month = 0, day = 0;
  if (!scan.digits(4, year) || !scan.take('-') || !scan.digits(2, month) || !scan.take('-') ||
      !scan.digits(2, day))
    return {};
  const std::optional<double> date = midnight(year, month, day);
  if (!date || scan.done()) return date;
  if (!scan.take('T') && !scan.take('t') && !scan.take(' ')) return {};
  int hour = 0, minute = 0, second = 0;
  double fraction = 0, offset = 0;
  if (!scan.digits(2, hour) || !scan.take(':') || !scan.digits(2, minute)) return {};
  if (scan.take(':')) {
    if (!scan.digits(2, second)) return {};
    if ((scan.take('.') || scan.take(',')) && !scan.fraction(fraction)) return {};
  }
  if (!take_offset(scan, offset) || !scan.done()) return {};
  if (hour > 23 || minute > 59 || second > 59) return {};
  return *date + (3600.0 * hour + 60.0 * minute + second - offset) + fraction;
}

std::optional<double> date_of_digits(double yyyymmdd) {
  if (!(yyyymmdd >= 1e7 && yyyymmdd < 1e8) || yyyymmdd != std::floor(yyyymmdd)) return {};
  const int digits = static_cast<int>(yyyymmdd);
  return midnight(digits / 10000, digits / 100 % 100, digits % 100);
}

DateStyle date_style(std::span<const double> seconds) {
  const bool days = std::all_of(seconds.begin(), seconds.end(),
                                [](double s) { return std::fmod(s, kDaySeconds) == 0; });
  return days ? DateStyle::Day : DateStyle::Second;
}

std::string iso_text(double seconds, DateStyle style) {
  // 0000-01-01 and 10000-01-01.
  if (!(seconds >= -62167219200.0 && seconds < 253402300800.0)) return number_text(seconds);
  double whole = std::floor(seconds);
  // A moment before a whole second, the difference is rounded to the next one.
  if (seconds - whole >= 1) whole += 1;
  const double day = std::floor(whole / kDaySeconds);
  const std::chrono::year_month_day date(
      std::chrono::sys_days(std::chrono::days(static_cast<int>(day))));
  std::string text =
      fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  if (style == DateStyle::Day) return text;
  const int second = static_cast<int>(whole - day * kDaySeconds);
  text += fmt::format("T{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
  const double fraction = seconds - whole;
  if (fraction <= 0) return text;
  // The fewest digits that read back as the same double.
  double scale = 1;
  for (int digits = 1; digits <= 17; ++digits) {
    scale *= 10;
    const double number = std::round(fraction * scale);
    if (whole + number / scale == seconds || digits == 17)
      return fmt::format("{}.{:0{}}", text, static_cast<std::uint64_t>(number), digits);
  }
  return text;
}

}  // namespace kalmia::data
