#include "base/threads.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia {
namespace {

class ThreadTeamOfSize : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ThreadTeamOfSize, ::testing::Range(1, 5),
                         [](const auto& size) { return std::to_string(size.param); });

TEST(HardwareThreads, IsAtLeastOne) {
  EXPECT_GE(hardware_threads(), 1);
  EXPECT_EQ(ThreadTeam().size(), hardware_threads());
}

TEST(ThreadTeam, OfASizeThatMakesNoSenseIsRefused) {
  EXPECT_THROW(ThreadTeam(-1), ConfigError);
  EXPECT_THROW(ThreadTeam(100000), ConfigError);
}

// Root is exempt from limits on processes; memory for stacks is limited for all.
TEST(ThreadTeam, TakesThoseThatStart) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need all the address space there is";
#endif
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit small = before;
  small.rlim_cur = static_cast<rlim_t>(pages * ::sysconf(_SC_PAGESIZE) + (40L << 20));
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &small), 0);
  {
    ThreadTeam team(64);  // of 8 MB each
    EXPECT_LT(team.size(), 64);
    std::atomic<int> sum = 0;
    team.run(100, [&](int index, int) { sum += index; });
    EXPECT_EQ(sum, 4950);
  }
  ::setrlimit(RLIMIT_AS, &before);
}

TEST_P(ThreadTeamOfSize, RunsEveryIndexOnce) {
  ThreadTeam team(GetParam());
  ASSERT_EQ(team.size(), GetParam());
  for (const int count : {0, 1, 2, 3, 17, 1000}) {
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
    team.run(count, [&](int index, int) { ++visits[static_cast<std::size_t>(index)]; });
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(visits[static_cast<std::size_t>(i)], 1) << "index " << i << " of " << count;
  }
}

TEST_P(ThreadTeamOfSize, NeverSharesAThreadNumberBetweenTwoTasksAtATime) {
  ThreadTeam team(GetParam());
  std::vector<std::atomic<int>> inside(static_cast<std::size_t>(GetParam()));
  std::atomic<int> clashes = 0, out_of_range = 0;
  team.run(200, [&](int, int thread) {
    if (thread < 0 || thread >= GetParam()) {
      ++out_of_range;
      return;
    }
    std::atomic<int>& mine = inside[static_cast<std::size_t>(thread)];
    if (++mine != 1) ++clashes;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    --mine;
  });
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(out_of_range, 0);
}

TEST_P(ThreadTeamOfSize, UsesAllItsThreadsWhenTasksWaitForEachOther) {
  // Every task waits until as many tasks as there are threads have begun; fewer threads
  // would never get there.
  ThreadTeam team(GetParam());
  std::atomic<int> begun = 0;
  team.run(GetParam(), [&](int, int) {
    ++begun;
    while (begun < GetParam()) std::this_thread::yield();
  });
  EXPECT_EQ(begun, GetParam());
}

TEST_P(ThreadTeamOfSize, RethrowsTheExceptionOfTheLowestIndexAfterAllTasksEnded) {
  ThreadTeam team(GetParam());
  std::atomic<int> ended = 0;
  try {
    team.run(50, [&](int index, int) {
      // Later tasks fail sooner, so that the order of throwing is not the order of indices.
      if (index == 11) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (index >= 11 && index % 2 == 1) {
        ++ended;
        throw std::runtime_error("task " + std::to_string(index));
      }
      ++ended;
    });
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "task 11");
  }
  EXPECT_EQ(ended, 50);
}

TEST_P(ThreadTeamOfSize, WorksAgainAfterAnException) {
  ThreadTeam team(GetParam());
  EXPECT_THROW(team.run(1, [](int, int) { throw std::runtime_error("one"); }), std::runtime_error);
  EXPECT_THROW(team.run(4, [](int, int) { throw std::runtime_error("all"); }), std::runtime_error);
  std::atomic<int> sum = 0;
  EXPECT_NO_THROW(team.run(10, [&](int index, int) { sum += index; }));
  EXPECT_EQ(sum, 45);
}

TEST_P(ThreadTeamOfSize, SurvivesManyShortRounds) {
  ThreadTeam team(GetParam());
  constexpr int kRounds = 3000;
  std::atomic<long> total = 0;
  for (int round = 0; round < kRounds; ++round)
    team.run(round % 5, [&](int index, int) { total += index + 1; });
  // Rounds of 0, 1, 2, 3, 4 tasks add 0, 1, 3, 6, 10.
  EXPECT_EQ(total, kRounds / 5 * 20L);
}

TEST_P(ThreadTeamOfSize, WhatTasksWroteIsVisibleAfterwards) {
  ThreadTeam team(GetParam());
  std::vector<int> values(500);
  for (int round = 1; round <= 20; ++round) {
    team.run(500, [&](int index, int) { values[static_cast<std::size_t>(index)] += round; });
    for (const int value : values) ASSERT_EQ(value, round * (round + 1) / 2);
  }
}

TEST(ThreadTeam, TwoTeamsCanBeNested) {
  ThreadTeam outer(2);
  std::vector<std::atomic<int>> visits(40);
  outer.run(4, [&](int i, int) {
    ThreadTeam inner(2);
    inner.run(10, [&](int j, int) { ++visits[static_cast<std::size_t>(10 * i + j)]; });
  });
  for (const auto& visit : visits) EXPECT_EQ(visit, 1);
}

TEST(ThreadTeam, ASingleTaskStaysWithTheCaller) {
  ThreadTeam team(3);
  std::thread::id id;
  team.run(1, [&](int, int thread) {
    id = std::this_thread::get_id();
    EXPECT_EQ(thread, 0);
  });
  EXPECT_EQ(id, std::this_thread::get_id());
}

// A file that is being put in its place puts signals off; no other thread may take them then.
TEST(ThreadTeam, SignalsAreForTheThreadThatOwnsTheTeam) {
  ThreadTeam team(4);
  std::vector<int> blocked(64, -1), ran_by(64, -1);
  team.run(64, [&](int index, int thread) {
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    blocked[static_cast<std::size_t>(index)] = sigismember(&now, SIGPIPE);
    ran_by[static_cast<std::size_t>(index)] = thread;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  for (std::size_t i = 0; i < blocked.size(); ++i) EXPECT_EQ(blocked[i], ran_by[i] == 0 ? 0 : 1);
}

}  // namespace
}  // namespace kalmia
