// SPDX-License-Identifier: BSD-3-Clause
// Boost.Fiber's user-level threads wait as in an MPI call: none is lost, whether they are taken by another kernel
// thread or stand in for the communication thread.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/fiber/all.hpp>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "eventually.hpp"
#include "offload/communication_thread.hpp"
#include "offload/ult.hpp"
#include "offload/waiter.hpp"
#include "stand_ins.hpp"

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

// Completes a message in the pass after its start; some take many passes.
class Echo : public Progress {
 public:
  struct Message : Command {
    Completion completion;
    Echo* echo = nullptr;
    int passes = 0;
  };
  bool advance() override {
    const ExclusiveSection section(inside_, together);
    return std::erase_if(pending_, [](Message* message) {
             if (message->passes-- > 0) return false;
             message->completion.complete();
             return true;
           }) > 0;
  }
  bool pending() const override { return !pending_.empty(); }
  void nudge() override { const ExclusiveSection section(inside_, together); }
  bool exposed() const override { return false; }

  void exchange(CommunicationThread& thread, int passes) {
    Message message;
    message.echo = this;
    message.passes = passes;
    message.brief = passes % 7 != 0;  // the others are for the communication thread alone
    message.execute = [](Command& command) {
      auto& self = static_cast<Message&>(command);
      const ExclusiveSection section(self.echo->inside_, self.echo->together);
      if (!self.brief) ++self.echo->by_the_thread;
      self.echo->pending_.push_back(&self);
    };
    thread.submit(message);
    message.completion.wait();
  }

  int by_the_thread = 0;
  std::atomic<int> together{0};  // times that two threads were here at once, which an MPI may not be able to bear

 private:
  struct ExclusiveSection {
    ExclusiveSection(std::atomic<bool>& inside, std::atomic<int>& together) : inside(inside) {
      if (inside.exchange(true)) ++together;
      std::this_thread::yield();
    }
    ~ExclusiveSection() { inside = false; }
    std::atomic<bool>& inside;
  };
  std::atomic<bool> inside_{false};
  std::vector<Message*> pending_;
};

TEST(Fibers, StandInForACommunicationThreadOnTheirCpu) {
  ASSERT_TRUE(register_ult_adapter(*pe_get_ult_adapter()));
  constexpr int count = 20;
  constexpr int waits = 200;
  constexpr int enough = 10;  // rounds, or as many as a busy machine makes in ten seconds
  Echo echo;
  CommunicationThread thread({.shares_cpu = true}, std::make_unique<NoTraffic>());
  thread.start();
  struct Begin : Command {
    CommunicationThread* thread;
    Echo* echo;
    Completion completion;
  } begin;
  begin.thread = &thread;
  begin.echo = &echo;
  begin.execute = [](Command& command) {
    auto& self = static_cast<Begin&>(command);
    self.thread->advances(self.echo);
    self.completion.complete();
  };
  thread.submit(begin);
  begin.completion.wait();
  wait_policy().stand_in_for = &thread;
  int ended = 0;
  int rounds = 0;
  // Nobody stands in for 10 ms after a turn in which others computed, and a busy machine can make all turns look so.
  const auto nobody_yet = [&] { return thread.counters().stand_ins == 0; };
  for (const Nanoseconds begin = now(); now() - begin < (nobody_yet() ? patience : seconds(10));) {
    if (rounds >= enough && !nobody_yet()) break;
    ++rounds;
    std::jthread([&] {
      std::vector<fibers::fiber> all;
      for (int i = 0; i < count; ++i)
        all.emplace_back([&, i] {
          for (int wait = 0; wait < waits; ++wait) echo.exchange(thread, (i + wait) % 23);
          ++ended;
        });
      for (auto& fiber : all) fiber.join();
    }).join();
  }
  wait_policy().stand_in_for = nullptr;
  EXPECT_TRUE(thread.stop(patience));
  EXPECT_EQ(ended, rounds * count);
  EXPECT_GT(thread.counters().stand_ins, 0U);
  EXPECT_GT(echo.by_the_thread, 0);
  EXPECT_EQ(echo.together, 0);
}

}  // namespace
}  // namespace progress_engine::offload
