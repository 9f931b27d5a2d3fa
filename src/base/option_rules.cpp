#include "base/option_rules.hpp"

#include "base/suggest.hpp"

namespace kalmia {

std::string Range::text() const {
  const bool above = least > -kNoEnd;
  const bool below = largest < kNoEnd;
  std::string rule;
  if (end == Least::Excluded)
    rule = fmt::format("above {}", least) + (below ? fmt::format(" and at most {}", largest) : "");
  else if (below && above)
    rule = fmt::format("in {}..{}", least, largest);
  else if (above)
    rule = fmt::format(">= {}", least);
  else
    rule = below ? fmt::format("<= {}", largest) : "finite";
  return *remark == 0 ? rule : fmt::format("{} ({})", rule, remark);
}

std::string alternatives(std::span<const Choice> choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i)
    text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + std::string(choices[i].name);
  return text;
}

std::string did_you_mean(std::string_view wrong, std::span<const Choice> choices) {
  std::vector<std::string> names;
  for (const Choice& each : choices) names.emplace_back(each.name);
  const std::string near = suggestion(wrong, names);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

std::string name_rule(std::string_view wrong, std::span<const Choice> choices) {
  return alternatives(choices) + did_you_mean(wrong, choices);
}

}  // namespace kalmia
