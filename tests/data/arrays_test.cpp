#include "data/arrays.hpp"

#include "support/dataset_equal.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
using Names = std::vector<std::string>;
using Shape = std::vector<std::size_t>;

NpyArray numbers(const Shape& shape, const std::vector<double>& values) {
  NpyArray array;
  array.shape = shape;
  array.values = values;
  return array;
}

NpyArray texts(const Names& names) {
  NpyArray array;
  array.kind = NpyArray::Kind::Text;
  array.shape = {names.size()};
  array.texts = names;
  return array;
}

// 0, 1, 2, ...
NpyArray counted(const Shape& shape) {
  std::size_t count = 1;
  for (const std::size_t n : shape) count *= n;
  NpyArray array = numbers(shape, {});
  for (std::size_t i = 0; i < count; ++i) array.values.push_back(static_cast<double>(i));
  return array;
}

Dataset made(const ArrayMap& arrays, const DataOptions& options = {}) {
  return dataset_of("a.npz", arrays, options);
}

std::string refusal(const ArrayMap& arrays) {
  return message_of<DataError>([&] { made(arrays); });
}

TEST(Arrays, OneTwoAndThreeDimensions) {
  const Dataset one = made({{"y", counted({4})}});
  EXPECT_EQ(one.y_names, Names({"y"}));
  EXPECT_EQ(one.series[0].steps, 4);
  EXPECT_EQ(one.series[0].key, "");
  EXPECT_EQ(one.time_kind, TimeKind::None);
  const Dataset two = made({{"y", counted({4, 2})}});
  EXPECT_EQ(two.y_names, Names({"y1", "y2"}));
  EXPECT_EQ(two.series[0].steps, 4);
  expect_equal(two.series[0].y, {0, 1, 2, 3, 4, 5, 6, 7}, "y");
  const Dataset three = made({{"y", counted({2, 3, 1})}});
  ASSERT_EQ(three.series.size(), 2U);
  EXPECT_EQ(three.key_name, "unique_id");
  EXPECT_EQ(three.series[1].key, "1");
  expect_equal(three.series[1].y, {3, 4, 5}, "y");
}

TEST(Arrays, TruthInputsAndTime) {
  const Dataset data = made({{"y", counted({2, 3, 1})},
                             {"x", counted({2, 3, 2})},
                             {"u", counted({2, 3})},
                             {"t", numbers({3}, {0, 0.5, 2})}});
  EXPECT_EQ(data.x_names, Names({"true_1", "true_2"}));
  expect_equal(data.series[1].x, {6, 7, 8, 9, 10, 11}, "x");
  EXPECT_EQ(data.u_names, Names({"u"}));
  expect_equal(data.series[1].u, {3, 4, 5}, "u");
  expect_equal(data.series[1].t, {0, 0.5, 2}, "t");
  const Dataset own = made({{"y", counted({2, 2, 1})}, {"t", numbers({2, 2}, {0, 1, 5, 6})}});
  expect_equal(own.series[1].t, {5, 6}, "t");
  // As many as there are channels need not be these.
  EXPECT_EQ(made({{"y", counted({2, 2})}, {"x", counted({2, 2})}}).x_names,
            Names({"true_1", "true_2"}));
}

TEST(Arrays, MaskSaysWhatIsMeasured) {
  const NpyArray y = numbers({2, 2}, {1, kInf, 3, 4});
  expect_equal(made({{"y", y}, {"mask", numbers({2, 2}, {1, 0, 5, 1})}}).series[0].y,
               {1, kNaN, 3, 4}, "y");
  expect_equal(made({{"y", y}, {"mask", numbers({2}, {0, 1})}}).series[0].y, {kNaN, kNaN, 3, 4},
               "y");
  EXPECT_EQ(refusal({{"y", y}, {"mask", numbers({3}, {0, 1, 1})}}),
            "a.npz: array mask has shape (3,), but it must be that of y, (2, 2) or (2,)");
}

TEST(Arrays, LengthsCutOffThePadding) {
  const Dataset data = made({{"y", numbers({2, 3, 1}, {1, 2, 3, 4, kInf, kNaN})},
                             {"t", numbers({2, 3}, {0, 1, 2, 0, kNaN, kNaN})},
                             {"lengths", numbers({2}, {3, 1})}});
  EXPECT_EQ(data.series[0].steps, 3);
  EXPECT_EQ(data.series[1].steps, 1);
  expect_equal(data.series[1].y, {4}, "y");
  expect_equal(data.series[1].t, {0}, "t");
  for (const double wrong : {0.0, 4.0, 1.5, kNaN, -1.0, kInf})
    refusal({{"y", counted({2, 3, 1})}, {"lengths", numbers({2}, {3, wrong})}});
  refusal({{"y", counted({2, 3, 1})}, {"lengths", numbers({3}, {3, 3, 3})}});
}

TEST(Arrays, NamesAndKeys) {
  const Dataset data = made({{"y", counted({2, 3, 2})},
                             {"y_names", texts({"north", "east"})},
                             {"keys", texts({"a", "b"})},
                             {"key_name", texts({"robot"})},
                             {"t", counted({3})},
                             {"t_name", texts({"seconds"})}});
  EXPECT_EQ(data.y_names, Names({"north", "east"}));
  EXPECT_EQ(data.series[1].key, "b");
  EXPECT_EQ(data.key_name, "robot");
  EXPECT_EQ(data.time_name, "seconds");
  EXPECT_EQ(refusal({{"y", counted({2, 3, 2})}, {"y_names", texts({"north"})}}),
            "a.npz: array y_names has 1 entries, but it must have 2");
  refusal({{"y", counted({2, 3, 2})}, {"y_names", texts({"north", "north"})}});
  refusal({{"y", counted({2, 3, 2})}, {"y_names", counted({2})}});
  DataOptions options;
  options.measure = {"y2"};
  expect_equal(made({{"y", counted({2, 2})}}, options).series[0].y, {1, 3}, "y");
}

TEST(Arrays, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal({{"arr_0", counted({3})}}),
            "a.npz: no array y with the measurements; the arrays are arr_0; save it as "
            "np.savez(file, y=...)");
  refusal({});
  refusal({{"y", texts({"a"})}});
  EXPECT_EQ(refusal({{"y", counted({1, 1, 1, 1})}}),
            "a.npz: array y has shape (1, 1, 1, 1), but it must be (steps,), (steps, dim) or "
            "(series, steps, dim)");
  EXPECT_EQ(refusal({{"y", counted({4, 2})}, {"x", counted({3, 2})}}),
            "a.npz: array x has shape (3, 2), but that of y is (4, 2); they must agree in steps");
  refusal({{"y", counted({4, 2})}, {"x", counted({4, 2, 2})}});
  refusal({{"y", counted({2, 4, 2})}, {"x", counted({2})}});
  EXPECT_EQ(refusal({{"y", counted({2, 3, 1})}, {"t", counted({2})}}),
            "a.npz: array t has shape (2,), but it must be (3,) or (2, 3)");
  EXPECT_EQ(
      refusal({{"y", counted({2, 2, 1})}, {"t", numbers({2, 2}, {0, 1, 5, 5})}}),
      "a.npz: array t, series 1, step 1: time 5 comes after 5, but time must increase within a "
      "series");
  EXPECT_EQ(refusal({{"y", numbers({2, 2}, {1, 2, 3, kInf})}}),
            "a.npz: array y, step 1, column y2: value inf, but values must lie within -1e100 and "
            "1e100 (leave missing ones empty)");
  refusal({{"y", counted({2})}, {"x", numbers({2}, {1, 1e101})}});
}

TEST(Arrays, PadsWithNaN) {
  const std::vector<double> a = {1, 2}, b = {3, 4, 5, 6};
  const PaddedArray two = padded({1, 2}, {2}, {&a, &b});
  EXPECT_EQ(two.shape, Shape({2, 2, 2}));
  expect_equal(two.values, {1, 2, kNaN, kNaN, 3, 4, 5, 6}, "padded");
  const PaddedArray one = padded({2}, {1, 2}, {&b});
  EXPECT_EQ(one.shape, Shape({2, 1, 2}));
  EXPECT_EQ(padded({}, {2}, {}).shape, Shape({0, 0, 2}));
}

}  // namespace
}  // namespace kalmia::data
