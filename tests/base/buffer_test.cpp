#include "base/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace kalmia {
namespace {

bool on_a_line(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % kLineBytes == 0; }

template <typename T>
bool all_zero(const Buffer<T>& buffer) {
  const auto span = buffer.span();
  return std::all_of(span.begin(), span.end(), [](T v) { return v == T{}; });
}

TEST(Buffer, StartsEmpty) {
  const Buffer<double> buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_TRUE(buffer.span().empty());
}

TEST(Buffer, IsAlignedToALineAndZeroForAnySize) {
  for (const std::size_t size : {1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 1000}) {
    const Buffer<float> floats(size);
    const Buffer<double> doubles(size);
    EXPECT_EQ(floats.size(), size);
    EXPECT_EQ(doubles.size(), size);
    EXPECT_TRUE(on_a_line(floats.data())) << "size " << size;
    EXPECT_TRUE(on_a_line(doubles.data())) << "size " << size;
    EXPECT_TRUE(all_zero(floats)) << "size " << size;
    EXPECT_TRUE(all_zero(doubles)) << "size " << size;
  }
}

TEST(Buffer, ResizeZeroesWhatWasThere) {
  Buffer<int> buffer(100);
  std::iota(buffer.span().begin(), buffer.span().end(), 1);
  buffer.resize(40);
  EXPECT_EQ(buffer.size(), 40u);
  EXPECT_TRUE(all_zero(buffer));
  // Growing back within the old allocation must not bring the old numbers back.
  buffer.resize(100);
  EXPECT_TRUE(all_zero(buffer));
  buffer.resize(1000);
  EXPECT_EQ(buffer.size(), 1000u);
  EXPECT_TRUE(all_zero(buffer));
}

TEST(Buffer, ResizeKeepsAnAllocationThatIsLargeEnough) {
  Buffer<double> buffer(64);
  const double* before = buffer.data();
  buffer.resize(8);
  EXPECT_EQ(buffer.data(), before);
  buffer.resize(64);
  EXPECT_EQ(buffer.data(), before);
}

TEST(Buffer, ClearZeroesAndKeepsTheSize) {
  Buffer<float> buffer(33);
  std::fill(buffer.span().begin(), buffer.span().end(), 2.5f);
  EXPECT_FALSE(all_zero(buffer));
  buffer.clear();
  EXPECT_EQ(buffer.size(), 33u);
  EXPECT_TRUE(all_zero(buffer));
  Buffer<float> none;
  none.clear();
  EXPECT_TRUE(none.empty());
}

TEST(Buffer, MovingHandsOverTheMemory) {
  Buffer<int> from(10);
  from[3] = 7;
  const int* memory = from.data();
  const Buffer<int> to = std::move(from);
  EXPECT_EQ(to.data(), memory);
  EXPECT_EQ(to[3], 7);
  EXPECT_EQ(to.size(), 10u);
}

}  // namespace
}  // namespace kalmia
