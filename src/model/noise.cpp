#include "model/noise.hpp"

#include <fast_float/fast_float.h>

#include <cmath>

#include "kalman/emission.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The parts without the spaces around them; a space within a part stays.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (;;) {
    const std::size_t to = text.find(separator, from);
    parts.push_back(trimmed(text.substr(from, to - from)));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

std::string channels(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " measured channel" : " measured channels");
}

double parse_number(const std::string& noise, const std::string& part) {
  double value = 0;
  const auto [end, error] = fast_float::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value))
    throw ConfigError("noise = \"" + noise + "\": \"" + part +
                      "\" is not a number; give a standard deviation (0.5), one for each channel "
                      "(0.5,0.3), a covariance by rows (0.25,0.1;0.1,0.3), learn or learn-full");
  return value;
}

}  // namespace

NoiseSpec parse_noise(const std::string& text, int meas_dim) {
  if (text == "learn" || text == "auto") return {NoiseSpec::Kind::LearnDiagonal, {}};
  if (text == "learn-full") return {NoiseSpec::Kind::LearnFull, {}};
  NoiseSpec spec;
  spec.kind = NoiseSpec::Kind::Given;
  const auto M = static_cast<std::size_t>(meas_dim);
  spec.R.assign(M * M, 0.0);
  const std::vector<std::string> rows = split(text, ';');
  const std::vector<std::string> first = split(rows[0], ',');
  if (rows.size() == 1) {
    if (first.size() != 1 && first.size() != M)
      throw ConfigError("noise = \"" + text + "\" has " + std::to_string(first.size()) +
                        " standard deviations, but the data have " + channels(M));
    for (std::size_t m = 0; m < M; ++m) {
      const double deviation = parse_number(text, first[first.size() == 1 ? 0 : m]);
      if (!(deviation > 0))
        throw ConfigError("noise = \"" + text + "\", but a standard deviation must be > 0");
      spec.R[m * M + m] = deviation * deviation;
    }
  } else {
    if (rows.size() != M)
      throw ConfigError("noise = \"" + text + "\" is a covariance of " +
                        std::to_string(rows.size()) + " rows, but the data have " + channels(M));
    for (std::size_t i = 0; i < M; ++i) {
      const std::vector<std::string> row = split(rows[i], ',');
      if (row.size() != M)
        throw ConfigError("noise = \"" + text + "\": row " + std::to_string(i + 1) + " has " +
                          std::to_string(row.size()) + " values, but the covariance has " +
                          std::to_string(M) + " columns");
      for (std::size_t j = 0; j < M; ++j) spec.R[i * M + j] = parse_number(text, row[j]);
    }
  }
  try {
    kalman::check_measurement_noise(spec.R, meas_dim);
  } catch (const ConfigError& error) {
    throw ConfigError("noise = \"" + text + "\": " + error.what());
  }
  return spec;
}

}  // namespace kalmia::model
