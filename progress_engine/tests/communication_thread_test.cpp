// SPDX-License-Identifier: BSD-3-Clause
// The communication thread over a loopback in place of an MPI: transfers that copy and complete some passes later.
#include "offload/communication_thread.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "eventually.hpp"
#include "offload/pool.hpp"
#include "offload/waiter.hpp"
#include "stand_ins.hpp"

namespace progress_engine::offload {
namespace {

constexpr std::size_t words = 8;

class Loopback;

// As a proxy: the program's until it is submitted and from its completion on.
struct Transfer : Command {
  std::atomic<std::uint32_t> next_free{0};
  std::uint32_t number = 0;
  Completion completion;
  Loopback* loopback = nullptr;
  std::array<std::uint64_t, words> from{};
  std::array<std::uint64_t, words> to{};
  int passes = 0;
};

class Loopback : public Progress {
 public:
  void start(Transfer& transfer) { pending_.push_back(&transfer); }
  bool advance() override {
    bool moved = false;
    for (std::size_t i = 0; i < pending_.size();) {
      Transfer& transfer = *pending_[i];
      if (transfer.passes-- > 0) {
        ++i;
        continue;
      }
      pending_[i] = pending_.back();
      pending_.pop_back();
      transfer.to = transfer.from;
      transfer.completion.complete();
      moved = true;
    }
    return moved;
  }
  bool pending() const override { return !pending_.empty(); }
  void nudge() override {}
  bool exposed() const override { return false; }
  void rouse_waiters() override {
    ++roused;
    for (Transfer* transfer : pending_) transfer->completion.rouse_waiter();
  }
  std::atomic<int> roused{0};

 private:
  std::vector<Transfer*> pending_;
};

class CommunicationThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    thread_ = std::make_unique<CommunicationThread>(
        CommunicationThreadPolicy{.queue = 64, .spin = microseconds(5), .awaited_spin = seconds(100)},
        std::make_unique<NoTraffic>());
    thread_->start();
    run([this] { thread_->advances(&loopback_); });
  }
  void TearDown() override { stop(); }

  void stop() {
    EXPECT_TRUE(!thread_ || thread_->stop(patience));
    thread_.reset();
  }

  // Executes on the communication thread and waits.
  void run(std::function<void()> body) {
    struct Once : Command {
      std::function<void()> body;
      Completion completion;
    } once;
    once.body = std::move(body);
    once.execute = [](Command& command) {
      auto& self = static_cast<Once&>(command);
      self.body();
      self.completion.complete();
    };
    thread_->submit(once);
    once.completion.wait();
  }

  void start(Transfer& transfer, std::uint64_t seed, int passes) {
    for (std::size_t i = 0; i < words; ++i) transfer.from[i] = seed + i;
    transfer.to = {};
    transfer.passes = passes;
    transfer.loopback = &loopback_;
    transfer.completion.reset();
    transfer.brief = true;
    transfer.execute = [](Command& command) {
      auto& self = static_cast<Transfer&>(command);
      self.loopback->start(self);
    };
    thread_->submit(transfer);
  }
  static bool arrived(const Transfer& transfer) { return transfer.to == transfer.from; }

  Loopback loopback_;
  std::unique_ptr<CommunicationThread> thread_;
  Pool<Transfer> pool_;
};

// A fabric's library, whose queue must be armed before each sleep; the first time it is busy.
class Armed : public NoTraffic {
 public:
  ArmResult arm(const std::function<bool()>& poll) override {
    armed_ = poll() && ++rounds > 1;
    return {.armed = armed_, .polls = 1};
  }
  bool wait(Nanoseconds bound) override {
    if (!std::exchange(armed_, false)) ++unarmed;
    return NoTraffic::wait(bound);
  }
  std::atomic<int> rounds{0};
  std::atomic<int> unarmed{0};

 private:
  bool armed_ = false;
};

TEST_F(CommunicationThreadTest, ArmsWhatAnnouncesTrafficBeforeItSleeps) {
  auto events = std::make_unique<Armed>();
  const auto& rounds = events->rounds;
  const auto& unarmed = events->unarmed;
  stop();
  thread_ = std::make_unique<CommunicationThread>(CommunicationThreadPolicy{.spin = 0}, std::move(events));
  thread_->start();
  run([this] { thread_->advances(&loopback_); });
  const int before = unarmed;  // while there was nothing to poll
  EXPECT_TRUE(eventually([&] { return rounds > 5; }));
  EXPECT_EQ(unarmed, before);
}

TEST_F(CommunicationThreadTest, ExecutesOnAThreadOfItsOwn) {
  EXPECT_FALSE(on_communication_thread());
  bool there = false;
  run([&] { there = on_communication_thread(); });
  EXPECT_TRUE(there);
}

// Its calls are the program's: what one raises goes to the program's crash handler, and all other signals elsewhere.
TEST_F(CommunicationThreadTest, BlocksSignalsButNotThoseThatACallRaises) {
  sigset_t blocked;
  sigemptyset(&blocked);
  run([&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); });
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) EXPECT_EQ(sigismember(&blocked, signal), 0) << signal;
  for (const int signal : {SIGUSR1, SIGALRM, SIGPROF, SIGTERM}) EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
}

TEST_F(CommunicationThreadTest, SleepsWhenThereIsNothingToDoAndWakesForACommand) {
  EXPECT_TRUE(eventually([&] { return thread_->counters().naps > 0; }));
  Transfer transfer;
  start(transfer, 1, 0);
  transfer.completion.wait();
  EXPECT_TRUE(arrived(transfer));
}

TEST_F(CommunicationThreadTest, ExecutesWhatIsInTheQueueBeforeItEnds) {
  std::vector<std::unique_ptr<Transfer>> transfers;
  for (int i = 0; i < 50; ++i) {
    transfers.push_back(std::make_unique<Transfer>());
    start(*transfers.back(), 7, 0);
  }
  stop();
  for (const auto& transfer : transfers) EXPECT_TRUE(arrived(*transfer));
}

TEST_F(CommunicationThreadTest, DoesNotSleepWhileAThreadWaits) {
  Transfer transfer;
  start(transfer, 1, 1 << 30);
  const std::jthread waits([&] { transfer.completion.wait(); });
  while (!transfer.completion.awaited()) std::this_thread::yield();
  const auto before = thread_->counters().naps.load();
  const auto passes = thread_->counters().passes.load();
  EXPECT_TRUE(eventually([&] { return thread_->counters().passes > passes + 1000; }));
  EXPECT_LE(thread_->counters().naps - before, 1U) << "the one in which it was";
  run([&] { transfer.passes = 0; });
}

TEST_F(CommunicationThreadTest, ALocalCallIsMadeByItsCallerAfterWhatWasHandedOver) {
  for (int i = 0; i < 1000; ++i) {
    Transfer transfer;
    start(transfer, 1, 0);
    bool handed_over_first = false;
    const bool made = thread_->take_turn(
        [&] { handed_over_first = on_communication_thread() && (transfer.completion.done() || loopback_.pending()); });
    EXPECT_EQ(made, handed_over_first);
    transfer.completion.wait();
  }
  EXPECT_FALSE(on_communication_thread());
  EXPECT_GT(thread_->counters().turns, 0U);
}

TEST_F(CommunicationThreadTest, ALocalCallIsNotMadeBesideACallThatBlocks) {
  std::atomic<bool> inside{false};
  std::atomic<bool> over{false};
  const std::jthread caller([&] {
    run([&] {
      inside = true;
      while (!over) std::this_thread::yield();
    });
  });
  while (!inside) std::this_thread::yield();
  EXPECT_FALSE(thread_->take_turn([] { FAIL(); }));
  over = true;
}

TEST(AdaptiveSpin, NobodySpinsBesideAThreadThatComputesUntilASleepFindsTheCpuIdle) {
  AdaptiveSpin spin;
  EXPECT_TRUE(spin.may_spin());
  std::jthread([&] {
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(sched_getcpu(), &own);
    ASSERT_EQ(sched_setaffinity(0, sizeof own, &own), 0);
    const std::jthread computes([](const std::stop_token& stop) {  // on the same CPU
      while (!stop.stop_requested()) {
      }
    });
    const Nanoseconds begin = now();
    while (spin.may_spin() && now() - begin < patience) spin.let_others_run([] { return false; });
  }).join();
  EXPECT_FALSE(spin.may_spin());
  spin.slept(microseconds(100), microseconds(90));
  EXPECT_FALSE(spin.may_spin());
  spin.slept(microseconds(100), microseconds(10));
  EXPECT_TRUE(spin.may_spin());
}

// One thread of a storm: starts transfers, waits for one, for all, or tests, at random.
class Storm {
 public:
  Storm(Pool<Transfer>& pool, std::uint64_t seed) : pool_(pool), random_(seed), seed_(seed << 32) {}

  template <typename Start>
  int run(int operations, const Start& start, const std::function<void()>& turn) {
    for (int i = 0; i < operations; ++i) {
      const auto choice = random_() % 8;
      if (choice == 7) turn();
      if (live_.size() < 8 && choice < 5)
        start(*live_.emplace_back(pool_.take()), seed_ += words, static_cast<int>(random_() % 4));
      else if (choice < 6)
        wait_for_one();
      else if (choice < 7)
        wait_for_all();
      else
        test_all();
    }
    wait_for_all();
    return wrong_;
  }

 private:
  void finish(std::size_t i) {
    wrong_ += live_[i]->to == live_[i]->from ? 0 : 1;
    pool_.give_back(*live_[i]);
    live_[i] = live_.back();
    live_.pop_back();
  }
  void wait_for_one() {
    if (live_.empty()) return;
    const auto i = random_() % live_.size();
    live_[i]->completion.wait();
    finish(i);
  }
  void wait_for_all() {
    if (live_.empty()) return;
    Waiter waiter(static_cast<int>(live_.size()));
    for (Transfer* transfer : live_)
      if (!transfer->completion.attach(waiter)) waiter.signal();
    waiter.wait();
    while (!live_.empty()) finish(live_.size() - 1);
  }
  void test_all() {
    for (std::size_t i = live_.size(); i-- > 0;)
      if (live_[i]->completion.done()) finish(i);
  }

  Pool<Transfer>& pool_;
  std::mt19937_64 random_;
  std::uint64_t seed_;
  std::vector<Transfer*> live_;
  int wrong_ = 0;
};

// PE_TEST_OPERATIONS=100000 is what was promised; sanitizers make that long.
int operations_a_thread() {
  const char* asked = std::getenv("PE_TEST_OPERATIONS");
  return asked ? std::atoi(asked) : 1000;
}

TEST_F(CommunicationThreadTest, SixtyFourThreadsOfRandomOperations) {
  std::atomic<int> wrong{0};
  long in_turn = 0;  // by whoever has the turn, unprotected otherwise
  const auto turn = [&] { thread_->take_turn([&] { ++in_turn; }); };
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 64; ++t)
      threads.emplace_back([&, t] {
        const auto begin = [this](Transfer& transfer, auto seed, int passes) { start(transfer, seed, passes); };
        wrong += Storm(pool_, t + 1).run(operations_a_thread(), begin, turn);
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(static_cast<std::uint64_t>(in_turn), thread_->counters().turns);
  EXPECT_LE(pool_.made(), 64U * 8U);
}

class StandingDown : public CommunicationThreadTest {
 protected:
  static constexpr int for_ever = 1 << 30;

  void TearDown() override {
    stop();
    wait_policy().stood_down = nullptr;
  }
  void stand_down() {
    run([this] { thread_->stand_down(); });
  }
};

TEST_F(StandingDown, EachCallerExecutesItsOwnCommands) {
  stand_down();
  std::thread::id where;
  bool in_its_place = false;
  run([&] {
    where = std::this_thread::get_id();
    in_its_place = on_communication_thread();
  });
  EXPECT_EQ(where, std::this_thread::get_id());
  EXPECT_TRUE(in_its_place);
  EXPECT_FALSE(on_communication_thread());
}

// A loan is executed by who waits for its borrower: by the borrower itself it would never end.
TEST_F(StandingDown, WhatItsSubmitterMustNotExecuteIsRefused) {
  static Command loan;
  loan.execute = [](Command&) { ADD_FAILURE() << "it was refused"; };
  stand_down();
  EXPECT_FALSE(thread_->hand_over(loan));
}

TEST_F(StandingDown, OnlyWhoWaitsMakesTheProgress) {
  Transfer pending;
  start(pending, 1, for_ever);
  stand_down();
  run([&] { pending.passes = 3; });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  run([&] { EXPECT_EQ(pending.passes, 3); });
  const auto before = thread_->counters().stand_ins.load();
  pending.completion.wait();
  EXPECT_TRUE(arrived(pending));
  EXPECT_EQ(thread_->counters().stand_ins - before, 4U);
}

TEST_F(StandingDown, WhoSleptWorksForItself) {
  Transfer pending;
  start(pending, 1, for_ever);
  std::atomic<pid_t> sleeper{0};
  const std::jthread sleeps([&] {
    sleeper = gettid();
    pending.completion.wait();
  });
  ASSERT_TRUE(eventually([&] { return pending.completion.awaited() && asleep(sleeper); }));
  stand_down();
  run([&] { pending.passes = 0; });
}

// Who is roused on its way to sleep sleeps all the same.
TEST_F(StandingDown, WhoSleepsIsRousedAgain) {
  stand_down();
  const int before = loopback_.roused;
  EXPECT_TRUE(eventually([&] { return loopback_.roused > before + 3; }));
}

CommunicationThread* watched = nullptr;
std::atomic<unsigned> at_work{0};

TEST_F(StandingDown, InTheMiddleOfAStormLosesNothing) {
  constexpr unsigned number = 16;
  watched = thread_.get();
  at_work = 0;
  run([this] {
    thread_->watch([] {
      if (at_work < number) return false;
      watched->stand_down();
      return true;
    });
  });
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < number; ++t)
      threads.emplace_back([&, t] {
        const auto begin = [this](Transfer& transfer, auto seed, int passes) { start(transfer, seed, passes); };
        const auto turn = [this] { thread_->take_turn([] {}); };
        Storm storm(pool_, t + 1);
        wrong += storm.run(10, begin, turn);
        ++at_work;
        while (!thread_->stood_down()) wrong += storm.run(10, begin, turn);
        wrong += storm.run(500, begin, turn);
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(thread_->counters().stand_ins, 0U);
}

}  // namespace
}  // namespace progress_engine::offload
