#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <thread>

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

// What a process is that is not root's, for a moment.
class Unprivileged {
 public:
  Unprivileged() : was_(::geteuid()) {
    if (was_ == 0) {
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
  }
  ~Unprivileged() { EXPECT_EQ(::seteuid(was_), 0); }
  static constexpr uid_t kNobody = 65534;

 private:
  uid_t was_;
};

TEST(AtomicFile, RespectsAReadOnlyFile) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  ::chmod(folder.file("").c_str(), 0777);
  ::chmod(path.c_str(), 0444);
  const Unprivileged nobody;
  EXPECT_EQ(message_of<IoError>([&] { write_file_atomically(path, "x"); }),
            "cannot write " + path + ": Permission denied");
}

// What is said of a file on its way holds for both ways.
class AtomicFileUntil : public testing::TestWithParam<AtomicFile::Until> {
 protected:
  static void write(const std::string& path, std::string_view content) {
    AtomicFile file(path, GetParam());
    file.write(content);
    file.commit();
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, AtomicFileUntil,
                         testing::Values(AtomicFile::Until::Nameless, AtomicFile::Until::Named),
                         [](const auto& each) {
                           return each.param == AtomicFile::Until::Named ? "Named" : "Nameless";
                         });

TEST_P(AtomicFileUntil, WholeOrNotAtAll) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  {
    AtomicFile file(path, GetParam());
    file.write("after");
    file.flush();
    EXPECT_EQ(folder.content("a.txt"), "before");
    EXPECT_EQ(folder.files(), GetParam() == AtomicFile::Until::Named ? 2U : 1U);
  }
  EXPECT_EQ(folder.content("a.txt"), "before");
  EXPECT_EQ(folder.files(), 1U);
  write(path, "after");
  EXPECT_EQ(folder.content("a.txt"), "after");
  write(folder.file("new.txt"), "new");
  EXPECT_EQ(folder.content("new.txt"), "new");
  EXPECT_EQ(folder.files(), 2U);
}

TEST_P(AtomicFileUntil, KeepsTheOwnerAndNoSetUserId) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may give files away";
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  ASSERT_EQ(::chown(path.c_str(), Unprivileged::kNobody, 12), 0);
  ASSERT_EQ(::chmod(path.c_str(), 07754), 0);
  write(path, "after");
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, Unprivileged::kNobody);
  EXPECT_EQ(status.st_gid, 12U);
  EXPECT_EQ(status.st_mode & 07777, 0754U);
}

// One who may not give files away replaces the file as its own.
TEST_P(AtomicFileUntil, TheOwnerMayHaveToChange) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has files of two users";
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  ::chmod(folder.file("").c_str(), 0777);
  ::chmod(path.c_str(), 04666);
  {
    const Unprivileged nobody;
    write(path, "after");
  }
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, Unprivileged::kNobody);
  EXPECT_EQ(status.st_mode & 07777, 0666U);
  EXPECT_EQ(folder.content("a.txt"), "after");
}

TEST_P(AtomicFileUntil, NobodyReadsAPrivateFileInAdvance) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.txt", "before");
  ::chmod(path.c_str(), 0600);
  AtomicFile file(path, GetParam());
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    struct stat status = {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 077, 0U) << entry.path();
  }
}

TEST_P(AtomicFileUntil, ALinkThatLeadsNowhereLeadsToTheNewFile) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkdir(folder.file("to").c_str(), 0777), 0);
  ASSERT_EQ(::symlink("to/second", folder.file("first").c_str()), 0);
  ASSERT_EQ(::symlink("a.txt", folder.file("to/second").c_str()), 0);
  write(folder.file("first"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("to/second")));
  EXPECT_EQ(folder.content("to/a.txt"), "new");
  ASSERT_EQ(::symlink("loop", folder.file("loop").c_str()), 0);
  EXPECT_THROW(write(folder.file("loop"), "x"), IoError);
}

// Below /dev there are folders, too.
TEST_P(AtomicFileUntil, FilesInSharedMemoryAreReplacedWhole) {
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "no /dev/shm";
  const std::string path = "/dev/shm/kalmia-test-" + std::to_string(::getpid());
  write(path, "before");
  const int reader = ::open(path.c_str(), O_RDONLY);
  write(path, "after");
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 6);
  EXPECT_STREQ(text, "before");
  ::close(reader);
  ::unlink(path.c_str());
}

// A process that was killed cannot clean up. The next one does, where nobody writes any more.
TEST_P(AtomicFileUntil, RemovesWhatWasAbandoned) {
  const ScratchFolder folder;
  folder.file(".kalmia-1-0.tmp", "abandoned");
  folder.file(".kalmia-2-0.tmp", "still written");
  folder.file(".kalmia-notes", "somebody's");
  const int writer = ::open(folder.file(".kalmia-2-0.tmp").c_str(), O_WRONLY);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);
  write(folder.file("a.txt"), "new");
  ::close(writer);
  EXPECT_EQ(folder.content(".kalmia-1-0.tmp"), "");
  EXPECT_EQ(folder.content(".kalmia-2-0.tmp"), "still written");
  EXPECT_EQ(folder.content(".kalmia-notes"), "somebody's");
  EXPECT_EQ(folder.files(), 3U);
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

TEST(AtomicFile, WaitsForAPipeThatIsFull) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  const std::string large(1 << 20, 'x');
  std::size_t got = 0;
  std::thread reader([&] {
    char part[4096];
    while (got < large.size()) {
      const ssize_t n = ::read(ends[0], part, sizeof part);
      if (n > 0) got += static_cast<std::size_t>(n);
    }
  });
  std::fflush(stdout);
  const int kept = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  write_file_atomically("-", large);
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  reader.join();
  EXPECT_EQ(got, large.size());
  ::close(ends[0]);
  ::close(ends[1]);
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
