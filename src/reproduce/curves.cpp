#include "reproduce/curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reproduce/rows.hpp"

namespace kalmia::reproduction {
namespace {

constexpr std::size_t kColumn = 10;  // width of a size's column
constexpr double kLeastSpan = 0.05;  // of the vertical axis, in logarithms

using Spread = ReproduceSpread ReproduceSummary::*;

const ReproduceSummary* find(const Reproduction& result, const std::string& method, int n) {
  for (const ReproduceSummary& each : result.summary)
    if (each.method == method && each.n == n) return &each;
  return nullptr;
}

std::string figure(const std::optional<double>& value, int digits = 4) {
  return value ? fmt::format("{:>10.{}g}", *value, digits) : fmt::format("{:>10}", "-");
}

std::size_t name_width(const Reproduction& result) {
  std::size_t width = 6;
  for (const ReproduceMethod& method : result.methods) width = std::max(width, method.name.size());
  return width + 2;
}

// A to Z, then a to z.
char mark_of(std::size_t method) {
  const std::size_t place = method % 52;
  return static_cast<char>(place < 26 ? 'A' + place : 'a' + place - 26);
}

std::string header(const Reproduction& result, std::size_t width, bool paper) {
  std::string text = fmt::format("  {:<{}}", "steps", width + 2);
  for (const int n : result.options.sizes) text += fmt::format("{:>10}", n);
  return text + (paper ? "     paper\n" : "\n");
}

// Medians of a figure, methods by sizes.
std::string table(const Reproduction& result, const char* title, Spread figures, bool with_paper) {
  const std::size_t width = name_width(result);
  std::string text = fmt::format("{}\n{}", title, header(result, width, with_paper));
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    const ReproduceMethod& method = result.methods[m];
    text += fmt::format("{} {}{:<{}}", mark_of(m), method.self_supervised ? " " : "*", method.name,
                        width + 1);
    for (const int n : result.options.sizes) {
      const ReproduceSummary* const found = find(result, method.name, n);
      text += figure(found ? (found->*figures).median : std::nullopt);
    }
    if (with_paper && method.paper_state_mse) text += figure(method.paper_state_mse, 3);
    text += "\n";
  }
  return text;
}

// What is far worse than the measurements is drawn at the top.
std::string curves(const Reproduction& result, Spread figures) {
  const ReproduceSummary* const raw = find(result, "raw", result.options.sizes.back());
  const std::optional<double> noise = raw ? (raw->*figures).median : std::nullopt;
  const double ceiling = noise ? 2 * *noise : std::numeric_limits<double>::infinity();
  std::vector<Curve> all;
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    Curve curve{mark_of(m), {}};
    for (const int n : result.options.sizes) {
      const ReproduceSummary* const found = find(result, result.methods[m].name, n);
      std::optional<double> value = found ? (found->*figures).median : std::nullopt;
      if (value) value = std::min(*value, ceiling);
      curve.values.push_back(value);
    }
    all.push_back(std::move(curve));
  }
  return draw_curves(result.options.sizes, all);
}

// Spread over seeds, calibration and the decomposition, at the largest size.
std::string details(const Reproduction& result) {
  const int n = result.options.sizes.back();
  const std::size_t width = name_width(result);
  std::string text = fmt::format(
      "At {} steps: spread over {} seed{}, NEES and coverage of the 95 % bars; error of the "
      "prediction\n(App. D): estimated without truth (self-supervised error less the noise), and "
      "true\n  {:<{}}{:>10}{:>10}{:>10}{:>10}{:>12}{:>10}{:>10}\n",
      n, result.options.seeds, result.options.seeds == 1 ? "" : "s", "", width + 2, "least",
      "largest", "NEES", "coverage", "estimated", "+-", "true");
  for (std::size_t m = 0; m < result.methods.size(); ++m) {
    const std::string& name = result.methods[m].name;
    const ReproduceSummary* const found = find(result, name, n);
    if (!found) continue;
    const ReproduceSpread& spread =
        found->state_mse.median ? found->state_mse : found->position_mse;
    std::vector<double> estimates, truths, deviations;
    for (const ReproduceRow& row : result.rows)
      if (row.method == name && row.n == n && row.reducible_error && row.prediction_error) {
        estimates.push_back(*row.reducible_error);
        truths.push_back(*row.prediction_error);
        deviations.push_back(row.reducible_error_std.value_or(0));
      }
    const std::optional<double> estimated = spread_of(std::move(estimates)).median,
                                truth = spread_of(std::move(truths)).median,
                                deviation = spread_of(std::move(deviations)).median;
    text += fmt::format(
        "{} {}{:<{}}{}{}{}{}  {}{}{}\n", mark_of(m), result.methods[m].self_supervised ? " " : "*",
        name, width + 1, figure(spread.low), figure(spread.high), figure(found->nees, 3),
        figure(found->coverage95, 3), figure(estimated), figure(deviation, 2), figure(truth));
  }
  return text;
}

std::string errors(const Reproduction& result) {
  std::string text;
  for (const ReproduceRow& row : result.rows)
    if (!row.error.empty())
      text += fmt::format("{} at {} steps, seed {}: {}\n", row.method, row.n, row.seed, row.error);
  return text;
}

}  // namespace

std::string draw_curves(const std::vector<int>& sizes, const std::vector<Curve>& curves,
                        int height) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Curve& curve : curves)
    for (const std::optional<double>& value : curve.values)
      if (value && *value > 0 && std::isfinite(*value)) {
        low = std::min(low, *value);
        high = std::max(high, *value);
      }
  if (!(high > 0)) return "";
  const double top = std::log(high), bottom = std::log(low);
  const double unit = std::max(top - bottom, kLeastSpan) / (height - 1);
  const std::size_t width = kColumn * sizes.size();
  std::vector<std::string> lines(static_cast<std::size_t>(height), std::string(width, ' '));
  const auto line_of = [&](double log_value) {
    return static_cast<std::size_t>(std::lround((top - log_value) / unit));
  };
  for (const Curve& curve : curves)
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      const auto at = [&](std::size_t j) {
        const std::optional<double>& value = curve.values[j];
        return value && *value > 0 && std::isfinite(*value) ? std::log(*value) : std::nan("");
      };
      const double here = at(i);
      if (std::isnan(here)) continue;
      const std::size_t column = i * kColumn + kColumn / 2;
      lines[line_of(here)][column] = curve.mark;
      // Dots on the way to the next size.
      const double next = i + 1 < curve.values.size() ? at(i + 1) : std::nan("");
      for (std::size_t d = 2; !std::isnan(next) && d < kColumn; d += 2) {
        const double share = static_cast<double>(d) / kColumn;
        char& dot = lines[line_of(here + share * (next - here))][column + d];
        if (dot == ' ') dot = '.';
      }
    }
  std::string text;
  for (int line = 0; line < height; ++line) {
    const bool labelled = line % 3 == 0 || line == height - 1;
    const std::string label = labelled ? fmt::format("{:.3g}", std::exp(top - line * unit)) : "";
    std::string row = lines[static_cast<std::size_t>(line)];
    row.erase(row.find_last_not_of(' ') + 1);
    text += fmt::format("{:>9} |{}\n", label, row);
  }
  text += std::string(10, ' ') + "+" + std::string(width, '-') + "\n" + std::string(10, ' ');
  for (const int n : sizes) text += fmt::format("{:>{}}{:<{}}", n, 8, "", kColumn - 8);
  return text + " steps\n";
}

std::string result_text(const Reproduction& result) {
  const bool linear = result.options.experiment == "linear";
  std::string text = fmt::format(
      "{}: {} seed{}, {} test steps, {:.0f} s{}\n\n", result.options.experiment,
      result.options.seeds, result.options.seeds == 1 ? "" : "s", result.options.test,
      result.seconds,
      result.resumed > 0 ? fmt::format(" and {} cells of the journal", result.resumed) : "");
  if (!result.complete) text += "stopped on the way: what is missing is marked -\n\n";
  text += table(result, "State error (mean square; median over seeds)",
                &ReproduceSummary::state_mse, linear);
  if (linear)
    text += table(result, "\nPosition error (the paper's figure)", &ReproduceSummary::position_mse,
                  false);
  text +=
      "  * knows clean data, or the true parameters and noise; others may know equations, and "
      "learn "
      "from\n    noisy data alone\n\n";
  text += linear ? "Position error\n" : "State error\n";
  text += curves(result, linear ? &ReproduceSummary::position_mse : &ReproduceSummary::state_mse);
  text += '\n';
  text += details(result);
  if (result.smoother_check)
    text += fmt::format(
        "\nLinearized smoother against the posterior of all states together, {} steps of the "
        "linear\nsystem: means differ by {:.1e} standard deviations at most, variances by {:.1e}\n",
        result.smoother_check->steps, result.smoother_check->mean_difference,
        result.smoother_check->variance_difference);
  const std::string failed = errors(result);
  return failed.empty() ? text : text + "\nFailed:\n" + failed;
}

}  // namespace kalmia::reproduction
