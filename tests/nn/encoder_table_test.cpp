#include "nn/encoder_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kalmia::nn {
namespace {

TEST(EncoderTable, EveryRowHasAKindAndANameOfItsOwn) {
  std::set<EncoderKind> kinds;
  std::set<std::string_view> names;
  for (const EncoderEntry& each : encoder_table()) {
    EXPECT_TRUE(kinds.insert(each.kind).second && names.insert(each.name).second) << each.name;
    EXPECT_EQ(&encoder_entry(each.kind), &each);
    EXPECT_TRUE(is_encoder(each.name));
    EXPECT_EQ(encoder_of_name(each.name), each.kind);
    EXPECT_EQ(encoder_name(each.kind), each.name);
  }
}

TEST(EncoderTable, TapsAreForWhatHasThem) {
  for (const EncoderKind kind : {EncoderKind::Conv, EncoderKind::Transformer, EncoderKind::Tcn})
    EXPECT_TRUE(encoder_entry(kind).reads_taps) << encoder_name(kind);
  for (const EncoderKind kind : {EncoderKind::Gru, EncoderKind::Lstm})
    EXPECT_FALSE(encoder_entry(kind).reads_taps) << encoder_name(kind);
}

}  // namespace
}  // namespace kalmia::nn
