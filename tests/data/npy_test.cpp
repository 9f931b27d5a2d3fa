#include "data/npy.hpp"

#include <cmath>
#include <limits>

#include "kalmia/error.hpp"
#include "support/dataset_equal.hpp"
#include "support/hex.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

using Shape = std::vector<std::size_t>;

// np.save of np.asfortranarray(np.array([[1, 2, 3], [-4, 5, 6]], dtype=">i2")), NumPy 1.24.
constexpr const char* kFortran =
    "934e554d5059010076007b276465736372273a20273e6932272c2027666f727472616e5f6f72646572273a205472"
    "75652c20277368617065273a2028322c2033292c207d202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020200a0001fffc000200050003"
    "0006";

// np.save of three letters of ASCII, and of letters of 2, 3 and 4 bytes in UTF-8.
constexpr const char* kUnicode =
    "934e554d5059010076007b276465736372273a20273c5533272c2027666f727472616e5f6f72646572273a204661"
    "6c73652c20277368617065273a2028322c292c207d20202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020202020202020200a67000000700000007300"
    "0000e9000000ac20000000f60100";

// A file with this header, padded by one blank, and these bytes.
std::string npy_bytes(const std::string& header, const std::string& content) {
  std::string bytes("\x93NUMPY\1\0", 8);
  bytes += static_cast<char>((header.size() + 1) & 0xFF);
  bytes += static_cast<char>((header.size() + 1) >> 8);
  return bytes + header + "\n" + content;
}

std::string array_of(const std::string& type, const std::string& shape,
                     const std::string& content) {
  return npy_bytes("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }",
                   content);
}

std::vector<double> values_of(const std::string& type, const std::string& hex) {
  return parse_npy("a", array_of(type, "(2,)", from_hex(hex))).values;
}

TEST(Npy, ReadsWhatNumPyWrote) {
  const NpyArray array = parse_npy("a", from_hex(kFortran));
  EXPECT_EQ(array.shape, Shape({2, 3}));
  EXPECT_EQ(array.values, std::vector<double>({1, 2, 3, -4, 5, 6}));
  const NpyArray names = parse_npy("a", from_hex(kUnicode));
  EXPECT_EQ(names.kind, NpyArray::Kind::Text);
  EXPECT_EQ(names.texts, std::vector<std::string>({"gps", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}));
}

TEST(Npy, ReadsAllTypes) {
  const std::vector<double> want = {1, -2};
  EXPECT_EQ(values_of("<f4", "0000803f000000c0"), want);
  EXPECT_EQ(values_of(">f4", "3f800000c0000000"), want);
  EXPECT_EQ(values_of("<f8", "000000000000f03f00000000000000c0"), want);
  EXPECT_EQ(values_of("|i1", "01fe"), want);
  EXPECT_EQ(values_of("<i2", "0100feff"), want);
  EXPECT_EQ(values_of(">i4", "00000001fffffffe"), want);
  EXPECT_EQ(values_of("<i8", "0100000000000000feffffffffffffff"), want);
  const std::vector<double> unsigned_want = {1, 254};
  EXPECT_EQ(values_of("|u1", "01fe"), unsigned_want);
  EXPECT_EQ(values_of(">u2", "000100fe"), unsigned_want);
  EXPECT_EQ(values_of("<u4", "01000000fe000000"), unsigned_want);
  EXPECT_EQ(values_of("<u8", "0100000000000000fe00000000000000"), unsigned_want);
  EXPECT_EQ(values_of("|b1", "0100"), std::vector<double>({1, 0}));
  const std::vector<double> days = values_of("<M8[D]", "01000000000000000000000000000080");
  EXPECT_EQ(days[0], 86400);
  EXPECT_TRUE(std::isnan(days[1]));  // NaT
  EXPECT_EQ(values_of("<M8[ms]", "dc05000000000000fcffffffffffffff"),
            std::vector<double>({1.5, -0.004}));
}

TEST(Npy, ReadsThreeDimensionsInBothOrders) {
  const std::string bytes = from_hex("000102030405060708090a0b0c0d0e0f1011121314151617");
  const NpyArray c = parse_npy("a", array_of("|u1", "(2, 3, 4)", bytes));
  EXPECT_EQ(c.values[1 * 12 + 2 * 4 + 3], 23);
  EXPECT_EQ(c.values[1], 1);
  const NpyArray fortran = parse_npy(
      "a", npy_bytes("{'shape': (2, 3, 4), \"fortran_order\": True, 'descr': '|u1'}", bytes));
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k)
        EXPECT_EQ(fortran.values[(i * 3 + j) * 4 + k], static_cast<double>(i + 2 * j + 6 * k));
}

TEST(Npy, ReadsVersionTwo) {
  std::string bytes = array_of("|u1", "(1,)", "\x07");
  bytes[6] = 2;
  bytes.insert(10, 2, '\0');
  EXPECT_EQ(parse_npy("a", bytes).values, std::vector<double>({7}));
}

std::string npy_refusal(const std::string& bytes) {
  return message_of<DataError>([&] { parse_npy("a.npy", bytes); });
}

TEST(Npy, BelievesNoHeader) {
  EXPECT_EQ(npy_refusal("t,y\n"), "a.npy: not an array of NumPy (.npy)");
  EXPECT_EQ(npy_refusal("\x93NUMPY"), "a.npy: the header is cut off");
  EXPECT_EQ(npy_refusal(from_hex(kFortran).substr(0, 60)), "a.npy: the header is cut off");
  EXPECT_EQ(npy_refusal(array_of("<f8", "(3,)", std::string(16, 'x'))),
            "a.npy: shape (3,) of type <f8 asks for more than the 16 bytes there are");
  npy_refusal(array_of("<f8", "(999999999999999999, 999999999999999999)", "x"));
  npy_refusal(array_of("<f8", "(4294967296, 4294967296, 2)", std::string(64, 'x')));
  npy_refusal(array_of("<f8", "(99999999999999999999999,)", "x"));
  npy_refusal(array_of("<f8", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1)", std::string(8, 'x')));
  EXPECT_EQ(npy_refusal(array_of("<f8", "(999999999999, 0)", "")),
            "a.npy: shape (999999999999, 0), but no dimension may be 0");
  npy_refusal(array_of("<U0", "(999999999999,)", ""));
  npy_refusal(array_of("<U4294967295", "(2,)", "abcd"));
  npy_refusal(array_of("<U99999999999999999999", "(2,)", "abcd"));
  npy_refusal(array_of("<f8", "(-1,)", "x"));
  npy_refusal(array_of("<f8", "3", "x"));
  npy_refusal(array_of("<f8", "()", ""));
  npy_refusal(npy_bytes("{'descr': '<f8', 'shape': (1,)}", std::string(8, 'x')));
  npy_refusal(
      npy_bytes("{'descr': '<f8', 'fortran_order': 1, 'shape': (1,)}", std::string(8, 'x')));
  npy_refusal(npy_bytes("{'descr': '<f8", ""));
  npy_refusal(npy_bytes("{", ""));
  npy_refusal(npy_bytes("", ""));
  std::string version = array_of("|u1", "(1,)", "\x07");
  version[6] = 9;
  EXPECT_EQ(npy_refusal(version), "a.npy: format version 9, but only 1 to 3 are known");
}

TEST(Npy, RefusesOtherTypes) {
  for (const char* type : {"|O", "<c16", "<f2", "<i3", "|S5", "<M8", "<M8[Y]", "<m8[s]", "", "<f",
                           "f8", "<f8x", "|b8", "<V8"})
    EXPECT_NE(
        npy_refusal(array_of(type, "(1,)", std::string(64, 'x'))).find("but it must be one of"),
        std::string::npos)
        << type;
  EXPECT_NE(
      npy_refusal(npy_bytes("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
                            std::string(8, 'x')))
          .find("records"),
      std::string::npos);
}

TEST(Npy, WritesWhatNumPyReads) {
  const std::size_t shape[] = {1, 2};
  const double values[] = {1, -2};
  const std::string bytes = npy_numbers(shape, values);
  EXPECT_EQ(bytes.size(), 128U + 16U);
  EXPECT_EQ(bytes.substr(0, 66), std::string("\x93NUMPY\1\0\x76\0", 10) +
                                     "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)");
  EXPECT_EQ(bytes[127], '\n');
  EXPECT_EQ(bytes.substr(128), from_hex("000000000000f03f00000000000000c0"));
}

TEST(Npy, ReadsBackTheSame) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::size_t shape[] = {3};
  const std::vector<double> values = {0.1, kNaN, -1e99};
  expect_equal(parse_npy("a", npy_numbers(shape, values)).values, values, "numbers");
  const std::vector<double> dates = {-0.000001, kNaN, 1709296205.123456};
  const NpyArray array = parse_npy("a", npy_dates(shape, dates));
  EXPECT_EQ(array.kind, NpyArray::Kind::Date);
  expect_equal(array.values, dates, "dates");
  const long long integers[] = {-1, 0, 1LL << 40};
  expect_equal(parse_npy("a", npy_integers(shape, integers)).values, {-1, 0, 1099511627776},
               "integers");
  const std::vector<std::string> texts = {"", "a", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"};
  EXPECT_EQ(parse_npy("a", npy_texts(texts)).texts, texts);
  const std::vector<std::string> broken = {"a\xFF", "\xE2\x82", "\xF0"};
  EXPECT_EQ(parse_npy("a", npy_texts(broken)).texts, std::vector<std::string>({"a?", "??", "?"}));
}

}  // namespace
}  // namespace kalmia::data
