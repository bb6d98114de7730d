// SPDX-License-Identifier: BSD-3-Clause
// Whom points=events helps and whom it leaves alone (core/event_loop.hpp), with a progress function and a network made
// up.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/engine.hpp"
#include "eventually.hpp"
#include "stand_ins.hpp"

namespace progress_engine {
namespace {

// Every three milliseconds a poll moves something small; the others find nothing.
class MovingProgress : public ProgressFunction {
 public:
  explicit MovingProgress(std::atomic<int>& moves) : moves_(moves) {}
  void poll() override {
    const Nanoseconds start = now();
    if (start - last_ < microseconds(3000)) return;
    while (now() - start < microseconds(12)) {
    }
    last_ = now();
    ++moves_;
  }

 private:
  std::atomic<int>& moves_;
  Nanoseconds last_ = 0;
};

// Something arrives in every millisecond.
class SteadyTraffic : public NoTraffic {
 public:
  bool wait(Nanoseconds bound) override {
    NoTraffic::wait(std::min(bound, microseconds(1000)));
    return true;
  }
};

// The same, and the kernel alone takes it all in.
class TakenInByTheKernel : public SteadyTraffic {
 public:
  PollEffect after_poll() override { return {}; }
};

// The same, and it is data.
class DataInTheKernel : public SteadyTraffic {
 public:
  PollEffect after_poll() override { return {.bulk = true}; }
};

struct Program {
  explicit Program(std::unique_ptr<EventSource> events = std::make_unique<SteadyTraffic>(), const Values& values = {})
      : engine{make_policy(resolve_values("adaptive", values)), std::make_unique<MovingProgress>(moves),
               std::move(events)} {}

  std::atomic<int> moves{0};
  Engine engine;
  ThreadSlot& slot = engine.activity().acquire();

  std::uint64_t wakes() const { return engine.workers().front()->wakes; }

  // Starts an operation, computes, and waits for it.
  void exchange(Nanoseconds computing, Nanoseconds waiting) {
    Activity::note_start(slot, 1, Activity::unbounded);
    engine.after_call(slot);
    if (computing > 0) wait(computing);
    slot.depth = 1;
    wait(waiting);
    add(slot.completed, 1);
    slot.depth = 0;
    engine.after_call(slot);
  }
};

// What the polls move takes less time than their wakes cost: it is the network's time that makes it worth while.
TEST(Events, StayArmedWhileTheNetworkWorksBesideTheComputation) {
  Program program;
  program.engine.start();
  EXPECT_TRUE(eventually([&] {  // while the machine is busy fewer
    constexpr int exchanges = 60;
    int helped = 0;
    for (int i = 0; i < exchanges; ++i) {
      const int before = program.moves;
      program.exchange(microseconds(10'000), microseconds(3000));
      helped += program.moves > before ? 1 : 0;
    }
    return helped > exchanges * 2 / 3;
  }));
  EXPECT_TRUE(program.engine.stop(patience));
}

TEST(Events, LeaveAProgramAloneThatWaitsAtOnce) {
  constexpr int exchanges = 50;
  Program program;
  program.engine.start();
  EXPECT_TRUE(eventually([&] {
    const auto before = program.wakes();
    for (int i = 0; i < exchanges; ++i) program.exchange(0, microseconds(1000));
    return program.wakes() - before < exchanges / 2;
  }));
  EXPECT_TRUE(program.engine.stop(patience));
}

// Each poll moves something small.
class Counted : public ProgressFunction {
 public:
  explicit Counted(std::atomic<int>& polls) : polls_(polls) {}
  void poll() override {
    ++polls_;
    for (const Nanoseconds start = now(); now() - start < microseconds(12);) {
    }
  }

 private:
  std::atomic<int>& polls_;
};

class CeaselessTraffic : public NoTraffic {
 public:
  bool wait(Nanoseconds /*bound*/) override { return true; }
};

// An answer that leaves between two starts of an exchange overtakes the program's own requests.
struct Exchanges {
  std::atomic<int> polls{0};
  Engine engine{make_policy(resolve_values("adaptive", {{"rest_us", "0"}})), std::make_unique<Counted>(polls),
                std::make_unique<CeaselessTraffic>()};
  ThreadSlot& slot = engine.activity().acquire();

  void start(Nanoseconds packing) {
    add(slot.long_messages, 1);
    Activity::note_start(slot, 1, Activity::unbounded);
    engine.after_call(slot);
    for (const Nanoseconds begin = now(); now() - begin < packing;) {
    }
  }

  void complete(int operations) {
    slot.depth = 1;
    add(slot.completed, operations);
    slot.depth = 0;
    engine.after_call(slot);
  }

  // Whether most of some exchanges were let start all their operations, however often other work delays a start.
  bool are_let_start(int operations, Nanoseconds packing) {
    constexpr int exchanges = 20;
    return eventually([&] {
      int undisturbed = 0;
      for (int i = 0; i < exchanges; ++i) {
        const int before = polls;
        for (int started = 0; started < operations; ++started) start(started + 1 < operations ? packing : 0);
        undisturbed += polls == before ? 1 : 0;
        EXPECT_TRUE(eventually([&] { return polls > before; })) << "then it helps";
        complete(operations);
        wait(microseconds(2000));
      }
      return undisturbed > exchanges * 2 / 3;
    });
  }
};

TEST(Events, LetAProgramStartAllOfAnExchangeFirst) {
  Exchanges program;
  program.engine.start();
  EXPECT_TRUE(program.are_let_start(20, microseconds(10)));
  EXPECT_TRUE(program.engine.stop(patience));
}

TEST(Events, LearnForHowLongAProgramPacksBetweenTwoStarts) {
  Exchanges program;
  program.engine.start();
  EXPECT_TRUE(program.are_let_start(3, microseconds(300)));
  EXPECT_TRUE(program.engine.stop(patience));
}

TEST(Events, LetAProgramStartAllOfItWhileAnOlderOperationIsPolledFor) {
  Exchanges program;
  program.engine.start();
  program.start(0);
  EXPECT_TRUE(eventually([&] { return program.polls > 0; }));
  EXPECT_TRUE(program.are_let_start(30, microseconds(15)));
  EXPECT_TRUE(program.engine.stop(patience));
}

// The report tells both: one time is not counted twice.
TEST(Events, ABackoffBesideAPauseIsAPause) {
  Program program;
  program.engine.start();
  for (int i = 0; i < 50; ++i) {
    program.exchange(0, microseconds(1000));
    program.engine.pause();
    wait(microseconds(10'000));
    program.engine.resume();
  }
  EXPECT_TRUE(program.engine.stop(patience));
  EXPECT_GT(program.engine.workers().front()->disarmed, 0);
  EXPECT_LE(program.engine.workers().front()->disarmed, program.engine.time_on());
}

// Polls find data, and copy what the MPI would copy as well when it is waited for.
TEST(Events, LeaveAProgramAloneWhoseMessagesTheKernelTakesIn) {
  constexpr int exchanges = 40;
  Program program(std::make_unique<TakenInByTheKernel>());
  program.engine.start();
  EXPECT_TRUE(eventually([&] {
    const auto before = program.wakes();
    for (int i = 0; i < exchanges; ++i) program.exchange(microseconds(10'000), microseconds(100));
    return program.wakes() - before < 2 * exchanges;
  })) << "as long as it polls there are at least three wakes an exchange";
  EXPECT_TRUE(program.engine.stop(patience));
}

// Data gathers, however little time it takes to read: nobody waits for an answer to it.
TEST(Events, RestLongerBesideData) {
  constexpr int exchanges = 20;
  Program program(std::make_unique<DataInTheKernel>(), {{"rest_us", "0"}});
  program.engine.start();
  EXPECT_TRUE(eventually([&] {
    const auto before = program.wakes();
    for (int i = 0; i < exchanges; ++i) program.exchange(microseconds(20'000), microseconds(100));
    return program.wakes() - before < 30 * exchanges;
  })) << "a wake for each piece, and one for the rest after it, are 40 an exchange";
  EXPECT_TRUE(program.engine.stop(patience));
}

// After its end, or between two steps of it, the network is idle until the rest is over.
TEST(Events, RestForAShareOfTheTimeThatAMessageTakes) {
  Program program(std::make_unique<DataInTheKernel>(), {{"rest_us", "0"}, {"max_distance_us", "1000000"}});
  program.engine.start();
  EXPECT_TRUE(eventually([&] {
    const auto before = program.wakes();
    program.exchange(microseconds(300'000), microseconds(100));
    return program.wakes() - before > 50;
  })) << "rests that grow by a half each are 30 wakes";
  EXPECT_TRUE(program.engine.stop(patience));
}

// A handshake: one poll answers it, and then the network has enough to do until the program waits.
class OneAnswer : public NoTraffic {
 public:
  explicit OneAnswer(std::atomic<bool>& asked) : asked_(asked) {}
  bool wait(Nanoseconds bound) override {
    NoTraffic::wait(asked_ ? 0 : bound);
    return asked_;
  }

 private:
  std::atomic<bool>& asked_;
};

class Answering : public ProgressFunction {
 public:
  Answering(std::atomic<bool>& asked, std::atomic<int>& answers) : asked_(asked), answers_(answers) {}
  void poll() override {
    if (!asked_.exchange(false)) return;
    for (const Nanoseconds start = now(); now() - start < microseconds(12);) {
    }
    ++answers_;
  }

 private:
  std::atomic<bool>& asked_;
  std::atomic<int>& answers_;
};

template <typename Announcing>
struct OneQuestionEach {
  std::atomic<bool> asked{false};
  std::atomic<int> answers{0};
  Engine engine{make_policy(resolve_values("adaptive", {})), std::make_unique<Answering>(asked, answers),
                std::make_unique<Announcing>(asked)};
  ThreadSlot& slot = engine.activity().acquire();

  void exchange(bool asks, Nanoseconds computes, Nanoseconds waits) {
    asked = asks;
    Activity::note_start(slot, 1, Activity::unbounded);
    engine.after_call(slot);
    wait(computes);
    slot.depth = 1;
    asked = false;
    wait(waits);
    add(slot.completed, 1);
    slot.depth = 0;
    engine.after_call(slot);
  }

  // Of a hundred exchanges.
  int answered() {
    constexpr int exchanges = 200;
    const int before = answers;
    // It computes for less than the engine's sleep after the answer: there is no turn of it meanwhile. And the engine
    // sees that the busy period is over.
    for (int i = 0; i < exchanges; ++i) exchange(true, microseconds(1500), microseconds(3000));
    return (answers - before) * 100 / exchanges;
  }

  // While the machine is busy fewer are; in a minute of attempts one succeeds by chance alone.
  void expect_more_than(int share) {
    engine.start();
    int attempts = 10;
    while (attempts > 0 && answered() <= share) --attempts;
    EXPECT_GT(attempts, 0);
    EXPECT_TRUE(engine.stop(patience));
  }
};

// What follows the last poll of a busy period is won by it: of a short message there is no other poll.
TEST(Events, StayArmedForMessagesThatNeedOnePoll) { OneQuestionEach<OneAnswer>().expect_more_than(90); }

// No poll shows that it was needed, and without the engine each would be.
class MissedWhileItBacksOff : public OneAnswer {
 public:
  explicit MissedWhileItBacksOff(std::atomic<bool>& asked) : OneAnswer(asked), unread_(asked) {}
  PollEffect after_poll() override { return {}; }
  std::optional<std::uint64_t> unanswered() const override { return unread_ ? std::optional(1U) : std::nullopt; }

 private:
  const std::atomic<bool>& unread_;
};

// Nothing is until it has backed off; without a look at what waits, less than a quarter are answered.
TEST(Events, StayArmedWhereTheNetworkWaitsWithoutThem) {
  OneQuestionEach<MissedWhileItBacksOff>().expect_more_than(50);
}

// Messages that need no poll, until it has backed off for long; then some that do, and each of them computes for a
// fortieth of the time: a look at any time finds one after a second.
TEST(Events, LookWhileTheProgramComputesWhereItBacksOff) {
  OneQuestionEach<MissedWhileItBacksOff> program;
  const auto& backed_off = program.engine.workers().front()->disarmed;
  program.engine.start();
  EXPECT_TRUE(eventually([&] {
    constexpr int trials = 4, exchanges = 10;
    int answered = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto enough = backed_off + microseconds(120'000);
      for (const Nanoseconds end = now() + patience; backed_off < enough && now() < end;)
        program.exchange(false, microseconds(300), microseconds(50));
      const int before = program.answers;
      for (int i = 0; i < exchanges; ++i) program.exchange(true, microseconds(450), microseconds(19'000));
      answered += program.answers - before;
    }
    return answered > trials * exchanges * 3 / 4;
  }));
  EXPECT_TRUE(program.engine.stop(patience));
}

// The question has come while the program was inside MPI, and its edge ended a wait then.
class UnreadFromTheStart : public OneAnswer {
 public:
  explicit UnreadFromTheStart(std::atomic<bool>& asked) : OneAnswer(asked), unread_(asked) {}
  bool wait(Nanoseconds bound) override {
    NoTraffic::wait(bound);
    return false;
  }
  std::optional<std::uint64_t> unanswered() const override { return unread_ ? std::optional(1U) : std::nullopt; }

 private:
  const std::atomic<bool>& unread_;
};

TEST(Events, AnswerWhatLiesUnreadAtTheStart) { OneQuestionEach<UnreadFromTheStart>().expect_more_than(90); }

// Every process of the network namespace can send to the doorbell's name.
TEST(Events, AFloodOfUnmarkedDatagramsCostsABoundedNumberOfWakes) {
  const std::string name = "flood " + std::to_string(getpid());
  auto doorbell = std::make_unique<Doorbell>(name, 0, 2);
  const std::string address = doorbell->published().name();
  std::atomic<int> moves{0};
  Engine engine(make_policy(resolve_values("adaptive", {{"min_distance_us", "0"}, {"start_distance_us", "0"}})),
                std::make_unique<MovingProgress>(moves), std::make_unique<NoTraffic>(), std::move(doorbell));
  const PublishedLine stranger("stranger " + std::to_string(getpid()), 0);
  Activity::note_start(engine.activity().acquire(), 1, Activity::unbounded);
  engine.start();
  const auto& worker = *engine.workers().front();
  const auto heard = [&] {
    std::uint64_t wakes = 0;
    for (const auto source : {WakeSource::traffic, WakeSource::neighbour})
      wakes += worker.wake_sources[static_cast<std::size_t>(source)];
    return wakes;
  };
  const Nanoseconds begin = now();
  while (heard() < 300 && now() - begin < patience) {
    for (int i = 0; i < 10; ++i) stranger.wake(address);
    wait(microseconds(20));
  }
  const std::uint64_t wakes = worker.wakes;
  const std::uint64_t by_datagrams = heard();
  const auto milliseconds = static_cast<std::uint64_t>((now() - begin) / microseconds(1000));  // read last
  EXPECT_GE(by_datagrams, 300U) << "they were sent";
  EXPECT_LE(by_datagrams, 64 + milliseconds + 20) << "in " << milliseconds << " ms";
  // Each begins at most two sleeps by the clock: for more to gather, and the pause.
  EXPECT_LE(wakes, 3 * (64 + milliseconds + 20));
  EXPECT_TRUE(engine.stop(patience));
}

// Who sleeps until the engine has moved his message cannot be left alone, not for a second.
TEST(Events, NeverLeaveManagedWaitersAlone) {
  std::atomic<int> moves{0};
  Engine engine(make_policy(resolve_values("adaptive", {{"waiting", "managed"}, {"rest_us", "1000000"}})),
                std::make_unique<MovingProgress>(moves), std::make_unique<NoTraffic>());
  const ThreadSlot& slot = engine.activity().acquire();
  engine.start();
  for (int i = 0; i < 100; ++i) {
    const int before = moves;
    engine.activity().add_progress_user();
    engine.after_call(slot);
    ASSERT_TRUE(eventually([&] { return moves > before; })) << "wait " << i;
    engine.activity().remove_progress_user();
    wait(microseconds(5000));  // the busy period ends: what moved last was nobody's gain
  }
  EXPECT_EQ(engine.workers().front()->disarmed, 0);
  EXPECT_TRUE(engine.stop(patience));
}

}  // namespace
}  // namespace progress_engine
