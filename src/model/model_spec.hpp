// What ModelOptions ask for, read once: text becomes types, which the rest of the library uses.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "heads/architecture.hpp"
#include "kalmia/fit_options.hpp"
#include "model/noise.hpp"
#include "model/smoothers.hpp"
#include "nn/encoder.hpp"
#include "prior/expert.hpp"
#include "prior/parts_text.hpp"

namespace kalmia::model {

/// The one of prior::automatic_priors that predicts best.
struct AutomaticPrior {};
/// One of the table, but not the user's own equations.
struct NamedPrior {
  prior::PriorKind kind = prior::PriorKind::ConstantPosition;
  std::vector<prior::WrittenPart> parts;  ///< that are added to it
};
/// A sum of parts.
struct SumPrior {
  std::vector<prior::WrittenPart> parts;
};
/// The user's own equations.
struct WrittenPrior {
  System system;
  std::vector<prior::WrittenPart> parts;  ///< that are added to it
};

using PriorChoice = std::variant<AutomaticPrior, NamedPrior, SumPrior, WrittenPrior>;
/// Whether the maps of the prior hold for a step of any length.
bool any_step(const PriorChoice& prior);

/// What is tried beyond what the options say.
enum class Effort { Quick, Normal, Thorough };

struct EffortEntry {
  Effort effort;
  std::string_view name, meaning;
};
std::span<const EffortEntry> effort_table();

/// What estimates are for.
enum class Purpose { All, Filter, Smooth, Gaps, Forecast };

struct PurposeEntry {
  Purpose purpose;
  std::string_view name, meaning;
};
std::span<const PurposeEntry> purpose_table();

/// How far the expert's map may be off.
struct DepartureSpec {
  std::optional<double> std;  ///< none: as the prior suggests
  int degree = 1;
};

struct NetworkSpec {
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  int taps = 16;
  heads::HeadKind filter = heads::HeadKind::Recursion;
  int hidden = 64;  ///< 0: no networks
  std::vector<int> decoder;
  int members = 1;

  bool any() const { return hidden > 0; }
  bool recursive() const { return filter == heads::HeadKind::Recursion; }
};

/// The fields of ModelOptions.
struct ModelSpec {
  PriorChoice prior;
  prior::Integration integration;  ///< of prior::integrated_priors
  int lags = 0;                    ///< of ar; 0: two
  DepartureSpec departure;
  int latent = 0;  ///< of none
  StatedNoise noise;
  Tails tails;
  NetworkSpec networks;
  std::optional<SmootherKind> smoother;  ///< none: linearized
  bool keep_smoother = false;
  bool calibrate = false;
  Effort effort = Effort::Normal;
  Purpose purpose = Purpose::All;

  /// Whether more is tried than the options say.
  bool searches() const { return effort != Effort::Quick; }
  bool is_prior(prior::PriorKind kind) const;
  /// Null where none is to be trained.
  const SmootherEntry* trained_smoother() const {
    return smoother ? &smoother_entry(*smoother) : nullptr;
  }

  /// The expert map of one kind: of the prior, or of one that `auto` tries.
  prior::ExpertSpec expert(prior::PriorKind kind) const;
  /// The same with a polynomial departure from the map.
  prior::ExpertSpec expert(prior::PriorKind kind, int departure_degree) const;
  /// That of a sum of parts.
  prior::ExpertSpec expert(std::vector<prior::Part> parts) const;
  /// The parts that are written, alone or behind equations.
  const std::vector<prior::WrittenPart>& written_parts() const;
};

/// Reads the options. Adds a sentence to `violations` for every rule that they violate; a choice
/// that is none is then read as its default.
ModelSpec parse_model(const ModelOptions& options, std::vector<std::string>& violations);

}  // namespace kalmia::model
