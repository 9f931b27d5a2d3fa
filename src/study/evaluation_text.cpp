#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "kalmia/evaluate.hpp"
#include "kalmia/text.hpp"

namespace kalmia {
namespace {

using Figure = std::pair<const char*, std::optional<double>>;

// One line: what, then each figure that applies with its name; nothing if none does.
std::string line(const char* what, std::initializer_list<Figure> figures, const char* note = "") {
  std::string text;
  for (const auto& [name, value] : figures)
    if (value) text += fmt::format("  {}{}{:.4g}", name, *name == 0 ? "" : " ", *value);
  if (text.empty()) return {};
  return fmt::format("{:<26}{}{}{}\n", what, text, *note == 0 ? "" : "   ", note);
}

// Of all channels, or of one.
template <typename Scores>
std::string error_lines(const Scores& s) {
  return line("  where measured",
              {{"raw", s.mse_raw}, {"filtered", s.mse_filtered}, {"smoothed", s.mse_smoothed}}) +
         line("  in gaps", {{"interpolated", s.gap_mse_interpolated},
                            {"filtered", s.gap_mse_filtered},
                            {"smoothed", s.gap_mse_smoothed}}) +
         line("  hidden measurements", {{"interpolated", s.hidden_mse_interpolated},
                                        {"filtered", s.hidden_mse_filtered},
                                        {"smoothed", s.hidden_mse_smoothed}});
}

// No error is negative: then the noise that is taken off is too large.
std::string prediction_line(const char* what, std::optional<double> error) {
  if (!error || *error >= 0)
    return line(what, {{"", error}}, "(mean square of the innovations less the noise)");
  return fmt::format(
      "{:<26}  not known: the innovations' mean square is {:.4g} below the noise of the model;\n"
      "{:<26}  that is too large, or the noise lasts from step to step\n",
      what, -*error, "");
}

// Whether one mean square over all channels is that of some of them.
bool scales_differ(const std::vector<ChannelScore>& channels) {
  constexpr double kSameScale = 3;
  if (channels.size() < 2) return false;
  const auto [low, high] = std::ranges::minmax(channels, {}, &ChannelScore::scale);
  return high.scale > kSameScale * low.scale;
}

std::string channel_lines(const std::vector<ChannelScore>& channels) {
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t m = 0; m < std::min(channels.size(), kShown); ++m)
    text += "of " + printable(channels[m].name) + "\n" + error_lines(channels[m]) +
            prediction_line("  prediction, no noise", channels[m].reducible_error);
  if (channels.size() > kShown)
    text += fmt::format("... ({} channels in all; --json shows them)\n", channels.size());
  return text;
}

// Numbers that are not finite become null as well, when the library writes them.
nlohmann::ordered_json number(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

template <typename Scores>
nlohmann::ordered_json errors_json(const Scores& s) {
  return {{"mse",
           {{"raw", number(s.mse_raw)},
            {"filtered", number(s.mse_filtered)},
            {"smoothed", number(s.mse_smoothed)}}},
          {"gaps",
           {{"interpolated", number(s.gap_mse_interpolated)},
            {"filtered", number(s.gap_mse_filtered)},
            {"smoothed", number(s.gap_mse_smoothed)}}},
          {"hidden",
           {{"interpolated", number(s.hidden_mse_interpolated)},
            {"filtered", number(s.hidden_mse_filtered)},
            {"smoothed", number(s.hidden_mse_smoothed)}}}};
}

}  // namespace

std::string Evaluation::to_text() const {
  std::string text =
      fmt::format("{:<26}  {}\n{:<26}  {}\n", "steps", steps, "measured values", measured_values);
  const bool apart = scales_differ(channels);
  text += apart ? "mean square errors, of channels whose scales differ: the largest decide\n"
                : "mean square errors\n";
  const std::string errors =
      error_lines(*this) +
      line("  states", {{"filtered", state_mse_filtered}, {"smoothed", state_mse_smoothed}});
  text += errors.empty() ? "  none: the data have no truth, and nothing was hidden\n" : errors;
  text += prediction_line("prediction, without noise", reducible_error);
  if (apart) text += channel_lines(channels);
  text += line("log-likelihood", {{"", log_likelihood}, {"per value", log_likelihood_per_value}});
  text += line("NIS", {{"", nis}}, "(1 if the innovations' covariances are right)");
  text += line("NEES", {{"filtered", nees_filtered}, {"smoothed", nees}},
               "(1 if the covariances are right)");
  text +=
      line("within 95 % bars",
           {{"filtered", coverage95_filtered}, {coverage95_filtered ? "smoothed" : "", coverage95}},
           "(0.95 if the bars are right)");
  text += line("whiteness, p-value", {{"", whiteness_p}},
               "(below 0.01: the innovations are not white)");
  text += line("leak", {{"", leak}}, "(of a measurement into its own prediction; 0: none)");
  for (std::size_t h = 0; h < forecasts.size(); ++h)
    text += line(fmt::format("forecast, {} ahead", h + 1).c_str(),
                 {{"error", forecasts[h].mse}, {"within 95 % bars", forecasts[h].coverage95}});
  return text;
}

std::string Evaluation::to_json() const {
  nlohmann::ordered_json json = errors_json(*this);
  json["state_mse"] = {{"filtered", number(state_mse_filtered)},
                       {"smoothed", number(state_mse_smoothed)}};
  json["log_likelihood"] = number(log_likelihood);
  json["log_likelihood_per_value"] = number(log_likelihood_per_value);
  json["nis"] = number(nis);
  json["nees"] = number(nees);
  json["nees_filtered"] = number(nees_filtered);
  json["coverage95"] = number(coverage95);
  json["coverage95_filtered"] = number(coverage95_filtered);
  json["whiteness_p"] = number(whiteness_p);
  json["reducible_error"] = number(reducible_error);
  json["leak"] = number(leak);
  json["forecasts"] = nlohmann::ordered_json::array();
  for (const ForecastScore& each : forecasts)
    json["forecasts"].push_back(
        {{"mse", number(each.mse)}, {"coverage95", number(each.coverage95)}});
  json["channels"] = nlohmann::ordered_json::array();
  for (const ChannelScore& each : channels) {
    nlohmann::ordered_json one = {{"name", each.name}, {"scale", number(each.scale)}};
    one.update(errors_json(each));
    one["reducible_error"] = number(each.reducible_error);
    json["channels"].push_back(one);
  }
  json["steps"] = steps;
  json["measured_values"] = measured_values;
  // Names need not be UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace kalmia
