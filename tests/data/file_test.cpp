#include "data/file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

TEST(FileBytes, ReadsAllBytes) {
  const ScratchFolder folder;
  std::string want;
  for (int i = 0; i < 300000; ++i) want += static_cast<char>(i * 7);
  EXPECT_EQ(read_file_bytes(folder.file("a", want)), want);
  EXPECT_EQ(read_file_bytes(folder.file("empty", "")), "");
}

// A pipe has no size to go by.
TEST(FileBytes, ReadsAPipe) {
  const ScratchFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string want(500000, 'p');
  std::thread writer([&] { folder.file("pipe", want); });
  EXPECT_EQ(read_file_bytes(path), want);
  writer.join();
}

TEST(FileBytes, NamesThePathAndTheReason) {
  const ScratchFolder folder;
  const std::string nothing = folder.file("nothing");
  EXPECT_EQ(message_of<IoError>([&] { read_file_bytes(nothing); }),
            "cannot read " + nothing + ": No such file or directory");
  const std::string path = folder.file("folder");
  ASSERT_EQ(::mkdir(path.c_str(), 0777), 0);
  EXPECT_EQ(message_of<IoError>([&] { read_file_bytes(path); }),
            "cannot read " + path + ": Is a directory");
  if (::geteuid() == 0) return;  // root may read everything
  const std::string closed = folder.file("closed", "x");
  ::chmod(closed.c_str(), 0);
  EXPECT_EQ(message_of<IoError>([&] { read_file_bytes(closed); }),
            "cannot read " + closed + ": Permission denied");
}

}  // namespace
}  // namespace kalmia::data
