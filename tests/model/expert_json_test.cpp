#include "model/expert_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

void expect_same(const std::vector<Equation>& a, const std::vector<Equation>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].text, b[i].text);
  }
}

void expect_same(const prior::ExpertSpec& a, const prior::ExpertSpec& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.integration.flow, b.integration.flow);
  EXPECT_EQ(a.integration.order, b.integration.order);
  EXPECT_EQ(a.integration.substeps, b.integration.substeps);
  EXPECT_EQ(a.lags, b.lags);
  EXPECT_EQ(a.departure, b.departure);
  EXPECT_EQ(a.degree, b.degree);
  EXPECT_EQ(a.frame.centre, b.frame.centre);
  EXPECT_EQ(a.frame.whitening, b.frame.whitening);
  EXPECT_EQ(a.frame.step, b.frame.step);
  EXPECT_EQ(a.frame.dt, b.frame.dt);
  EXPECT_EQ(a.parts, b.parts);
  const System &s = a.system, &t = b.system;
  EXPECT_EQ(s.states, t.states);
  EXPECT_EQ(s.inputs, t.inputs);
  ASSERT_EQ(s.parameters.size(), t.parameters.size());
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    EXPECT_EQ(s.parameters[i].name, t.parameters[i].name);
    EXPECT_EQ(s.parameters[i].value, t.parameters[i].value);
    EXPECT_EQ(s.parameters[i].learn, t.parameters[i].learn);
    EXPECT_EQ(s.parameters[i].lower, t.parameters[i].lower);
    EXPECT_EQ(s.parameters[i].upper, t.parameters[i].upper);
  }
  expect_same(s.define, t.define);
  expect_same(s.ode, t.ode);
  EXPECT_EQ(s.matrix, t.matrix);
  expect_same(s.next, t.next);
  EXPECT_EQ(s.integration.flow, t.integration.flow);
  EXPECT_EQ(s.integration.order, t.integration.order);
  EXPECT_EQ(s.integration.substeps, t.integration.substeps);
  expect_same(s.measure, t.measure);
  ASSERT_EQ(s.initial.size(), t.initial.size());
  for (std::size_t i = 0; i < s.initial.size(); ++i) {
    EXPECT_EQ(s.initial[i].name, t.initial[i].name);
    EXPECT_EQ(s.initial[i].mean, t.initial[i].mean);
    EXPECT_EQ(s.initial[i].std, t.initial[i].std);
  }
}

// Through text, as a file holds it.
prior::ExpertSpec again(const prior::ExpertSpec& spec) {
  return expert_from_json(Json::parse(expert_json(spec).dump()));
}

TEST(ExpertJson, ANamedPriorIsItsName) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::ConstantVelocity;
  EXPECT_EQ(expert_json(spec).dump(), R"({"name":"constant-velocity"})");
  expect_same(spec, again(spec));
}

TEST(ExpertJson, RoundTrip) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::Lorenz;
  spec.integration = {prior::FlowKind::Rk4, 3, 4};
  spec.departure = 0.1;
  expect_same(spec, again(spec));
  spec.degree = 3;
  spec.frame = {{1, 2}, {1.0 / 3, 0, 4, 5}, {6, 7}, 0.05};
  expect_same(spec, again(spec));
  spec.kind = prior::PriorKind::System;
  System& s = spec.system;
  s.states = {"angle", "rate"};
  s.inputs = {"motor"};
  s.parameters = {{"g", 9.81, false, -kUnbounded, kUnbounded},
                  {"length", 1.0 / 3, true, 0.1, kUnbounded},
                  {"friction", 0, true, -kUnbounded, 2}};
  const Json parameters = expert_json(spec).at("system").at("parameters");
  EXPECT_TRUE(parameters[0].at("lower").is_null() && parameters[2].at("lower").is_null());
  s.define = {{"pull", "-g/length * sin(angle)"}, {"push", "motor"}};
  s.ode = {{"angle", "rate"}, {"rate", "pull + push - friction*rate"}};
  s.matrix = {{"0", "1"}, {"-g", "-friction"}};
  s.next = {{"angle", "angle + dt*rate"}};
  s.integration.flow = "taylor";
  s.integration.order = 5;
  s.integration.substeps = 7;
  s.measure = {{"across", "\"quoted\" sin(angle)"}};
  s.initial = {{"rate", -1.5, 0.1}};
  expect_same(spec, again(spec));
}

TEST(ExpertJson, PartsThatAreAddedToEquations) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::Lorenz;
  spec.parts = {{prior::PartKind::Season, 24, 2, 1}, {prior::PartKind::Level, 0, 0, 0}};
  expect_same(spec, again(spec));
}

// The keys of model files stay, whatever the fields are called.
TEST(ExpertJson, KeysAreThoseOfOlderFiles) {
  const std::string lorenz = R"({"name":"lorenz","flow":"rk4","order":3,"substeps":4})";
  const prior::ExpertSpec spec = expert_from_json(Json::parse(lorenz));
  EXPECT_EQ(spec.integration.flow, prior::FlowKind::Rk4);
  EXPECT_EQ(spec.integration.order, 3);
  EXPECT_EQ(spec.integration.substeps, 4);
  EXPECT_EQ(spec.lags, 0);
  EXPECT_EQ(expert_json(spec).dump(), lorenz);
  const std::string lagged = R"({"name":"ar","order":5,"substeps":1})";
  const prior::ExpertSpec ar = expert_from_json(Json::parse(lagged));
  EXPECT_EQ(ar.lags, 5);
  EXPECT_EQ(ar.integration.order, 0);
  EXPECT_EQ(expert_json(ar).dump(), lagged);
}

// Times stay exact; a part of all channels names none.
TEST(ExpertJson, PartsOfASum) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::Sum;
  spec.parts = {{prior::PartKind::Trend},
                {prior::PartKind::Season, 365.25 / 7, 3},
                {prior::PartKind::Ar, 0, 5, 1}};
  expect_same(spec, again(spec));
  const Json json = expert_json(spec);
  EXPECT_FALSE(json.at("parts")[0].contains("channel"));
  EXPECT_EQ(json.at("parts")[2].at("channel"), 1);
}

// What files said before channels could have parts of their own.
TEST(ExpertJson, PartsWithoutAChannelAreThoseOfAll) {
  const std::string sum = R"({"name":"sum","parts":[{"name":"level","scale":0.0,"count":0},)"
                          R"({"name":"season","scale":24.0,"count":4}]})";
  const prior::ExpertSpec spec = expert_from_json(Json::parse(sum));
  EXPECT_EQ(spec.parts,
            (std::vector<prior::Part>{{prior::PartKind::Level}, {prior::PartKind::Season, 24, 4}}));
  EXPECT_EQ(expert_json(spec).dump(), sum);
}

TEST(ExpertJson, PartsThatCannotBeAreRefused) {
  const auto part = [](const char* text) {
    return expert_from_json(Json::parse(std::string(R"({"name":"sum","parts":[)") + text + "]}"));
  };
  EXPECT_NO_THROW(part(R"({"name":"level","scale":0,"count":0})"));
  EXPECT_THROW(part(R"({"name":"lever","scale":0,"count":0})"), ConfigError);
  EXPECT_THROW(part(R"({"name":"level","scale":0,"count":0.5})"), ConfigError);
  EXPECT_THROW(part(R"({"name":"level","scale":0,"count":0,"channel":"north"})"), ConfigError);
  EXPECT_THROW(part(R"({"name":"level","scale":"long","count":0})"), Json::exception);
  EXPECT_THROW(part(R"({"name":"level","count":0})"), Json::exception);
}

TEST(ExpertJson, WhatIsMissingOrOfAWrongTypeIsRefused) {
  prior::ExpertSpec spec;
  spec.kind = prior::PriorKind::System;
  spec.system.states = {"a"};
  spec.system.parameters = {{"p", 1, true, 0, 2}};
  const Json json = expert_json(spec);
  const auto without = [&](const char* pointer) {
    Json damaged = json;
    const Json::json_pointer at(pointer);
    damaged[at.parent_pointer()].erase(at.back());
    return damaged;
  };
  EXPECT_THROW(expert_from_json(Json::object()), Json::exception);
  for (const char* key :
       {"/system/states", "/system/inputs", "/system/parameters", "/system/define", "/system/ode",
        "/system/matrix", "/system/next", "/system/flow", "/system/order", "/system/substeps",
        "/system/measure", "/system/initial"})
    EXPECT_THROW(expert_from_json(without(key)), Json::exception) << key;
  Json wrong = json;
  wrong["system"]["ode"] = {{"a"}};
  EXPECT_THROW(expert_from_json(wrong), Json::exception);
  wrong = json;
  wrong["order"] = "two";
  EXPECT_THROW(expert_from_json(wrong), ConfigError);
  for (const char* key : {"name", "flow"}) {
    wrong = json;
    wrong[key] = "guess";
    EXPECT_THROW(expert_from_json(wrong), ConfigError) << key;
  }
}

}  // namespace
}  // namespace kalmia::model
