#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

TEST(AtomicFile, WritesAllPieces) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a.txt"));
  std::string want;
  for (int i = 0; i < 100000; ++i) {
    const std::string piece = std::to_string(i) + "\n";
    want += piece;
    file.write(piece);
  }
  const std::string large(1 << 20, 'x');
  file.write(large);
  file.write("end");
  EXPECT_EQ(folder.content("a.txt"), "");  // nothing before the commit
  file.commit();
  EXPECT_EQ(folder.content("a.txt"), want + large + "end");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, OverwritesWhatWasWritten) {
  const ScratchFolder folder;
  AtomicFile file(folder.file("a.txt"));
  file.write("length ????, then more");
  ASSERT_TRUE(file.can_overwrite());
  file.overwrite(7, "1234");
  file.write(" and more");
  file.commit();
  EXPECT_EQ(folder.content("a.txt"), "length 1234, then more and more");
  AtomicFile direct("/dev/null");
  EXPECT_FALSE(direct.can_overwrite());
  EXPECT_THROW(direct.overwrite(0, "x"), IoError);
}

TEST(AtomicFile, WithoutCommitNothingChanges) {
  const ScratchFolder folder;
  folder.file("a.txt", "before");
  {
    AtomicFile file(folder.file("a.txt"));
    file.write("after");
  }
  EXPECT_EQ(folder.content("a.txt"), "before");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, ReplacesAndKeepsPermissions) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  ::chmod(path.c_str(), 0640);
  write_file_atomically(path, "after");
  EXPECT_EQ(folder.content("a.txt"), "after");
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640U);
}

TEST(AtomicFile, FollowsALink) {
  const ScratchFolder folder;
  folder.file("a.txt", "before");
  ASSERT_EQ(::symlink("a.txt", folder.file("link").c_str()), 0);
  write_file_atomically(folder.file("link"), "after");
  EXPECT_EQ(folder.content("a.txt"), "after");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
}

TEST(AtomicFile, TakesTheLongestNameThereIs) {
  const ScratchFolder folder;
  const std::string name(255, 'n');
  write_file_atomically(folder.file(name), "content");
  EXPECT_EQ(folder.content(name), "content");
}

TEST(AtomicFile, NamesThePathAndTheReason) {
  const ScratchFolder folder;
  const std::string nowhere = folder.file("no") + "/a.txt";
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically(nowhere, "x"); }),
            "cannot write " + nowhere + ": No such file or directory");
  const std::string path = folder.file("folder");
  ASSERT_EQ(::mkdir(path.c_str(), 0777), 0);
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically(path, "x"); }),
            "cannot write " + path + ": Is a directory");
  EXPECT_EQ(folder.files(), 1U);
}

TEST(AtomicFile, RespectsAReadOnlyFile) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everything";
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  ::chmod(path.c_str(), 0444);
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically(path, "x"); }),
            "cannot write " + path + ": Permission denied");
}

TEST(AtomicFile, WritesToDevicesDirectly) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically("/dev/full", "x"); }),
            "cannot write /dev/full: No space left on device");
  struct stat status = {};
  ASSERT_EQ(::stat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));  // not replaced by a file
}

TEST(AtomicFile, WritesToPipesDirectly) {
  const ScratchFolder folder;
  const std::string path = folder.file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  // Open at both ends, so that neither waits for the other.
  const int pipe = ::open(path.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(pipe, 0);
  write_file_atomically(path, "through");
  char text[16] = {};
  EXPECT_EQ(::read(pipe, text, sizeof(text)), 7);
  EXPECT_STREQ(text, "through");
  ::close(pipe);
}

// What is written to "-" and to /dev/stdout while standard output is a regular file.
TEST(AtomicFile, WritesToStandardOutput) {
  const ScratchFolder folder;
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  const int file = ::open(folder.file("out").c_str(), O_RDWR | O_CREAT | O_APPEND, 0666);
  ASSERT_GE(file, 0);
  ::dup2(file, STDOUT_FILENO);
  std::printf("first ");
  write_file_atomically("-", "second ");
  struct stat before = {}, after = {};
  ::fstat(STDOUT_FILENO, &before);
  write_file_atomically("-", "third");
  const std::string text = folder.content("out");
  write_file_atomically("/dev/stdout", "anew");
  ::stat(folder.file("out").c_str(), &after);
  std::fflush(stdout);
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  ::close(file);
  EXPECT_EQ(text, "first second third");
  EXPECT_EQ(folder.content("out"), "anew");
  EXPECT_EQ(before.st_ino, after.st_ino);  // the same file, not one renamed over it
}

}  // namespace
}  // namespace kalmia
