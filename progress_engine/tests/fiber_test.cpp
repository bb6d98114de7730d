// SPDX-License-Identifier: BSD-3-Clause
// Boost.Fiber's user-level threads wait as in an MPI call, on two kernel threads that take each other's fibers: none is
// lost, and some resume on another kernel thread than the one on which they began to wait.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/fiber/all.hpp>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>

#include "offload/ult.hpp"
#include "offload/waiter.hpp"

extern "C" const pe_ult_adapter* pe_get_ult_adapter();

namespace progress_engine::offload {
namespace {

namespace fibers = boost::fibers;

// In place of the communication thread: completes what it is given, in order.
class Completer {
 public:
  void give(Completion& completion) {
    {
      const std::scoped_lock lock(mutex_);
      given_.push_back(&completion);
    }
    rung_.notify_one();
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (rung_.wait(lock, stop, [this] { return !given_.empty(); })) {
      Completion* completion = given_.front();
      given_.pop_front();
      lock.unlock();
      completion->complete();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any rung_;
  std::deque<Completion*> given_;
  std::jthread thread_{[this](const std::stop_token& stop) { run(stop); }};
};

struct Outcome {
  std::atomic<int> ended{0};
  std::atomic<int> moved{0};
};

void live(Completer& completer, int waits, Outcome& outcome) {
  for (int i = 0; i < waits; ++i) {
    const auto thread = gettid();
    Completion completion;
    completer.give(completion);
    completion.wait();
    if (gettid() != thread) ++outcome.moved;
  }
  ++outcome.ended;
}

// Two kernel threads that run the fibers of both.
void run_fibers(int count, int waits, Outcome& outcome) {
  Completer completer;
  fibers::mutex mutex;
  fibers::condition_variable_any all_ended;
  const auto share = [&](int mine) {
    fibers::use_scheduling_algorithm<fibers::algo::shared_work>(true);
    for (int i = 0; i < mine; ++i)
      fibers::fiber([&] {
        live(completer, waits, outcome);
        const std::unique_lock lock(mutex);
        all_ended.notify_all();
      }).detach();
    std::unique_lock lock(mutex);
    all_ended.wait(lock, [&] { return outcome.ended == count; });
  };
  std::jthread other(share, count / 2);
  std::jthread(share, count - count / 2).join();
}

TEST(Fibers, NoneIsLostAndSomeResumeOnAnotherKernelThread) {
  ASSERT_TRUE(register_ult_adapter(*pe_get_ult_adapter()));
  constexpr int count = 100;
  constexpr int waits = 10'000;
  const auto before = suspensions();
  Outcome outcome;
  run_fibers(count, waits, outcome);
  EXPECT_EQ(outcome.ended, count);
  EXPECT_GT(outcome.moved, 0);
  EXPECT_GT(suspensions() - before, static_cast<unsigned>(count * waits / 2));
  std::printf("%d waits, %llu suspensions, %d of them ended on another kernel thread\n", count * waits,
              static_cast<unsigned long long>(suspensions() - before), outcome.moved.load());
}

}  // namespace
}  // namespace progress_engine::offload
