#include "data/npz.hpp"

#include "data/npy.hpp"
#include "data/zip.hpp"
#include "support/dataset_equal.hpp"
#include "support/hex.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

// np.savez(file, y=np.array([[1.5, nan], [2.25, -3]], dtype="f4"), mask=[[1, 1], [1, 0]] as bool),
// NumPy 1.24.
constexpr const char* kStored =
    "504b03041400000000000000210084516297900000009000000005001400792e6e70790100100090000000000000"
    "009000000000000000934e554d5059010076007b276465736372273a20273c6634272c2027666f727472616e5f6f"
    "72646572273a2046616c73652c20277368617065273a2028322c2032292c207d2020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020202020202020202020200a00"
    "00c03f0000c07f00001040000040c0504b0304140000000000000021005b8f92c28400000084000000080014006d"
    "61736b2e6e70790100100084000000000000008400000000000000934e554d5059010076007b276465736372273a"
    "20277c6231272c2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a2028322c2032"
    "292c207d202020202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020202020202020202020202020200a01010100504b0102140314000000000000002100845162979000000090"
    "000000050000000000000000000000800100000000792e6e7079504b01021403140000000000000021005b8f92c2"
    "84000000840000000800000000000000000000008001c70000006d61736b2e6e7079504b05060000000002000200"
    "69000000850100000000";

constexpr double kNpzMissing = std::numeric_limits<double>::quiet_NaN();
using Shape = std::vector<std::size_t>;

// What `write` writes.
template <typename Write>
std::string written(const Write& write) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a"));
  write(file);
  file.commit();
  return folder.content("a");
}

std::string npz_of(const auto& data) {
  return written([&](AtomicFile& file) { write_npz("a.npz", data, file); });
}

TEST(Npz, ReadsWhatNumPyWrote) {
  const Dataset data = read_npz("a.npz", from_hex(kStored), {});
  EXPECT_EQ(data.y_names, std::vector<std::string>({"y1", "y2"}));
  expect_equal(data.series[0].y, {1.5, kNpzMissing, 2.25, kNpzMissing}, "y");
}

TEST(Npz, ReadsBackTheSame) {
  Dataset data = example_dataset();
  expect_equal(read_npz("a.npz", npz_of(data), {}), data);
  data.key_name = "robot";
  data.time_name = "date";
  data.time_kind = TimeKind::Date;
  data.series[0].t = {0, 0.5, 1709296205.123456};
  expect_equal(read_npz("a.npz", npz_of(data), {}), data);
  // One series, nothing but measurements.
  Dataset plain;
  plain.y_names = {"y"};
  plain.series.resize(1);
  plain.series[0].steps = 2;
  plain.series[0].y = {1, kNpzMissing};
  expect_equal(read_npz("a.npz", npz_of(plain), {}), plain);
}

TEST(Npz, EqualDataGiveEqualFiles) {
  EXPECT_EQ(npz_of(example_dataset()), npz_of(example_dataset()));
}

Estimates npz_estimates() {
  Estimates estimates;
  estimates.state_names = {"a", "b"};
  estimates.time_name = "t";
  estimates.time_kind = TimeKind::Number;
  estimates.key_name = "unique_id";
  StateEstimates one;
  one.key = "k1";
  one.steps = 2;
  one.t = {0, 1};
  one.mean = {1, 2, 3, 4};
  one.covariance = {4, 0.5, 0.5, 9, 16, 0, 0, 25};
  StateEstimates two = one;
  two.key = "k2";
  two.steps = 1;
  two.t = {7};
  two.mean = {5, 6};
  two.covariance = {1, 0, 0, 2};
  estimates.series = {one, two};
  return estimates;
}

TEST(Npz, WritesEstimates) {
  const std::string bytes = npz_of(npz_estimates());
  const ZipReader zip("a.npz", bytes);
  const auto array = [&](const std::string& name) {
    return parse_npy(name, zip.read(name + ".npy"));
  };
  EXPECT_EQ(array("mean").shape, Shape({2, 2, 2}));
  expect_equal(array("mean").values, {1, 2, 3, 4, 5, 6, kNpzMissing, kNpzMissing}, "mean");
  EXPECT_EQ(array("covariance").shape, Shape({2, 2, 2, 2}));
  expect_equal(array("covariance").values,
               {4, 0.5, 0.5, 9, 16, 0, 0, 25, 1, 0, 0, 2, kNpzMissing, kNpzMissing, kNpzMissing,
                kNpzMissing},
               "covariance");
  EXPECT_EQ(array("t").shape, Shape({2, 2}));
  expect_equal(array("lengths").values, {2, 1}, "lengths");
  EXPECT_EQ(array("keys").texts, std::vector<std::string>({"k1", "k2"}));
  EXPECT_EQ(array("names").texts, std::vector<std::string>({"a", "b"}));
}

TEST(Npz, OneSeriesHasNoDimensionForIt) {
  Estimates estimates = npz_estimates();
  estimates.series.resize(1);
  estimates.series[0].covariance.clear();
  const std::string bytes = npz_of(estimates);
  const ZipReader zip("a.npz", bytes);
  EXPECT_EQ(parse_npy("mean", zip.read("mean.npy")).shape, Shape({2, 2}));
  EXPECT_FALSE(zip.has("covariance.npy"));
  EXPECT_FALSE(zip.has("lengths.npy"));
}

TEST(Npz, OneArrayAlone) {
  Dataset data = example_dataset();
  const auto npy_of = [](const auto& what) {
    return written([&](AtomicFile& file) { write_npy("a.npy", what, file); });
  };
  EXPECT_EQ(message_of<DataError>([&] { npy_of(data); }),
            "a.npy: the series differ in length, which one array cannot say; use .npz");
  data.series.resize(1);
  const Dataset back = read_npy("a.npy", npy_of(data), {});
  EXPECT_EQ(back.y_names, data.y_names);
  expect_equal(back.series[0].y, data.series[0].y, "y");
  Estimates estimates = npz_estimates();
  estimates.series.resize(1);
  EXPECT_EQ(parse_npy("a", npy_of(estimates)).values, estimates.series[0].mean);
}

TEST(Npz, ListsTheArraysThereAre) {
  const std::string bytes = npz_of(npz_estimates());
  EXPECT_EQ(message_of<DataError>([&] { read_npz("a.npz", bytes, {}); }),
            "a.npz: no array y with the measurements; the arrays are covariance, keys, lengths, "
            "mean, names, t; save it as np.savez(file, y=...)");
}

}  // namespace
}  // namespace kalmia::data
