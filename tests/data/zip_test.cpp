#include "data/zip.hpp"

#include "kalmia/error.hpp"
#include "support/hex.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

// np.savez_compressed(file, y=np.arange(40.).reshape(20, 2), t=<20 days>), NumPy 1.24.
constexpr const char* kPacked =
    "504b030414000000080000002100193d938fa4000000c001000005001400792e6e707901001000c0010000000000"
    "00a4000000000000009dc8bd0ec1501887f1631393c160309c8838c889547d55154562231683491aad1844e5542c"
    "22710f6ed425209ec5ea5d7eeff37f2c56f3e53a252ee2aac228d91ae54ae5ed1ca5a5dac5e66c82e3263661f4d9"
    "67c12189de7bb20f4ed1bb2bb6a5a55dd5f226ffbd8cf8b9e788c7ff92c62ce6308f059458c41296b18235d45847"
    "0b1b6863135bd8c60e76d1c11ebad8470f0738c411fa5fef28c6348a098d624a4ffd17504b030414000000080000"
    "002100a0900af9810000002001000005001400742e6e707901001000200100000000000081000000000000009bec"
    "17ea1b10c9c850c650ad9e925a9c5ca46ea5a06ee36b11ed12abaea3a09e965f54529498179f5f94920a92724bcc"
    "294e058a17672416a402f91a46063a9a3a0ab50a6402ae09ee0c6030114a4f82d293a1f414283d154a4f83d2d3a1"
    "f40c283d134acf82d2b3a1f41c283d174acf83d2f3a1f40228bd104a2f82d28ba13400504b010214031400000008"
    "0000002100193d938fa4000000c0010000050000000000000000000000800100000000792e6e7079504b01021403"
    "14000000080000002100a0900af981000000200100000500000000000000000000008001db000000742e6e707950"
    "4b0506000000000200020066000000930100000000";

std::string archive_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a.zip"));
  ZipWriter zip("a.zip", file);
  for (const auto& [name, content] : entries) zip.add(name, content);
  zip.finish();
  file.commit();
  return folder.content("a.zip");
}

std::string zip_refusal(const std::string& bytes, const std::string& name) {
  return message_of<DataError>([&] { ZipReader("a.zip", bytes).read(name); });
}

TEST(Zip, ReadsWhatOthersDeflated) {
  const std::string bytes = from_hex(kPacked);
  const ZipReader zip("a.zip", bytes);
  EXPECT_EQ(zip.names(), std::vector<std::string>({"y.npy", "t.npy"}));
  EXPECT_TRUE(zip.has("y.npy"));
  EXPECT_FALSE(zip.has("x.npy"));
  const std::string y = zip.read("y.npy");
  EXPECT_EQ(y.size(), 128U + 320U);
  EXPECT_EQ(y.substr(0, 6), "\x93NUMPY");
  EXPECT_EQ(zip.read("t.npy").size(), 128U + 160U);
}

TEST(Zip, ReadsBackTheSame) {
  const std::string large(1000000, 'z');
  const std::string bytes = archive_of({{"a", "first"}, {"b", large}, {"c", ""}});
  const ZipReader zip("a.zip", bytes);
  EXPECT_EQ(zip.names(), std::vector<std::string>({"a", "b", "c"}));
  EXPECT_EQ(zip.read("a"), "first");
  EXPECT_EQ(zip.read("b"), large);
  EXPECT_EQ(zip.read("c"), "");
}

// The checksum is the common one: that of "123456789" is known to be cbf43926.
TEST(Zip, WritesTheCommonChecksum) {
  EXPECT_EQ(archive_of({{"a", "123456789"}}).substr(14, 4), from_hex("2639f4cb"));
}

TEST(Zip, FindsTheDirectoryBeforeAComment) {
  std::string bytes = archive_of({{"a", "first"}}) + std::string(30000, '#');
  EXPECT_EQ(ZipReader("a.zip", bytes).read("a"), "first");
}

TEST(Zip, NoticesDamage) {
  std::string bytes = archive_of({{"a", "first"}});
  bytes[31] = 'F';
  EXPECT_EQ(zip_refusal(bytes, "a"), "a.zip: entry \"a\" is damaged: its checksum does not match");
  bytes = archive_of({{"a", "first"}});
  bytes[0] = 'x';
  EXPECT_EQ(zip_refusal(bytes, "a"), "a.zip: entry \"a\" is damaged");
  EXPECT_EQ(zip_refusal("no archive", "a"),
            "a.zip: not a zip archive, as .npz files are; it is cut off perhaps");
  EXPECT_EQ(zip_refusal(std::string(70000, 'x'), "a"),
            "a.zip: not a zip archive, as .npz files are; it is cut off perhaps");
  EXPECT_EQ(zip_refusal("", "a"),
            "a.zip: not a zip archive, as .npz files are; it is cut off perhaps");
}

// Offsets in the directory of an archive with one entry "a" of five bytes.
constexpr std::size_t kDirectory = 30 + 1 + 5;

TEST(Zip, BelievesNoSize) {
  const std::string whole = archive_of({{"a", "first"}});
  const auto changed = [&](std::size_t offset, const std::string& hex) {
    std::string bytes = whole;
    bytes.replace(offset, hex.size() / 2, from_hex(hex));
    return bytes;
  };
  zip_refusal(changed(kDirectory + 20, "ffffff7f"), "a");   // packed size
  zip_refusal(changed(kDirectory + 24, "06000000"), "a");   // size of a stored entry
  zip_refusal(changed(kDirectory + 42, "f0ffff7f"), "a");   // place of the entry
  zip_refusal(changed(kDirectory + 28, "ffff"), "a");       // length of the name
  zip_refusal(changed(kDirectory + 30, "ffff"), "a");       // length of the extra field
  zip_refusal(changed(26, "ffff"), "a");                    // length of the name at the entry
  zip_refusal(changed(whole.size() - 6, "f0ffff7f"), "a");  // place of the directory
  zip_refusal(changed(whole.size() - 6, "ffffffff"), "a");
  zip_refusal(changed(whole.size() - 12, "0900"), "a");  // number of entries
  EXPECT_NE(zip_refusal(changed(kDirectory + 10, "0c00"), "a").find("method 12"),
            std::string::npos);
  EXPECT_NE(zip_refusal(changed(kDirectory + 8, "0100"), "a").find("encrypted"), std::string::npos);
  // Deflated, of 4 GiB: a lie that must not be allocated for.
  std::string lie = changed(kDirectory + 24, "feffffff");
  lie[kDirectory + 10] = 8;
  EXPECT_EQ(zip_refusal(lie, "a"),
            "a.zip: entry \"a\" claims 4294967294 bytes, but its 5 cannot hold as many");
  // Deflated, and of a size between: it just does not unpack to that.
  lie = changed(kDirectory + 24, "00010000");
  lie[kDirectory + 10] = 8;
  zip_refusal(lie, "a");
}

TEST(Zip, NoticesDamageToDeflatedEntries) {
  const std::string whole = from_hex(kPacked);
  std::string bytes = whole;
  bytes[100] = static_cast<char>(bytes[100] ^ 0x10);
  EXPECT_NE(zip_refusal(bytes, "y.npy").find("damaged"), std::string::npos);
  // Sizes one off either way.
  const std::size_t size = whole.find("PK\1\2") + 24;
  bytes = whole;
  ++bytes[size];
  EXPECT_NE(zip_refusal(bytes, "y.npy").find("does not unpack"), std::string::npos);
  bytes = whole;
  --bytes[size];
  EXPECT_NE(zip_refusal(bytes, "y.npy").find("does not unpack"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::data
