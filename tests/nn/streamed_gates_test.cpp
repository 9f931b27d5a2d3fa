#include "nn/streamed_gates.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace kalmia::nn {
namespace {

// Parameters 1, 2, 3, ...: each says where it came from.
TEST(StreamedGates, AreTheLayoutsWeightsByColumnsGatesInBlocks) {
  struct Layout {
    int input = 2, hidden = 5;
    int weight_ih = 0, weight_hh = 30, bias_ih = 105, bias_hh = 120;
  } const layout;
  std::vector<double> parameters(135);
  std::iota(parameters.begin(), parameters.end(), 1.0);
  StreamedGates<double> gates;
  gates.assign_gates<3>(layout, parameters.data());
  const int padded = lanes::padded_to_line<double>(layout.hidden);
  ASSERT_EQ(gates.input.rows, 3 * padded);
  ASSERT_EQ(gates.input.cols, 2);
  ASSERT_EQ(gates.hidden.cols, 5);
  for (int gate = 0; gate < 3; ++gate)
    for (int i = 0; i < padded; ++i) {
      const int row = gate * layout.hidden + i;
      const auto at = static_cast<std::size_t>(gate * padded + i);
      const auto of = [&](int begin, int cols, int col) {
        return i < layout.hidden ? 1.0 + begin + row * cols + col : 0.0;
      };
      for (int k = 0; k < 2; ++k)
        EXPECT_EQ(gates.input.data[static_cast<std::size_t>(k * 3 * padded) + at], of(0, 2, k));
      for (int k = 0; k < 5; ++k)
        EXPECT_EQ(gates.hidden.data[static_cast<std::size_t>(k * 3 * padded) + at], of(30, 5, k));
      EXPECT_EQ(gates.bias_input[at], of(105, 1, 0));
      EXPECT_EQ(gates.bias_hidden[at], of(120, 1, 0));
    }
  EXPECT_EQ(gates.gates_input.size(), gates.bias_input.size());
  EXPECT_EQ(gates.gates_hidden.size(), gates.bias_hidden.size());
}

}  // namespace
}  // namespace kalmia::nn
