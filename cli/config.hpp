/// \file
/// The configuration file of `kalmia fit`: TOML with the tables data, model, train and system.
#pragma once

#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/fit.hpp"
#include "places.hpp"

namespace kalmia::cli {

struct FitConfig {
  std::string file;        ///< data.file
  std::string validation;  ///< data.validation: a file to choose the model by; empty: none
  std::string output;      ///< where the model goes
  DataOptions data;
  FitOptions fit;
  Places places;                  ///< where the options of the model and of its training were given
  std::vector<std::string> idle;  ///< FitOptions::without_effect of the file by itself
};

/// Whether a file named on the command line is a configuration rather than data.
bool is_config(const std::string& path);

/// Reads a configuration. Files that it names are relative to its own folder. Throws IoError if it
/// cannot be read, ConfigError with the line of every key that is unknown or of the wrong type.
FitConfig read_fit_config(const std::string& path);

}  // namespace kalmia::cli
