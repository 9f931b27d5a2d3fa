#include "model/tensor_file.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

constexpr TensorFormat kFormat{"shelf", "a shelf of tensors", 2, 3, "write it again"};

std::string file(const TensorFormat& format = kFormat) {
  const float weights[] = {1, 2, 3, 4, 5, 6};
  const double bias[] = {7, 8};
  TensorWriter writer;
  writer.add("weights", "F32", {2, 3}, weights, sizeof weights);
  writer.add("bias", "F64", {2}, bias, sizeof bias);
  return writer.bytes(format, {{"layers", 1}});
}

std::string refusal(const std::string& bytes, const TensorFormat& format = kFormat) {
  try {
    const TensorReader reader(format, bytes, "x.shelf");
  } catch (const DataError& error) {
    return error.what();
  }
  return "read";
}

void expect_refused(const std::string& bytes, const std::string& why,
                    const TensorFormat& format = kFormat) {
  const std::string said = refusal(bytes, format);
  EXPECT_EQ(said.rfind("x.shelf: ", 0), 0u) << said;
  EXPECT_NE(said.find(why), std::string::npos) << said;
}

TEST(TensorFile, GivesBackWhatWasAdded) {
  const std::string bytes = file();
  const TensorReader reader(kFormat, bytes, "x.shelf");
  EXPECT_EQ(reader.description(), OrderedJson({{"layers", 1}}));
  EXPECT_EQ(reader.size(), 6 * sizeof(float) + 2 * sizeof(double));
  double bias[2];
  std::memcpy(bias, reader.tensor("bias", "F64", {2}, sizeof bias).data(), sizeof bias);
  EXPECT_EQ(bias[1], 8);
  EXPECT_EQ(file(), bytes);
}

TEST(TensorFile, ATensorHasItsTypeShapeAndSize) {
  const std::string bytes = file();
  const TensorReader reader(kFormat, bytes, "x.shelf");
  EXPECT_THROW(reader.tensor("bias", "F32", {2}, 16), DataError);
  EXPECT_THROW(reader.tensor("bias", "F64", {2, 1}, 16), DataError);
  EXPECT_THROW(reader.tensor("bias", "F64", {2}, 8), DataError);
  EXPECT_THROW(reader.tensor("gone", "F64", {2}, 16), DataError);
}

TEST(TensorFile, AFileThatIsNotWholeIsRefused) {
  const std::string bytes = file();
  expect_refused("", "fewer than the length of a header takes");
  expect_refused(bytes.substr(0, 40), "the file is cut off: its header should have");
  expect_refused(bytes.substr(0, bytes.size() - 1), "cut off or has grown");
  expect_refused(bytes + "x", "cut off or has grown");
  std::string altered = bytes;
  altered.back() = static_cast<char>(altered.back() ^ 1);
  expect_refused(altered, "its checksum does not fit");
  expect_refused("no tensors at all, but some text", "not a shelf of tensors: it has no header");
}

TEST(TensorFile, VersionsThatAreReadAreNamed) {
  EXPECT_EQ(refusal(file({"shelf", "", 2, 2, ""})), "read");
  expect_refused(file({"shelf", "", 1, 1, ""}),
                 "format version 1, but this build reads version 2 to 3; write it again");
  expect_refused(file({"shelf", "", 1, 4, ""}), "format version 4");
  expect_refused(file({"table", "", 2, 3, ""}), "its format is not \"shelf\"");
}

TEST(TensorFile, TextThatIsNoUtf8CanBeSaved) {
  EXPECT_EQ(json_text({{"name", "a\xff"}}), "{\"name\":\"a\xef\xbf\xbd\"}");
}

TEST(TensorFile, AColumnIsAVectorInTheFile) {
  nn::ParameterView view{};
  view.rows = 3;
  view.cols = 1;
  EXPECT_EQ(tensor_shape(view), (std::vector<int>{3}));
  view.cols = 2;
  EXPECT_EQ(tensor_shape(view), (std::vector<int>{3, 2}));
}

}  // namespace
}  // namespace kalmia::model
