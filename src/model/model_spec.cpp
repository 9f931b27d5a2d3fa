#include "model/model_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"
#include "model/filters.hpp"

namespace kalmia {
namespace {

// What is no prior, but a way to find one.
constexpr Choice kAutomatic = {"auto", "a search for the parts that each channel is the sum of"};
// What is no smoother with networks.
constexpr Choice kLinearized = {"linearized", "a backward pass, without training"};

std::vector<Choice> after(const Choice& first, const std::vector<Choice>& others) {
  std::vector<Choice> all = {first};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

}  // namespace

// A sum is written by its parts, not by its name.
std::vector<Choice> prior_choices() {
  std::vector<Choice> named;
  for (const prior::PriorEntry& each : prior::prior_table())
    if (each.kind != prior::PriorKind::Sum) named.push_back({each.name, each.meaning});
  return after(kAutomatic, named);
}
std::vector<Choice> flow_choices() { return choices_in(prior::flow_table()); }
std::vector<Choice> noise_choices() { return model::noise_forms(); }
std::vector<Choice> tails_choices() { return model::tails_forms(); }
std::vector<Choice> encoder_choices() { return choices_in(nn::encoder_table()); }
std::vector<Choice> filter_choices() { return choices_in(model::filter_table()); }
std::vector<Choice> smoother_choices() {
  return after(kLinearized, choices_in(model::smoother_table()));
}
std::vector<Choice> effort_choices() { return choices_in(model::effort_table()); }
std::vector<Choice> purpose_choices() { return choices_in(model::purpose_table()); }

bool takes_equations(const std::string& prior) {
  return prior::leading_map(prior) == prior::PriorKind::System;
}

namespace model {
namespace {

constexpr EffortEntry kEfforts[] = {
    {Effort::Quick, "quick", "nothing but the usual priors where none is named"},
    {Effort::Normal, "normal", "parts, departures from equations, heavy tails"},
    {Effort::Thorough, "thorough", "the same on more of the data"},
};

constexpr PurposeEntry kPurposes[] = {
    {Purpose::All, "all", "no use of the model may become worse"},
    {Purpose::Filter, "filter", "states from the past alone"},
    {Purpose::Smooth, "smooth", "states from past and future"},
    {Purpose::Gaps, "gaps", "what is missing, from both sides"},
    {Purpose::Forecast, "forecast", "what comes after the data"},
};

// The row of a table that a name stands for; null: none.
template <typename Table>
auto find_named(const Table& table, std::string_view name) -> decltype(std::begin(table)) {
  for (const auto& row : table)
    if (row.name == name) return &row;
  return nullptr;
}

// Standard deviation of the coefficients of a polynomial departure, which have no unit.
constexpr double kUsualCoefficient = 1;

class Parser {
 public:
  Parser(const ModelOptions& options, std::vector<std::string>& violations)
      : options_(options), violations_(violations) {}

  ModelSpec read() {
    add_range_violations(options_, "model.", violations_);
    ModelSpec spec;
    read_prior(spec);
    read_noise(spec);
    spec.networks = {.taps = options_.taps,
                     .hidden = options_.hidden,
                     .decoder = options_.decoder,
                     .members = options_.members};
    if (const nn::EncoderEntry* encoder = nn::find_encoder(options_.encoder))
      spec.networks.encoder = encoder->kind;
    else
      require_name(false, "encoder", options_.encoder, encoder_choices());
    if (const FilterEntry* filter = find_filter(options_.filter))
      spec.networks.filter = filter->head;
    else
      require_name(false, "filter", options_.filter, filter_choices());
    if (const SmootherEntry* smoother = find_smoother(options_.smoother))
      spec.smoother = smoother->kind;
    else
      require_name(options_.smoother == kLinearized.name, "smoother", options_.smoother,
                   smoother_choices());
    spec.keep_smoother = options_.keep_smoother;
    spec.calibrate = options_.calibrate;
    const auto* effort = find_named(kEfforts, options_.effort);
    if (effort != nullptr) spec.effort = effort->effort;
    require_name(effort != nullptr, "effort", options_.effort, effort_choices());
    const auto* purpose = find_named(kPurposes, options_.purpose);
    if (purpose != nullptr) spec.purpose = purpose->purpose;
    require_name(purpose != nullptr, "purpose", options_.purpose, purpose_choices());
    check_together(spec);
    return spec;
  }

 private:
  void require_name(bool holds, const char* option, const std::string& found,
                    const std::vector<Choice>& choices) {
    if (!holds)
      violations_.push_back(fmt::format("model.{} = \"{}\", but it must be {}", option, found,
                                        name_rule(found, choices)));
  }

  void read_prior(ModelSpec& spec) {
    const prior::PriorEntry* entry = prior::find_prior(options_.prior);
    const bool automatic = options_.prior == kAutomatic.name;
    const bool written = entry != nullptr && entry->kind == prior::PriorKind::System;
    if (written || (automatic && !options_.system.empty()))
      spec.prior = WrittenPrior{options_.system, {}};
    else if (entry != nullptr && entry->kind != prior::PriorKind::Sum)
      spec.prior = NamedPrior{entry->kind, {}};
    else if (!automatic)
      read_parts(spec);
    const IntegrationOptions& given = options_.integration;
    const prior::FlowEntry* flow = prior::find_flow(given.flow);
    require_name(given.flow.empty() || flow != nullptr, "flow", given.flow, flow_choices());
    if (flow != nullptr) spec.integration.flow = flow->flow;
    spec.integration.substeps = given.substeps;
    // Users call the number of lags the order.
    (spec.is_prior(prior::PriorKind::Ar) ? spec.lags : spec.integration.order) = given.order;
    if (options_.departure >= 0) spec.departure.std = options_.departure;
    spec.departure.degree = options_.departure_degree;
    spec.latent = options_.latent;
  }

  // What is no name of a prior may be a sum of parts.
  void read_parts(ModelSpec& spec) {
    if (!prior::looks_like_parts(options_.prior)) {
      std::vector<Choice> known = prior_choices(), forms = known;
      forms.push_back({"a sum as in trend + season(24)", ""});
      std::ranges::copy(choices_in(prior::part_table()), std::back_inserter(known));
      violations_.push_back(fmt::format("model.prior = \"{}\", but it must be {}{}", options_.prior,
                                        alternatives(forms), did_you_mean(options_.prior, known)));
      return;
    }
    try {
      prior::WrittenSum sum = prior::parse_sum(options_.prior);
      if (!sum.map)
        spec.prior = SumPrior{std::move(sum.parts)};
      else if (*sum.map == prior::PriorKind::System)
        spec.prior = WrittenPrior{options_.system, std::move(sum.parts)};
      else
        spec.prior = NamedPrior{*sum.map, std::move(sum.parts)};
    } catch (const ConfigError& error) {
      violations_.push_back(std::string("model.") + error.what());
    }
  }

  void read_noise(ModelSpec& spec) {
    try {
      spec.noise = parse_noise(options_.noise);
    } catch (const ConfigError& error) {
      violations_.push_back(std::string("model.") + error.what());
    }
    try {
      spec.tails = parse_tails(options_.tails);
    } catch (const ConfigError& error) {
      violations_.push_back(std::string("model.") + error.what());
    }
  }

  // What cannot go together.
  void check_together(const ModelSpec& spec) {
    const bool gaussian = is_gaussian(spec.tails);
    const SmootherEntry* smoother = spec.trained_smoother();
    if (spec.latent > 0 && !spec.is_prior(prior::PriorKind::None))
      violations_.push_back(fmt::format(
          "model.latent = {} with prior = {}, but latent states are for none; take that prior, or "
          "leave them out",
          spec.latent, options_.prior));
    if (!gaussian && smoother != nullptr && smoother->linear_gaussian)
      violations_.push_back("model.smoother = " + options_.smoother +
                            " with tails = " + options_.tails +
                            ", but its posterior is that of Gaussian noise; take recursive, or "
                            "leave one out");
  }

  const ModelOptions& options_;
  std::vector<std::string>& violations_;
};

}  // namespace

std::span<const EffortEntry> effort_table() { return kEfforts; }
std::span<const PurposeEntry> purpose_table() { return kPurposes; }

bool ModelSpec::is_prior(prior::PriorKind kind) const {
  const auto* named = std::get_if<NamedPrior>(&prior);
  return named != nullptr && named->kind == kind;
}

prior::ExpertSpec ModelSpec::expert(prior::PriorKind kind) const {
  prior::ExpertSpec spec;
  spec.kind = kind;
  spec.integration = integration;
  spec.lags = lags;
  spec.latent = latent;
  if (const auto* written = std::get_if<WrittenPrior>(&prior)) spec.system = written->system;
  spec.degree = departure.degree;
  spec.departure = departure.std.value_or(
      spec.degree > 1 ? kUsualCoefficient : prior::prior_entry(kind).usual_departure);
  return spec;
}

prior::ExpertSpec ModelSpec::expert(prior::PriorKind kind, int departure_degree) const {
  prior::ExpertSpec spec = expert(kind);
  spec.degree = departure_degree;
  spec.departure = kUsualCoefficient;
  return spec;
}

prior::ExpertSpec ModelSpec::expert(std::vector<prior::Part> parts) const {
  prior::ExpertSpec spec = expert(prior::PriorKind::Sum);
  spec.parts = std::move(parts);
  return spec;
}

const std::vector<prior::WrittenPart>& ModelSpec::written_parts() const {
  static const std::vector<prior::WrittenPart> none;
  if (const auto* sum = std::get_if<SumPrior>(&prior)) return sum->parts;
  if (const auto* named = std::get_if<NamedPrior>(&prior)) return named->parts;
  if (const auto* written = std::get_if<WrittenPrior>(&prior)) return written->parts;
  return none;
}

bool any_step(const PriorChoice& prior) {
  if (const auto* named = std::get_if<NamedPrior>(&prior))
    return prior::prior_entry(named->kind).flow_states > 0;
  if (const auto* sum = std::get_if<SumPrior>(&prior))
    return std::ranges::all_of(
        sum->parts, [](const prior::WrittenPart& each) { return prior::any_step(each.part); });
  return std::holds_alternative<AutomaticPrior>(prior);
}

ModelSpec parse_model(const ModelOptions& options, std::vector<std::string>& violations) {
  return Parser(options, violations).read();
}

}  // namespace model
}  // namespace kalmia
