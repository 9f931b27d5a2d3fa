#include "model/model_spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kalmia::model {
namespace {

using prior::PriorKind;

// Of options that violate nothing.
ModelSpec parsed(const ModelOptions& options) {
  std::vector<std::string> violations;
  ModelSpec spec = parse_model(options, violations);
  EXPECT_EQ(violations, std::vector<std::string>{});
  return spec;
}

std::vector<std::string> violations_of(const ModelOptions& options) {
  std::vector<std::string> violations;
  parse_model(options, violations);
  return violations;
}

System decay() {
  System system;
  system.states = {"x"};
  system.ode = {{"x", "-x"}};
  return system;
}

TEST(ModelSpec, DefaultsAreWhatTheOptionsSay) {
  const ModelSpec spec = parsed({});
  EXPECT_TRUE(std::holds_alternative<AutomaticPrior>(spec.prior));
  EXPECT_FALSE(spec.integration.flow.has_value());
  EXPECT_FALSE(spec.departure.std.has_value());
  EXPECT_EQ(spec.departure.degree, 1);
  EXPECT_TRUE(std::holds_alternative<NoiseOfData>(spec.noise.value));
  EXPECT_TRUE(is_gaussian(spec.tails));
  EXPECT_EQ(spec.networks.encoder, nn::EncoderKind::Gru);
  EXPECT_EQ(spec.networks.taps, 16);
  EXPECT_TRUE(spec.networks.recursive() && spec.networks.any());
  EXPECT_EQ(spec.networks.decoder, std::vector<int>{64});
  EXPECT_EQ(spec.networks.members, 1);
  EXPECT_FALSE(spec.smoother.has_value() || spec.keep_smoother);
  EXPECT_TRUE(spec.calibrate);
  EXPECT_EQ(spec.trained_smoother(), nullptr);
}

// The names are those that the help lists; each is read as itself.
TEST(ModelSpec, EveryChoiceThatIsListedCanBeRead) {
  int texts = 0;
  const ModelOptions defaults;
  visit_fields(
      defaults, [&](std::string_view option, const auto& value, const char*, const auto&... rule) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
          ++texts;
          static_assert(sizeof...(rule) == 1, "an option that is text lists its choices");
          const std::vector<Choice> choices = (rule(), ...);
          EXPECT_GT(choices.size(), 1u) << option;
          for (const Choice& each : choices) {
            ModelOptions options;
            visit_fields(options, [&](std::string_view name, auto& field, const auto&...) {
              if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::string>)
                if (name == option) field = each.name;
            });
            EXPECT_EQ(violations_of(options), std::vector<std::string>{}) << option << each.name;
          }
        }
      });
  EXPECT_EQ(texts, 9);
}

TEST(ModelSpec, PriorsAreNamedAutomaticOrWritten) {
  ModelOptions options;
  options.prior = "lorenz";
  options.integration = {.flow = "taylor", .order = 3, .substeps = 4};
  ModelSpec spec = parsed(options);
  EXPECT_TRUE(spec.is_prior(PriorKind::Lorenz));
  EXPECT_EQ(spec.integration.flow, prior::FlowKind::Taylor);
  EXPECT_EQ(spec.integration.order, 3);
  EXPECT_EQ(spec.integration.substeps, 4);
  EXPECT_EQ(spec.lags, 0);
  // Users call the number of lags the order.
  options = {};
  options.prior = "ar";
  options.integration.order = 5;
  spec = parsed(options);
  EXPECT_EQ(spec.lags, 5);
  EXPECT_EQ(spec.integration.order, 0);
  for (const char* prior : {"system", "auto"}) {
    options = {};
    options.prior = prior;
    options.system = decay();
    const ModelSpec written = parsed(options);
    EXPECT_EQ(std::get<WrittenPrior>(written.prior).system.states, std::vector<std::string>{"x"});
    EXPECT_EQ(written.expert(PriorKind::System).system.ode.size(), 1u);
  }
  // A name comes before equations.
  options.prior = "none";
  EXPECT_TRUE(parsed(options).is_prior(PriorKind::None));
  EXPECT_TRUE(parsed(options).expert(PriorKind::None).system.empty());
}

TEST(ModelSpec, PartsAreAddedToEquations) {
  ModelOptions options;
  options.prior = "lorenz + memory(3)";
  ModelSpec spec = parsed(options);
  EXPECT_TRUE(spec.is_prior(PriorKind::Lorenz));
  ASSERT_EQ(spec.written_parts().size(), 1u);
  EXPECT_EQ(spec.written_parts()[0].part.kind, prior::PartKind::Memory);
  EXPECT_FALSE(any_step(spec.prior));
  options.prior = "system; y: season(24 h)";
  options.system = decay();
  spec = parsed(options);
  EXPECT_EQ(std::get<WrittenPrior>(spec.prior).system.states, std::vector<std::string>{"x"});
  ASSERT_EQ(spec.written_parts().size(), 1u);
  EXPECT_EQ(spec.written_parts()[0].channel, "y");
  options.prior = "lorenz + memry";
  EXPECT_EQ(violations_of(options)[0].find("model.prior: part \"memry\", but a part must be "), 0u);
  EXPECT_TRUE(takes_equations("system"));
  EXPECT_TRUE(takes_equations(" system; y: level"));
  EXPECT_TRUE(takes_equations("system + leevel"));
  for (const char* other : {"lorenz + level", "auto", "system: level", "level + system", "sys"})
    EXPECT_FALSE(takes_equations(other)) << other;
}

TEST(ModelSpec, WhatIsNoNameMayBeASum) {
  ModelOptions options;
  options.prior = "north: trend + season(24 h, 2); ar(3)";
  const ModelSpec spec = parsed(options);
  const auto* sum = std::get_if<SumPrior>(&spec.prior);
  ASSERT_NE(sum, nullptr);
  ASSERT_EQ(sum->parts.size(), 3u);
  EXPECT_EQ(sum->parts[1].part.kind, prior::PartKind::Season);
  EXPECT_EQ(sum->parts[1].unit, "h");
  EXPECT_EQ(sum->parts[1].channel, "north");
  EXPECT_EQ(sum->parts[2].channel, "");
  EXPECT_FALSE(any_step(spec.prior));
  options.prior = "trend + season(24)";
  EXPECT_TRUE(any_step(parsed(options).prior));
  const prior::ExpertSpec expert = spec.expert(std::vector<prior::Part>{{prior::PartKind::Level}});
  EXPECT_EQ(expert.kind, PriorKind::Sum);
  EXPECT_EQ(expert.parts, std::vector<prior::Part>{{prior::PartKind::Level}});
  EXPECT_EQ(expert.departure, 0);
  // Equations beside a sum do nothing; the program refuses both.
  options.prior = "trend + leevel";
  EXPECT_EQ(violations_of(options)[0].find("model.prior: part \"leevel\", but a part must be "),
            0u);
}

// Of one word nobody knows whether it was meant as a name or as a part.
TEST(ModelSpec, AWrongPriorIsToldWithPartsToo) {
  ModelOptions options;
  for (const auto& [wrong, meant] :
       {std::pair{"constant-velosity", "constant-velocity"}, std::pair{"trnd", "trend"},
        std::pair{"acelleration", "acceleration"}}) {
    options.prior = wrong;
    const std::vector<std::string> found = violations_of(options);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].ends_with(" or a sum as in trend + season(24); did you mean " +
                                   std::string(meant) + "?"))
        << found[0];
  }
  // The name of a sum in a model file says nothing here.
  options.prior = "sum";
  EXPECT_EQ(violations_of(options).size(), 1u);
}

TEST(ModelSpec, ADepartureIsStatedOrAsThePriorSuggests) {
  const auto departure = [](double stated, int degree, PriorKind kind) {
    ModelOptions options;
    options.departure = stated;
    options.departure_degree = degree;
    return parsed(options).expert(kind).departure;
  };
  EXPECT_EQ(departure(-1, 1, PriorKind::Lorenz), 0);
  EXPECT_EQ(departure(-1, 1, PriorKind::LinearMotion), 0.01);
  EXPECT_EQ(departure(-1, 1, PriorKind::None), 1);
  EXPECT_EQ(departure(-1, 2, PriorKind::LinearMotion), 1);
  EXPECT_EQ(departure(0, 1, PriorKind::None), 0);
  EXPECT_EQ(departure(0.3, 2, PriorKind::Lorenz), 0.3);
}

TEST(ModelSpec, NetworksAndSmoothersAreKinds) {
  ModelOptions options;
  options.encoder = "conv";
  options.filter = "diagonal";
  options.smoother = "recursive";
  options.keep_smoother = true;
  options.hidden = 8;
  options.members = 3;
  const ModelSpec spec = parsed(options);
  EXPECT_EQ(spec.networks.encoder, nn::EncoderKind::Conv);
  EXPECT_EQ(spec.networks.filter, heads::HeadKind::Diagonal);
  EXPECT_FALSE(spec.networks.recursive());
  EXPECT_EQ(spec.smoother, SmootherKind::Recursive);
  EXPECT_EQ(spec.trained_smoother()->name, "recursive");
  EXPECT_TRUE(spec.keep_smoother);
  EXPECT_EQ(spec.networks.hidden, 8);
  EXPECT_EQ(spec.networks.members, 3);
}

TEST(ModelSpec, AWrongNameIsToldWithWhatMayHaveBeenMeant) {
  const auto refused = [](std::string ModelOptions::*field, const std::string& text) {
    ModelOptions options;
    options.*field = text;
    const std::vector<std::string> found = violations_of(options);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? std::string() : found[0];
  };
  EXPECT_EQ(refused(&ModelOptions::filter, "recursiv"),
            "model.filter = \"recursiv\", but it must be recursive, recurrent or diagonal; did you "
            "mean recursive?");
  EXPECT_EQ(refused(&ModelOptions::smoother, "rts"),
            "model.smoother = \"rts\", but it must be linearized, fused, recurrent, recursive or "
            "recursive-alternative");
  EXPECT_EQ(refused(&ModelOptions::prior, "constant-speed")
                .find("model.prior = \"constant-speed\", but it must be auto, constant-position, "),
            0u);
  EXPECT_TRUE(refused(&ModelOptions::encoder, "grr").ends_with("did you mean gru?"));
  EXPECT_EQ(refused(&ModelOptions::noise, "0"),
            "model.noise = \"0\", but a standard deviation must be > 0");
  EXPECT_EQ(refused(&ModelOptions::tails, "0.5").find("model.tails = \"0.5\", but it must be"), 0u);
}

// A wrong choice is read as its default, so that what else is wrong can be told.
TEST(ModelSpec, AWrongChoiceDoesNotHideTheOthers) {
  ModelOptions options;
  options.prior = "lorens";
  options.integration.flow = "euler";
  options.noise = "loud";
  options.tails = "fat";
  options.encoder = "ear";
  options.filter = "sieve";
  options.smoother = "iron";
  EXPECT_EQ(violations_of(options).size(), 7u);
  std::vector<std::string> violations;
  const ModelSpec spec = parse_model(options, violations);
  EXPECT_TRUE(std::holds_alternative<AutomaticPrior>(spec.prior));
  EXPECT_TRUE(is_gaussian(spec.tails) && spec.networks.recursive() && !spec.smoother);
}

TEST(ModelSpec, WhatCannotGoTogetherIsTold) {
  ModelOptions options;
  options.latent = 2;
  EXPECT_EQ(violations_of(options),
            std::vector<std::string>{"model.latent = 2 with prior = auto, but latent states are "
                                     "for none; take that prior, or leave them out"});
  options.prior = "none";
  EXPECT_TRUE(violations_of(options).empty());
  options = {};
  options.tails = "4";
  options.smoother = "recursive-alternative";
  const std::vector<std::string> found = violations_of(options);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].find("model.smoother = recursive-alternative with tails = 4, but"), 0u);
}

}  // namespace
}  // namespace kalmia::model
