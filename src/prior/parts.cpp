#include "prior/parts.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/option_rules.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"

namespace kalmia::prior {
namespace {

constexpr PartEntry kParts[] = {
    {PartKind::Level, "level", "a random walk", 1, PartScale::None},
    {PartKind::Memory, "memory", "returns to zero within its time constant", 1, PartScale::Usual},
    {PartKind::Trend, "trend", "a velocity that wanders", 2, PartScale::None},
    {PartKind::DampedTrend, "damped-trend", "a velocity that fades within its time constant", 2,
     PartScale::Usual},
    {PartKind::DampedVelocity, "damped-velocity", "value and velocity both fade", 2,
     PartScale::None},
    {PartKind::Acceleration, "acceleration", "an acceleration that wanders", 3, PartScale::None},
    {PartKind::Oscillator, "oscillator", "a damped oscillation about a period", 2,
     PartScale::Usual},
    {PartKind::Season, "season", "a period whose shape may drift; harmonics after a comma", 0,
     PartScale::Needed},
    {PartKind::Ar, "ar", "an autoregression of so many lags", 0, PartScale::Lags},
};

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr TimeUnit kUnits[] = {
    {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};

constexpr int kUsualHarmonics = 3;
constexpr int kUsualLags = 2;
constexpr int kMostCount = 128;
constexpr std::string_view kHowToWrite = "write them, as in 'trend + season(24 h)'";

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

const PartEntry* find_part(std::string_view name) {
  const auto* found = std::ranges::find(kParts, name, &PartEntry::name);
  return found == std::end(kParts) ? nullptr : found;
}

// The text up to the first of these characters.
std::string_view up_to(std::string_view text, std::string_view ends) {
  return trimmed(text.substr(0, text.find_first_of(ends)));
}

// The harmonics that a period of so many steps can show: a pair of states needs a period above two
// steps.
int most_harmonics(double period) {
  return std::clamp(static_cast<int>(std::ceil(period / 2)) - 1, 0, kMostCount);
}

class PartReader {
 public:
  explicit PartReader(std::string_view text) : text_(trimmed(text)) {}

  WrittenPart read() {
    const PartEntry* entry = find_part(up_to(text_, "("));
    if (entry == nullptr)
      fail("but a part must be " + name_rule(up_to(text_, "("), choices_in(part_table())));
    written_.part.kind = entry->kind;
    const auto open = text_.find('(');
    if (open != std::string_view::npos) {
      if (text_.back() != ')') fail("but its bracket does not end it");
      read_brackets(*entry, text_.substr(open + 1, text_.size() - open - 2));
    } else if (entry->scale == PartScale::Needed) {
      fail("but it needs its period: " + std::string(entry->name) + "(24) or, where times are "
           "dates, " + std::string(entry->name) + "(24 h)");
    }
    if (entry->kind == PartKind::Ar && written_.part.count == 0) written_.part.count = kUsualLags;
    return written_;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw ConfigError("prior: part " + quoted(text_) + ", " + rule);
  }

  void read_brackets(const PartEntry& entry, std::string_view inside) {
    const auto comma = inside.find(',');
    const std::string_view first = trimmed(inside.substr(0, comma));
    switch (entry.scale) {
      case PartScale::None:
        fail("but " + std::string(entry.name) + " has nothing in brackets");
      case PartScale::Lags:
        if (comma != std::string_view::npos) fail("but ar has one number, its lags");
        written_.part.count = count_of(first, "lags");
        return;
      case PartScale::Usual:
        if (comma != std::string_view::npos) fail("but it has one number, a time");
        break;
      case PartScale::Needed:
        if (comma != std::string_view::npos)
          written_.part.count = count_of(trimmed(inside.substr(comma + 1)), "harmonics");
        break;
    }
    read_time(first);
  }

  int count_of(std::string_view text, const char* what) const {
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 ||
        count > kMostCount)
      fail("but its " + std::string(what) + " must be a whole number from 1 to " +
           std::to_string(kMostCount));
    return count;
  }

  void read_time(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !(number > 0) || !std::isfinite(number))
      fail("but its time must be a number above 0");
    written_.part.scale = number;
    const std::string_view unit =
        trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
    if (!unit.empty() && std::ranges::find(kUnits, unit, &TimeUnit::name) == std::end(kUnits))
      fail("but " + quoted(unit) + " is no unit of time: s, min, h, d or w");
    written_.unit = unit;
  }

  std::string_view text_;
  WrittenPart written_;
};

// A time in the unit that makes it shortest to read.
std::string time_text(double steps, const StepLength& step) {
  const double time = steps * step.length;
  if (!step.dates) return kalman::number_text(time);
  const TimeUnit* unit = kUnits;
  for (const TimeUnit& each : kUnits)
    if (time >= 2 * each.seconds) unit = &each;
  return kalman::number_text(time / unit->seconds) + " " + std::string(unit->name);
}

}  // namespace

std::span<const PartEntry> part_table() { return kParts; }

const PartEntry& part_entry(PartKind kind) {
  return *std::ranges::find(kParts, kind, &PartEntry::kind);
}

void check_parts(std::span<const Part> parts) {
  if (parts.empty()) throw ConfigError("prior sum: it has no parts; " + std::string(kHowToWrite));
  for (const Part& part : parts) {
    const PartEntry& entry = part_entry(part.kind);
    const bool counted = part.kind == PartKind::Season || part.kind == PartKind::Ar;
    const bool timed = entry.scale == PartScale::Usual || entry.scale == PartScale::Needed;
    const double least = part.kind == PartKind::Season ? 2 : 0;
    if (!std::isfinite(part.scale) || part.scale < 0 || (!timed && part.scale != 0) ||
        (entry.scale == PartScale::Needed && !(part.scale > least)) ||
        (counted ? part.count < 1 || part.count > kMostCount : part.count != 0) ||
        (part.kind == PartKind::Season && part.count > most_harmonics(part.scale)))
      throw ConfigError("prior sum: part " + std::string(entry.name) + " with the time " +
                        kalman::number_text(part.scale) + " (steps) and the count " +
                        std::to_string(part.count) + ", which it cannot have");
  }
}

PartKind part_of_name(std::string_view name) {
  if (const PartEntry* entry = find_part(name)) return entry->kind;
  throw ConfigError("prior: part " + quoted(name) + ", but it must be " +
                    name_rule(name, choices_in(part_table())));
}

int part_states(const Part& part) {
  if (part.kind == PartKind::Season) return 2 * part.count;
  return part.kind == PartKind::Ar ? part.count : part_entry(part.kind).states;
}

bool any_step(const Part& part) { return part.kind != PartKind::Ar; }

std::vector<std::string> part_labels(std::span<const Part> parts) {
  std::vector<std::string> labels;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto same = 1 + std::ranges::count(parts.first(p), parts[p].kind, &Part::kind);
    labels.push_back(std::string(part_entry(parts[p].kind).name) +
                     (same > 1 ? std::to_string(same) : ""));
  }
  return labels;
}

bool looks_like_parts(std::string_view text) {
  return find_part(up_to(text, "(+")) != nullptr || text.find_first_of("(+") != text.npos;
}

std::vector<WrittenPart> parse_parts(std::string_view text) {
  std::vector<WrittenPart> parts;
  for (;;) {
    const auto plus = text.find('+');
    parts.push_back(PartReader(text.substr(0, plus)).read());
    if (plus == std::string_view::npos) return parts;
    text.remove_prefix(plus + 1);
  }
}

std::vector<Part> parts_in_steps(const std::vector<WrittenPart>& written, const StepLength& step) {
  std::vector<Part> parts;
  for (const WrittenPart& each : written) {
    Part part = each.part;
    const std::string name(part_entry(part.kind).name);
    if (!each.unit.empty() && !step.dates)
      throw ConfigError("prior: part " + name + "(" + kalman::number_text(part.scale) + " " +
                        each.unit +
                        "), but the data have no column of dates; give its time in the time "
                        "column's unit, or in rows where there is none");
    double unit = 1;
    if (!each.unit.empty()) unit = std::ranges::find(kUnits, each.unit, &TimeUnit::name)->seconds;
    part.scale *= unit / step.length;
    if (part.kind == PartKind::Season) {
      const int most = most_harmonics(part.scale);
      if (most < 1 || part.count > most)
        throw ConfigError(
            "prior: " + parts_text(std::span(&part, 1), step) + ", but its period is " +
            kalman::number_text(part.scale) + " steps, which show " +
            (most < 1 ? "no season: it must be above 2 steps"
                      : "at most " + std::to_string(most) + " harmonics"));
      if (part.count == 0) part.count = std::min(kUsualHarmonics, most);
    }
    parts.push_back(part);
  }
  return parts;
}

std::string parts_text(std::span<const Part> parts, const StepLength& step) {
  std::string text;
  for (const Part& part : parts) {
    if (!text.empty()) text += " + ";
    text += part_entry(part.kind).name;
    if (part.kind == PartKind::Ar) {
      text += "(" + std::to_string(part.count) + ")";
    } else if (part.scale > 0) {
      text += "(" + time_text(part.scale, step);
      if (part.count > 0) text += ", " + std::to_string(part.count);
      text += ")";
    }
  }
  return text;
}

}  // namespace kalmia::prior
