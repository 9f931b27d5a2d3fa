#include "base/descriptor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

namespace kalmia {
namespace {

// A pipe neither of whose ends blocks.
struct BusyPipe {
  int ends[2] = {-1, -1};
  BusyPipe() { EXPECT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0); }
  ~BusyPipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
};

TEST(Descriptor, OtherErrorsStay) {
  errno = EBADF;
  EXPECT_FALSE(try_again(-1, POLLIN));
  EXPECT_EQ(errno, EBADF);
}

TEST(Descriptor, ASignalDoesNotWait) {
  const BusyPipe pipe;
  errno = EINTR;
  EXPECT_TRUE(try_again(pipe.ends[0], POLLIN));
  EXPECT_EQ(errno, EINTR);
}

TEST(Descriptor, WaitsForSomethingToRead) {
  const BusyPipe pipe;
  char byte = 0;
  ASSERT_EQ(::read(pipe.ends[0], &byte, 1), -1);
  std::thread writer([&] { EXPECT_EQ(::write(pipe.ends[1], "x", 1), 1); });
  EXPECT_TRUE(try_again(pipe.ends[0], POLLIN));
  EXPECT_EQ(::read(pipe.ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  writer.join();
}

TEST(Descriptor, WaitsForRoomToWrite) {
  const BusyPipe pipe;
  const std::string much(1 << 22, 'y');
  const ssize_t filled = ::write(pipe.ends[1], much.data(), much.size());
  ASSERT_GT(filled, 0);
  ASSERT_EQ(::write(pipe.ends[1], "x", 1), -1);
  std::thread reader([&] {
    std::string room(static_cast<std::size_t>(filled), ' ');
    EXPECT_GT(::read(pipe.ends[0], room.data(), room.size()), 0);
  });
  EXPECT_TRUE(try_again(pipe.ends[1], POLLOUT));
  EXPECT_EQ(::write(pipe.ends[1], "x", 1), 1);
  reader.join();
}

// The next call says that nobody will ever write.
TEST(Descriptor, AClosedEndEndsTheWait) {
  BusyPipe pipe;
  ::close(pipe.ends[1]);
  pipe.ends[1] = -1;
  errno = EAGAIN;
  EXPECT_TRUE(try_again(pipe.ends[0], POLLIN));
  char byte = 0;
  EXPECT_EQ(::read(pipe.ends[0], &byte, 1), 0);
}

}  // namespace
}  // namespace kalmia
