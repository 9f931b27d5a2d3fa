#include "reproduce/curves.hpp"

#include <gtest/gtest.h>

namespace kalmia::reproduction {
namespace {

TEST(Curves, AreDrawnOnALogarithmicScale) {
  EXPECT_EQ(draw_curves({128, 512}, {{'A', {1.0, 0.01}}, {'B', {0.1, std::nullopt}}}, 5),
            "        1 |     A\n"
            "          |       .\n"
            "          |     B   . .\n"
            "   0.0316 |             .\n"
            "     0.01 |               A\n"
            "          +--------------------\n"
            "               128       512   steps\n");
}

TEST(Curves, NothingToDrawIsNothing) { EXPECT_EQ(draw_curves({128}, {{'A', {std::nullopt}}}), ""); }

Reproduction small() {
  Reproduction result;
  result.options.experiment = "linear";
  result.options.sizes = {128, 512};
  result.options.seeds = 2;
  result.options.test = 100;
  result.complete = true;
  result.methods = {{"kalman", "", false, false, true, 0.241},
                    {"ours", "", true, false, false, {}}};
  for (const char* method : {"kalman", "ours"})
    for (const int n : {128, 512})
      result.summary.push_back({method, n, 2, {0.5, 0.25, 0.75}, {0.125, 0.1, 0.2}, 1.0, 0.95});
  return result;
}

TEST(Curves, TextHasThePapersNumbersBesideOurs) {
  const std::string text = result_text(small());
  EXPECT_NE(text.find("A *kalman          0.5       0.5     0.241\n"), std::string::npos) << text;
  EXPECT_NE(text.find("B  ours            0.5       0.5\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("stopped"), std::string::npos);
}

TEST(Curves, TextSaysWhatIsMissingAndWhatFailed) {
  Reproduction result = small();
  result.complete = false;
  result.summary.pop_back();
  ReproduceRow failed;
  failed.method = "ours";
  failed.n = 512;
  failed.seed = 4;
  failed.error = "it broke";
  result.rows = {failed};
  const std::string text = result_text(result);
  EXPECT_NE(text.find("stopped on the way"), std::string::npos);
  EXPECT_NE(text.find("B  ours            0.5         -\n"), std::string::npos) << text;
  EXPECT_NE(text.find("ours at 512 steps, seed 4: it broke\n"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::reproduction
