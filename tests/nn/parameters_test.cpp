#include "nn/parameters.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kalmia/error.hpp"

namespace kalmia::nn {
namespace {

TEST(ParameterLayout, PlacesMatricesOneAfterAnother) {
  ParameterLayout layout;
  EXPECT_EQ(layout.add("a", 3, 2), 0);
  EXPECT_EQ(layout.add("b", 5), 6);
  EXPECT_EQ(layout.add("c", 1, 4), 11);
  EXPECT_EQ(layout.size(), 15);
  EXPECT_EQ(layout.at("b").offset, 6);
  EXPECT_EQ(layout.at("b").rows, 5);
  EXPECT_EQ(layout.at("b").cols, 1);
}

TEST(ParameterLayout, NamesWhatThereIsWhenANameIsUnknown) {
  ParameterLayout layout;
  layout.add("gru.bias", 3);
  try {
    layout.at("gru.bais");
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("gru.bais"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("gru.bias"), std::string::npos);
  }
}

}  // namespace
}  // namespace kalmia::nn
