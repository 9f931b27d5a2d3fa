#include "prior/parts_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/option_rules.hpp"
#include "base/suggest.hpp"
#include "kalmia/error.hpp"

namespace kalmia::prior {
namespace {

struct TimeUnit {
  std::string_view name;
  double seconds;
};
constexpr TimeUnit kUnits[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};

constexpr int kUsualHarmonics = 3;
constexpr int kUsualLags = 2;
// What six digits say this closely, they say exactly.
constexpr double kExactly = 1e-9;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The first of these characters that stands neither in quotes nor in brackets.
std::size_t find_sign(std::string_view text, std::string_view signs) {
  bool quoted = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (depth <= 0 && signs.find(text[i]) != signs.npos) return i;
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
  }
  return std::string_view::npos;
}

// The text between one such sign and the next.
std::vector<std::string_view> split(std::string_view text, char sign) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const auto end = find_sign(text, {&sign, 1});
    pieces.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

const PartEntry* find_entry(std::string_view name) {
  const auto found = std::ranges::find(part_table(), name, &PartEntry::name);
  return found == part_table().end() ? nullptr : &*found;
}

const TimeUnit* find_unit(std::string_view name) {
  const auto* found = std::ranges::find(kUnits, name, &TimeUnit::name);
  return found == std::end(kUnits) ? nullptr : found;
}

// Reads one part; where a rule is broken, the message names the part.
class PartReader {
 public:
  explicit PartReader(std::string_view text) : text_(text) {}

  WrittenPart read() {
    if (text_.empty())
      throw ConfigError(
          "prior: a part is missing beside a sign; write them, as in \"trend + "
          "season(24)\"");
    const auto open = text_.find('(');
    const std::string_view name = trimmed(text_.substr(0, open));
    const PartEntry* entry = find_entry(name);
    if (const PriorEntry* map = find_prior(name);
        entry == nullptr && map != nullptr && takes_parts(map->family))
      fail(fmt::format("but equations come first: {} + level", name));
    if (entry == nullptr) fail("but a part must be " + name_rule(name, choices_in(part_table())));
    written_.part.kind = entry->kind;
    if (open != std::string_view::npos) {
      if (text_.back() != ')') fail("but its bracket does not end it");
      read_brackets(*entry, text_.substr(open + 1, text_.size() - open - 2));
    } else if (entry->scale == PartScale::Needed) {
      fail(fmt::format("but it needs its period: {0}(24) or, where times are dates, {0}(24 h)",
                       entry->name));
    }
    if (entry->kind == PartKind::Ar && written_.part.count == 0) written_.part.count = kUsualLags;
    return written_;
  }

 private:
  [[noreturn]] void fail(const std::string& rule) const {
    throw ConfigError(fmt::format("prior: part \"{}\", {}", text_, rule));
  }

  void read_brackets(const PartEntry& entry, std::string_view inside) {
    const auto comma = inside.find(',');
    const bool two = comma != std::string_view::npos;
    const std::string_view first = trimmed(inside.substr(0, comma));
    switch (entry.scale) {
      case PartScale::None:
        fail(fmt::format("but {} has nothing in brackets", entry.name));
      case PartScale::Lags:
        if (two) fail("but ar has one number, its lags");
        written_.part.count = count_of(first, "lags");
        return;
      case PartScale::Usual:
        if (two) fail("but it has one number, a time");
        break;
      case PartScale::Needed:
        if (two) written_.part.count = count_of(trimmed(inside.substr(comma + 1)), "harmonics");
        break;
    }
    read_time(first);
  }

  int count_of(std::string_view text, const char* what) const {
    int count = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, count);
    if (error != std::errc() || end != last || count < 1 || count > kMostPartCount)
      fail(fmt::format("but its {} must be a whole number from 1 to {}", what, kMostPartCount));
    return count;
  }

  void read_time(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !(number > 0) || !std::isfinite(number))
      fail("but its time must be a number above 0");
    written_.part.scale = number;
    const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
    if (!unit.empty() && find_unit(unit) == nullptr)
      fail(fmt::format("but \"{}\" is no unit of time: s, min, h, d or w", unit));
    written_.unit = unit;
  }

  std::string_view text_;
  WrittenPart written_;
};

// The name before a group's colon, without its quotes.
std::string channel_name(std::string_view text) {
  const auto fail = [&](const char* rule) {
    throw ConfigError(fmt::format("prior: channel {}, but {}", text, rule));
  };
  std::string name(text);
  if (text.starts_with('"')) {
    name.clear();
    if (text.size() < 2 || !text.ends_with('"')) fail("the quote does not end it");
    const std::string_view inside = text.substr(1, text.size() - 2);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (inside[i] == '"' && (++i == inside.size() || inside[i] != '"'))
        fail("a quote in quotes is written twice");
      name += inside[i];
    }
  } else if (text.find('"') != text.npos) {
    fail("a name with quotes in it stands in quotes, and each of its own is written twice");
  }
  if (name.empty())
    throw ConfigError(
        "prior: there is no name of a channel before \":\"; write it, or leave the "
        "\":\" out");
  return name;
}

bool is_plain(const std::string& name) {
  return !name.empty() && name.find_first_of(":;+\"() \t") == name.npos;
}

std::string channel_text(const std::string& name) {
  if (is_plain(name)) return name;
  std::string text = "\"";
  for (const char c : name) text += std::string(c == '"' ? 2 : 1, c);
  return text + "\"";
}

// To six digits, in the largest unit of which there are at least two and that says it exactly; or
// else in the largest but weeks.
std::string time_text(double steps, const DataAxes& axes) {
  const double time = steps * axes.step;
  if (!axes.dates) return fmt::format("{:.6g}", time);
  const auto in = [&](const TimeUnit& unit) { return time / unit.seconds; };
  const auto exact = [&](const TimeUnit& unit) {
    const std::string text = fmt::format("{:.6g}", in(unit));
    double said = 0;
    std::from_chars(text.data(), text.data() + text.size(), said);
    return std::abs(said / in(unit)-1) < kExactly;
  };
  const TimeUnit* best = nullptr;
  for (const TimeUnit& each : kUnits)
    if (in(each) >= 2 && exact(each)) best = &each;
  if (best == nullptr) {
    best = kUnits;
    for (const TimeUnit& each : kUnits)
      if (in(each) >= 2 && each.name != "w") best = &each;
  }
  return fmt::format("{:.6g} {}", in(*best), best->name);
}

std::string part_text(const Part& part, const DataAxes& axes) {
  std::string text(part_entry(part.kind).name);
  if (part.kind == PartKind::Ar) return fmt::format("{}({})", text, part.count);
  if (!(part.scale > 0)) return text;
  text += "(" + time_text(part.scale, axes);
  if (part.count > 0) text += fmt::format(", {}", part.count);
  return text + ")";
}

// Without what seldom tells it from others: every number but a season's period.
std::string short_text(Part part, const DataAxes& axes) {
  if (part.kind != PartKind::Season) return std::string(part_entry(part.kind).name);
  part.count = 0;
  return part_text(part, axes);
}

std::string sum_text(const std::vector<Part>& parts, const DataAxes& axes) {
  std::string text;
  for (const Part& part : parts) text += (text.empty() ? "" : " + ") + part_text(part, axes);
  return text;
}

// The columns that a written part is of.
class ChannelFinder {
 public:
  ChannelFinder(const std::vector<WrittenPart>& written, const std::vector<std::string>& channels,
                Alone alone)
      : written_(written), channels_(channels), alone_(alone) {
    for (const WrittenPart& each : written)
      if (!each.channel.empty() && std::ranges::find(channels, each.channel) == channels.end())
        throw ConfigError(fmt::format("prior: channel {}, but the measured columns are {}{}",
                                      channel_text(each.channel), fmt::join(channels, ", "),
                                      did_you_mean(each.channel, channels)));
  }

  // What is written for column m: its own, or else what is for those that are not named.
  std::vector<WrittenPart> of(std::size_t m) const {
    std::vector<WrittenPart> own = named(channels_[m]);
    if (own.empty()) own = named("");
    if (own.empty() && alone_ == Alone::Yes)
      throw ConfigError(
          fmt::format("prior: the measured column {} has no parts; add \"; {}: "
                      "level\", or parts without a column's name for all others",
                      channels_[m], channel_text(channels_[m])));
    return own;
  }

  // Whether parts for columns that are not named find one.
  void check_rest() const {
    const auto own = [&](const std::string& name) { return !named(name).empty(); };
    if (own("") && std::ranges::all_of(channels_, own))
      throw ConfigError(
          "prior: parts without a column's name are for columns that have none of "
          "their own, but all have some; leave them out");
  }

 private:
  std::vector<WrittenPart> named(const std::string& channel) const {
    std::vector<WrittenPart> found;
    std::ranges::copy_if(written_, std::back_inserter(found),
                         [&](const WrittenPart& each) { return each.channel == channel; });
    return found;
  }

  const std::vector<WrittenPart>& written_;
  const std::vector<std::string>& channels_;
  const Alone alone_;
};

Part in_steps(const WrittenPart& written, const DataAxes& axes) {
  Part part = written.part;
  const std::string_view name = part_entry(part.kind).name;
  if (!written.unit.empty() && !axes.dates)
    throw ConfigError(fmt::format(
        "prior: part {}({} {}), but the data have no column of dates; give its time in the time "
        "column's unit, or in rows where there is none",
        name, part.scale, written.unit));
  if (part.scale == 0) return part;
  part.scale *= (written.unit.empty() ? 1 : find_unit(written.unit)->seconds) / axes.step;
  const auto fail = [&](const std::string& rule) {
    throw ConfigError(fmt::format("prior: part {}, but its time is {:.6g} steps, {}",
                                  part_text(part, axes), part.scale, rule));
  };
  if (!(part.scale >= kShortestTime && part.scale <= kLongestTime))
    fail(fmt::format("and must be in {:g}..{:g}", kShortestTime, kLongestTime));
  if (part.kind != PartKind::Season) return part;
  const int most = most_harmonics(part.scale);
  if (most < 1) fail("and a season must be above 2");
  if (part.count > most)
    fail(fmt::format("which show at most {} harmonic{}", most, most > 1 ? "s" : ""));
  if (part.count == 0) part.count = std::min(kUsualHarmonics, most);
  return part;
}

}  // namespace

bool looks_like_parts(std::string_view text) {
  constexpr std::string_view signs = "(+:;";
  const auto end = text.find_first_of(signs);
  return end != text.npos || find_entry(trimmed(text)) != nullptr;
}

std::optional<PriorKind> leading_map(std::string_view text) {
  const auto end = find_sign(text, "+;:");
  const PriorEntry* entry = find_prior(trimmed(text.substr(0, end)));
  const bool is_channel = end != std::string_view::npos && text[end] == ':';
  if (entry == nullptr || !takes_parts(entry->family) || is_channel) return {};
  return entry->kind;
}

WrittenSum parse_sum(std::string_view text) {
  if (std::ranges::count(text, '"') % 2 != 0)
    throw ConfigError(fmt::format("prior: {}, but a quote is missing", text));
  WrittenSum sum;
  sum.map = leading_map(text);
  std::vector<std::string> channels;
  if (sum.map) {
    const auto end = find_sign(text, "+;");
    if (end == std::string_view::npos) return sum;
    // What stands before a ";" are the columns that are not named, which have no parts.
    if (text[end] == ';') channels.emplace_back();
    text.remove_prefix(end + 1);
  }
  for (std::string_view group : split(text, ';')) {
    const auto colon = find_sign(group, ":");
    const bool named = colon != std::string_view::npos;
    const std::string channel = named ? channel_name(trimmed(group.substr(0, colon))) : "";
    if (std::ranges::find(channels, channel) != channels.end())
      throw ConfigError(
          named ? fmt::format("prior: channel {} stands there twice; join its parts with +",
                              channel_text(channel))
                : std::string("prior: two groups of parts name no channel; join them with +, or "
                              "name the channel of one, as in \"north: trend; level\""));
    channels.push_back(channel);
    if (named) group.remove_prefix(colon + 1);
    for (const std::string_view part : split(group, '+')) {
      sum.parts.push_back(PartReader(part).read());
      sum.parts.back().channel = channel;
    }
  }
  return sum;
}

std::vector<Part> parts_in_steps(const std::vector<WrittenPart>& written, const DataAxes& axes,
                                 Alone alone) {
  const ChannelFinder finder(written, axes.channels, alone);
  finder.check_rest();
  std::vector<Part> parts;
  for (std::size_t m = 0; m < axes.channels.size(); ++m)
    for (const WrittenPart& each : finder.of(m)) {
      parts.push_back(in_steps(each, axes));
      parts.back().channel = static_cast<int>(m);
    }
  if (parts_alike(parts, static_cast<int>(axes.channels.size()))) {
    parts = parts_of_channel(parts, 0);
    for (Part& part : parts) part.channel = kAllChannels;
  }
  check_parts(parts, axes, alone);
  return parts;
}

std::string parts_text(std::span<const Part> parts, const DataAxes& axes) {
  std::vector<std::string> sums;
  for (std::size_t m = 0; m < axes.channels.size(); ++m)
    sums.push_back(sum_text(parts_of_channel(parts, static_cast<int>(m)), axes));
  if (sums.empty()) return {};
  if (std::ranges::count(sums, sums[0]) == std::ssize(sums)) return sums[0];
  std::string text;
  for (std::size_t m = 0; m < sums.size(); ++m)
    if (!sums[m].empty())
      text += (text.empty() ? "" : "; ") + channel_text(axes.channels[m]) + ": " + sums[m];
  return text;
}

std::vector<std::string> part_names(std::span<const Part> own, const DataAxes& axes) {
  std::vector<std::string> names, texts;
  for (const Part& part : own) {
    const auto alike = [&](const Part& other) {
      return short_text(other, axes) == short_text(part, axes);
    };
    const bool alone = std::ranges::count_if(own, alike) == 1;
    texts.push_back(alone ? short_text(part, axes) : part_text(part, axes));
    names.push_back(texts.back());
    // "memory(3 d)" once more is "memory2(3 d)".
    if (const auto same = std::ranges::count(texts, texts.back()); same > 1)
      names.back().insert(part_entry(part.kind).name.size(), std::to_string(same));
  }
  return names;
}

std::string rough_time_text(double steps, const DataAxes& axes) {
  constexpr double kLongest = 1e6;  // that is written out
  const double time = steps * axes.step;
  if (!axes.dates)
    return time < 99.5 || time >= kLongest ? fmt::format("{:.2g}", time)
                                           : fmt::format("{:.0f}", time);
  const TimeUnit* best = kUnits;
  for (const TimeUnit& each : kUnits)
    if (time / each.seconds >= 2 && each.name != "w") best = &each;
  const double number = time / best->seconds;
  return number < 99.5 ? fmt::format("{:.2g} {}", number, best->name)
                       : fmt::format("{:.0f} {}", number, best->name);
}

}  // namespace kalmia::prior
