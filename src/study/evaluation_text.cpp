#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "kalmia/evaluate.hpp"

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

// Numbers that are not finite become null as well, when the library writes them.
nlohmann::ordered_json number(std::optional<double> value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

std::string Evaluation::to_text() const {
  std::string text =
      fmt::format("{:<26}  {}\n{:<26}  {}\n", "steps", steps, "measured values", measured_values);
  text += "mean square errors\n";
  const std::string errors =
      line("  where measured",
           {{"raw", mse_raw}, {"filtered", mse_filtered}, {"smoothed", mse_smoothed}}) +
      line("  in gaps", {{"interpolated", gap_mse_interpolated},
                         {"filtered", gap_mse_filtered},
                         {"smoothed", gap_mse_smoothed}}) +
      line("  states", {{"filtered", state_mse_filtered}, {"smoothed", state_mse_smoothed}}) +
      line("  hidden measurements", {{"interpolated", hidden_mse_interpolated},
                                     {"filtered", hidden_mse_filtered},
                                     {"smoothed", hidden_mse_smoothed}});
  text += errors.empty() ? "  none: the data have no truth, and nothing was hidden\n" : errors;
  text += line("prediction, without noise", {{"", reducible_error}},
               "(mean square of the innovations less the noise)");
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
  nlohmann::ordered_json json;
  json["mse"] = {{"raw", number(mse_raw)},
                 {"filtered", number(mse_filtered)},
                 {"smoothed", number(mse_smoothed)}};
  json["gaps"] = {{"interpolated", number(gap_mse_interpolated)},
                  {"filtered", number(gap_mse_filtered)},
                  {"smoothed", number(gap_mse_smoothed)}};
  json["state_mse"] = {{"filtered", number(state_mse_filtered)},
                       {"smoothed", number(state_mse_smoothed)}};
  json["hidden"] = {{"interpolated", number(hidden_mse_interpolated)},
                    {"filtered", number(hidden_mse_filtered)},
                    {"smoothed", number(hidden_mse_smoothed)}};
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
  json["steps"] = steps;
  json["measured_values"] = measured_values;
  return json.dump(2);
}

}  // namespace kalmia
