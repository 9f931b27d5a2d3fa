#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kalmia/denoise.hpp"

namespace kalmia {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const SoundScores& scores) {
  return {{"mse", scores.mse},
          {"snr_db", scores.snr_db},
          {"segmental_snr_db", scores.segmental_snr_db},
          {"si_sdr_db", scores.si_sdr_db}};
}

std::string row(const char* name, const SoundScores& s) {
  return fmt::format("{:<8}{:>12.4g}{:>10.2f}{:>16.2f}{:>10.2f}\n", name, s.mse, s.snr_db,
                     s.segmental_snr_db, s.si_sdr_db);
}

}  // namespace

std::string DenoiseReport::to_text() const {
  if (!complete) return fmt::format("{}: stopped; {} is not written\n", input, output);
  std::string text = fmt::format(
      "{}: {:.2f} s, {} channel{} at {} Hz, {} times faster than real time\n", output, seconds,
      channels, channels == 1 ? "" : "s", rate, fmt::format("{:.3g}", times_real_time));
  text += fmt::format("method: {}{}; level {:.1f} dB, was {:.1f} dB\n", method,
                      model.empty() ? "" : " (" + model + ")", level_after_db, level_before_db);
  if (fit)
    text += fmt::format("fit: {} updates in {:.1f} s, {}\n", fit->updates, fit->seconds,
                        fit->kept ? "kept" : "nothing better was found");
  if (clipped > 0)
    text += fmt::format(
        "clipped: {} samples were beyond full scale and cut to it; a quieter or a float recording "
        "has room for them\n",
        clipped);
  if (cut_off) text += "cut off: the input ended before the length in its header\n";
  if (before && after)
    text += fmt::format("{:<8}{:>12}{:>10}{:>16}{:>10}\n", "", "MSE", "SNR dB", "segmental dB",
                        "SI-SDR dB") +
            row("before", *before) + row("after", *after);
  return text;
}

std::string DenoiseReport::to_json() const {
  Json json = {{"input", input},
               {"output", output},
               {"method", method},
               {"model", model},
               {"rate", rate},
               {"channels", channels},
               {"samples", samples},
               {"seconds", seconds},
               {"work_seconds", work_seconds},
               {"times_real_time", times_real_time},
               {"level_before_db", level_before_db},
               {"level_after_db", level_after_db},
               {"clipped", clipped},
               {"cut_off", cut_off},
               {"complete", complete},
               {"fit", nullptr},
               {"before", nullptr},
               {"after", nullptr}};
  if (fit)
    json["fit"] = {{"seconds", fit->seconds}, {"updates", fit->updates}, {"kept", fit->kept}};
  if (before) json["before"] = kalmia::to_json(*before);
  if (after) json["after"] = kalmia::to_json(*after);
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kalmia
