#include "reproduce/audio_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "audio/sound_metrics.hpp"
#include "base/threads.hpp"
#include "reproduce/result_json.hpp"

namespace kalmia::reproduction {
namespace {

// The figures of a row: (name, value).
template <typename Row, typename Visitor>
void visit_figures(Row& row, Visitor&& visit) {
  visit("mse", row.mse);
  visit("median_mse", row.median_mse);
  visit("ratio", row.ratio);
  visit("snr_gain_db", row.snr_gain_db);
  visit("si_sdr_gain_db", row.si_sdr_gain_db);
  visit("segmental_gain_db", row.segmental_gain_db);
}

template <typename Row, typename Visitor>
void visit_extras(Row& row, Visitor&& visit) {
  visit("paper_mse", row.paper_mse);
  visit("held_out", row.held_out);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return sum / static_cast<double>(values.size());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

Sound samples_where(const Sound& sound, const std::vector<std::uint8_t>& where) {
  Sound kept;
  for (std::size_t n = 0; n < sound.size(); ++n)
    if (where[n] != 0) kept.push_back(sound[n]);
  return kept;
}

void check(const Sound& estimate, const Sound& clean, std::size_t i) {
  if (estimate.size() != clean.size())
    throw NumericalError(fmt::format("estimate {}: {} samples, but the recording has {}", i + 1,
                                     estimate.size(), clean.size()));
  for (std::size_t n = 0; n < estimate.size(); ++n)
    if (!std::isfinite(estimate[n]))
      throw NumericalError(
          fmt::format("estimate {}, sample {}: {}, but it must be finite", i + 1, n, estimate[n]));
}

const AudioRow* find(const AudioReproduction& result, const std::string& method,
                     const std::string& noise) {
  for (const AudioRow& row : result.rows)
    if (row.method == method && row.noise == noise) return &row;
  return nullptr;
}

using Figure = std::function<std::optional<double>(const AudioRow&)>;

// A line for each method, a column for each noise.
std::string table(const AudioReproduction& result, const std::string& title, int digits,
                  const Figure& figure) {
  std::size_t width = 0;
  for (const AudioMethod& method : result.methods) width = std::max(width, method.name.size());
  std::string text = title + "\n  " + std::string(width + 1, ' ');
  for (const std::string& noise : result.options.noises) text += fmt::format("{:>10}", noise);
  text += '\n';
  for (const AudioMethod& method : result.methods) {
    text += fmt::format(" {}{:<{}}", method.self_supervised ? ' ' : '*', method.name, width + 1);
    for (const std::string& noise : result.options.noises) {
      const AudioRow* const row = find(result, method.name, noise);
      const std::optional<double> value = row ? figure(*row) : std::nullopt;
      text += value && std::isfinite(*value) ? fmt::format("{:>10.{}f}", *value, digits)
                                             : fmt::format("{:>10}", "-");
    }
    text += '\n';
  }
  return text;
}

Json options_json(const AudioOptions& options) {
  return {{"quick", options.quick},       {"data", options.data},
          {"noises", options.noises},     {"methods", options.methods},
          {"training", options.training}, {"validation", options.validation},
          {"test", options.test},         {"seed", options.seed}};
}

Json method_json(const AudioMethod& method) {
  Json paper = Json::object();
  for (const AudioPaperFigure& each : method.paper) paper[each.noise] = each.mse;
  return {{"name", method.name},
          {"description", method.description},
          {"self_supervised", method.self_supervised},
          {"in_paper", method.in_paper},
          {"paper_mse", paper},
          {"settings", method.settings}};
}

}  // namespace

AudioRow audio_row(const Sounds& estimates, const Sounds& noisy, const Sounds& clean) {
  if (estimates.size() != clean.size())
    throw NumericalError(
        fmt::format("{} estimates, but there are {} recordings", estimates.size(), clean.size()));
  std::vector<double> raw, error, snr, si_sdr, segmental;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    check(estimates[i], clean[i], i);
    const std::vector<std::uint8_t> where = audio::heard(clean[i], kHeardFrame);
    const Sound truth = samples_where(clean[i], where);
    const auto gain = [&](const auto& measure) {
      return measure(estimates[i]) - measure(noisy[i]);
    };
    raw.push_back(audio::mean_square_error(noisy[i], clean[i], where));
    error.push_back(audio::mean_square_error(estimates[i], clean[i], where));
    snr.push_back(gain([&](const Sound& x) { return audio::snr_db(x, clean[i], where); }));
    si_sdr.push_back(
        gain([&](const Sound& x) { return audio::si_sdr_db(samples_where(x, where), truth); }));
    segmental.push_back(gain(
        [&](const Sound& x) { return audio::segmental_snr_db(x, clean[i], kHeardFrame, where); }));
  }
  AudioRow row;
  row.raw_mse = mean(raw);
  row.mse = mean(error);
  row.median_mse = median(error);
  row.ratio = *row.mse / row.raw_mse;
  row.snr_gain_db = mean(snr);
  row.si_sdr_gain_db = mean(si_sdr);
  row.segmental_gain_db = mean(segmental);
  return row;
}

Json audio_row_json(const AudioRow& row) {
  Json json = {{"method", row.method}, {"noise", row.noise}, {"raw_mse", row.raw_mse}};
  const auto put = [&json](const char* name, const std::optional<double>& value) {
    json[name] = optional_json(value);
  };
  visit_figures(row, put);
  json["seconds"] = row.seconds;
  json["self_supervised"] = row.self_supervised;
  visit_extras(row, put);
  if (row.networks_kept) json["networks_kept"] = *row.networks_kept;
  if (!row.error.empty()) json["error"] = row.error;
  return json;
}

Json audio_json(const AudioReproduction& result) {
  Json provenance = build_json();
  provenance["options"] = options_json(result.options);
  provenance["threads"] = result.options.threads > 0 ? result.options.threads : hardware_threads();
  provenance["utterances"] = {
      {"training", result.training}, {"validation", result.validation}, {"test", result.test}};
  provenance["started"] = result.started;
  provenance["seconds"] = result.seconds;
  provenance["complete"] = result.complete;
  Json methods = Json::array(), rows = Json::array();
  for (const AudioMethod& method : result.methods) methods.push_back(method_json(method));
  for (const AudioRow& row : result.rows) rows.push_back(audio_row_json(row));
  return {
      {"experiment", "audio"}, {"provenance", provenance}, {"methods", methods}, {"rows", rows}};
}

std::string audio_csv(const std::vector<AudioRow>& rows) {
  std::string text = "method,noise,self_supervised,raw_mse";
  const AudioRow none;
  const auto name_of = [&text](const char* name, const auto&) { text += fmt::format(",{}", name); };
  visit_figures(none, name_of);
  text += ",seconds";
  visit_extras(none, name_of);
  text += ",networks_kept,error\n";
  for (const AudioRow& row : rows) {
    const auto put = [&text](const char*, const std::optional<double>& value) {
      text += value && std::isfinite(*value) ? fmt::format(",{}", *value) : ",";
    };
    text += fmt::format("{},{},{},{}", row.method, row.noise, row.self_supervised, row.raw_mse);
    visit_figures(row, put);
    text += fmt::format(",{}", row.seconds);
    visit_extras(row, put);
    text += row.networks_kept ? fmt::format(",{}", *row.networks_kept) : ",";
    text += fmt::format(",{}\n", csv_text(row.error));
  }
  return text;
}

std::string audio_text(const AudioReproduction& result) {
  std::string text =
      fmt::format("audio: {} utterances to learn from, {} to choose by, {} to score; {:.0f} s\n\n",
                  result.training, result.validation, result.test, result.seconds);
  if (!result.complete) text += "stopped on the way: what is missing is marked -\n\n";
  text += table(result, "Error over that of the recordings (mean square where speech is heard)", 3,
                [](const AudioRow& row) { return row.ratio; });
  text += "  * knows clean speech, or the noise alone; others see noisy recordings only\n";
  text += table(result, "\nMean square error (utterances have unit variance)", 3,
                [](const AudioRow& row) { return row.mse; });
  const bool any = std::any_of(result.rows.begin(), result.rows.end(),
                               [](const AudioRow& row) { return row.paper_mse.has_value(); });
  if (any)
    text +=
        table(result, "\nThe paper's (it does not say how loud its noise is; 0.25 is our guess)", 3,
              [](const AudioRow& row) { return row.paper_mse; });
  text += table(result, "\nGain of the scale-invariant signal-to-distortion ratio, dB", 1,
                [](const AudioRow& row) { return row.si_sdr_gain_db; });
  text += table(result, "\nSeconds (with what a method shares)", 0,
                [](const AudioRow& row) { return std::optional(row.seconds); });
  std::string errors;
  for (const AudioRow& row : result.rows)
    if (!row.error.empty()) errors += fmt::format("{}, {}: {}\n", row.method, row.noise, row.error);
  return errors.empty() ? text : text + "\n" + errors;
}

}  // namespace kalmia::reproduction
