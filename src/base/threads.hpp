// A fixed team of threads that works through numbered tasks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kalmia {

/// Threads the machine offers to this process; at least 1.
int hardware_threads();

/// Throws ConfigError unless they are in kThreadsRange.
void check_threads(int threads);

/// A team of `size` threads, the caller's included. `run` hands out tasks 0..count-1 in
/// order to whichever thread is free. Which thread runs a task must not matter to its result:
/// that is what makes results independent of the number of threads. Threads without work wait awake
/// for a moment before they sleep: in training the next round comes within microseconds, and waking
/// a sleeper takes longer than that. A round ends with its last task, not with the last thread: one
/// that the system keeps from running has no part in it, and holds nobody up.
class ThreadTeam {
 public:
  /// `size` = 0 takes all the machine's threads. Where the system does not let as many start, those
  /// that did are the team. Throws ConfigError as check_threads.
  explicit ThreadTeam(int size = 0);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls `task(index, thread)` for each index in 0..count-1 and returns when all are done;
  /// `thread` is in 0..size()-1 and serves to pick a workspace. If tasks throw, the exception
  /// of the lowest index is rethrown here after all tasks have ended.
  void run(int count, const std::function<void(int index, int thread)>& task);

 private:
  void work(int thread);
  void take_tasks(int thread);

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(int, int)>* task_ = nullptr;
  int count_ = 0;
  int next_ = 0;
  std::atomic<int> unfinished_ = 0;       // tasks of this round; written under the mutex
  std::atomic<std::uint64_t> round_ = 0;  // written under the mutex
  bool stop_ = false;
  int failed_index_ = -1;
  std::exception_ptr failure_;
};

}  // namespace kalmia
