// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving of the queues', the parking's and the waiting's real code,
// by 2 or 3 threads.
#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "core/activity.hpp"
#include "core/bell.hpp"
#include "core/lock_free_queue.hpp"
#include "core/lock_queue.hpp"
#include "core/parking.hpp"
#include "core/submission_queue.hpp"
#include "model/machine.hpp"

namespace progress_engine::model {
namespace {

using Task = BasicLtask<ModelAtomics>;
using Body = std::function<void()>;

std::string trace_of(const Verdict& verdict) {
  std::string text = verdict.failure;
  for (const auto& step : verdict.trace) text += "\n  " + step;
  return text;
}

template <typename Made>
Verdict explore(Fault fault = Fault::none) {
  return Machine(fault).explore([] { return std::make_unique<Made>(); });
}

template <typename Made>
void expect_sound(std::uint64_t at_least) {
  const Verdict verdict = explore<Made>();
  EXPECT_EQ(verdict.failure, "") << trace_of(verdict);
  EXPECT_GE(verdict.interleavings, at_least);
  testing::Test::RecordProperty("interleavings", std::to_string(verdict.interleavings));
}

template <typename Made>
void expect_found(Fault fault, const std::string& says) {
  const Verdict verdict = explore<Made>(fault);
  EXPECT_NE(verdict.failure.find(says), std::string::npos) << "found: " << verdict.failure;
  EXPECT_FALSE(verdict.trace.empty());
}

// A task that is done when it was polled `left` times, and notices when it is
// polled twice at once.
struct Counted {
  int left = 1;
  int polled = 0;
  bool running = false;
  ModelAtomic<int> inside{0};
  Task task{.poll = poll, .argument = this};

  static int poll(void* argument) {
    auto& self = *static_cast<Counted*>(argument);
    if (std::exchange(self.running, true)) Machine::current().fail("a task is polled twice at once");
    self.inside.load();  // a moment at which others may run
    self.running = false;
    return ++self.polled == self.left ? 1 : 0;
  }
};

template <typename Queue>
struct Made : Queue {
  Made() = default;
};
template <>
struct Made<BasicLockFreeQueue<ModelAtomics>> : BasicLockFreeQueue<ModelAtomics> {
  Made() : BasicLockFreeQueue(2) {}
};

template <typename Queue>
class QueueScenario : public Scenario {
 public:
  // What the threads left is polled here: then every task must have been polled
  // as often as it wanted.
  std::string check() override {
    for (int rounds = 0; rounds < 3; ++rounds) queue.run();
    if (!queue.empty()) return "a task is left in the queue";
    for (std::size_t i = 0; i < submitted; ++i) {
      if (tasks[i].polled != tasks[i].left) return "a task was polled too often or was lost";
      if (!tasks[i].task.completion.done()) return "a task's end was lost";
    }
    return "";
  }

 protected:
  void submit(int number) {
    ++submitted;
    while (!queue.submit(tasks[static_cast<std::size_t>(number)].task)) ModelAtomics::relax(0);
  }
  void finish(int number) {
    while (!tasks[static_cast<std::size_t>(number)].task.completion.done())
      if (queue.run() == 0) ModelAtomics::relax(0);
  }

  Made<Queue> queue;
  std::array<Counted, 2> tasks{};
  std::size_t submitted = 0;
};

// Each submits a task and polls once: none is lost, whoever of the two polls
// it.
template <typename Queue>
class TwoSubmitters : public QueueScenario<Queue> {
 public:
  std::vector<Body> threads() override {
    return {[this] { this->submit(0), this->queue.run(); }, [this] { this->submit(1), this->queue.run(); }};
  }
};

// One polls until its task is done, which another one may have in its hands.
template <typename Queue>
class SubmitterAndPoller : public QueueScenario<Queue> {
 public:
  std::vector<Body> threads() override {
    return {[this] { this->submit(0), this->finish(0); }, [this] { this->queue.run(); }};
  }
};

// The task must be polled twice, by one poller or by two.
template <typename Queue>
class OneSubmitterTwoPollers : public QueueScenario<Queue> {
 public:
  OneSubmitterTwoPollers() { this->tasks[0].left = 2; }
  std::vector<Body> threads() override {
    return {[this] { this->submit(0); }, [this] { this->queue.run(); }, [this] { this->queue.run(); }};
  }
};

template <typename Queue>
class Interleavings : public testing::Test {};
using Queues =
    testing::Types<BasicSubmissionQueue<ModelAtomics>, BasicLockQueue<ModelAtomics>, BasicLockFreeQueue<ModelAtomics>>;
TYPED_TEST_SUITE(Interleavings, Queues);

TYPED_TEST(Interleavings, OfTwoSubmittersLoseNoTask) { expect_sound<TwoSubmitters<TypeParam>>(20); }
TYPED_TEST(Interleavings, OfASubmitterAndAPollerLoseNoTask) { expect_sound<SubmitterAndPoller<TypeParam>>(20); }
TYPED_TEST(Interleavings, OfASubmitterAndTwoPollersLoseNoTask) { expect_sound<OneSubmitterTwoPollers<TypeParam>>(20); }

TEST(BrokenMask, IsFound) {
  expect_found<TwoSubmitters<BasicSubmissionQueue<ModelAtomics>>>(Fault::torn_exchange, "task");
}

// ---- parking

// The engine's edge from sleep to work: the program publishes, fences lightly,
// and rings if somebody is parked.
class ParkingScenario : public Scenario {
 public:
  std::string check() override { return done.load() == goal ? "" : "work was left undone"; }

 protected:
  void publish() {
    work.fetch_add(1);  // as an application thread's own counter: see add() in activity.hpp
    ring();
  }
  // A store, as the shim makes them: nothing but the sleeper's fence orders it
  // against looking for the sleeper.
  void publish_plainly(int value) {
    work.store(value);
    ring();
  }
  void ring() {
    ModelAtomics::light_fence();
    if (parking.anyone()) parking.ring();
  }
  void serve(int until) {
    while (done.load() < until) {
      parking.park([this, until] { return work.load() > done.load() || done.load() >= until; }, 0);
      if (work.load() > done.load()) done.fetch_add(1);
    }
  }

  int goal = 1;
  BasicParking<ModelAtomics> parking;
  ModelAtomic<int> work{0};
  ModelAtomic<int> done{0};
};

class OneRing : public ParkingScenario {
 public:
  std::vector<Body> threads() override {
    return {[this] { serve(1); }, [this] { publish_plainly(1); }};
  }
};

class TwoRings : public ParkingScenario {
 public:
  TwoRings() { goal = 2; }
  std::vector<Body> threads() override {
    return {[this] { serve(2); }, [this] { publish_plainly(1), publish_plainly(2); }};
  }
};

class TwoRingers : public ParkingScenario {
 public:
  TwoRingers() { goal = 2; }
  std::vector<Body> threads() override {
    return {[this] { serve(2); }, [this] { publish(); }, [this] { publish(); }};
  }
};

// All sleepers must see that it is over, also one that another one's parking
// came in between.
class TwoSleepers : public Scenario {
 public:
  std::vector<Body> threads() override {
    const Body sleep = [this] {
      while (stopping.load() == 0) parking.park([this] { return stopping.load() != 0; }, 0);
    };
    return {sleep, sleep, [this] {
              stopping.store(1);
              ModelAtomics::light_fence();
              if (parking.anyone()) parking.ring();
            }};
  }
  std::string check() override { return ""; }

 private:
  BasicParking<ModelAtomics> parking;
  ModelAtomic<int> stopping{0};
};

TEST(ParkingInterleavings, LoseNoRing) { expect_sound<OneRing>(5); }
TEST(ParkingInterleavings, LoseNoneOfTwoRings) { expect_sound<TwoRings>(20); }
TEST(ParkingInterleavings, LoseNoRingOfTwoRingers) { expect_sound<TwoRingers>(100); }
TEST(ParkingInterleavings, ReachEverySleeper) { expect_sound<TwoSleepers>(100); }
TEST(ParkingInterleavings, WithoutTheSleepersFenceARingIsLost) {
  expect_found<OneRing>(Fault::no_membarrier, "thread 0 sleeps");
  expect_found<TwoSleepers>(Fault::no_membarrier, "sleeps");
}

// ---- leaving MPI

// The engine polls once there is work and nobody is inside MPI; whoever leaves MPI rings if that holds, as
// Call::leave() and Engine::wake_for_work() do.
class LeavingScenario : public Scenario {
 protected:
  using Activity = BasicActivity<ModelAtomics>;

  bool has_work() const { return work.load() != 0 && !activity.anyone_inside(); }
  template <typename Parked, typename Ring>
  void leave(Activity::Slot& slot, Parked&& parked, Ring&& ring) {
    slot.depth.store(0, std::memory_order_release);
    ModelAtomics::light_fence();
    if (!parked()) return;
    activity.order_leaving();
    if (has_work()) ring();
  }

  Activity activity;
  ModelAtomic<int> work{0};  // a plain store makes it, as add() does
  Activity::Slot& first = activity.acquire();
};

// Both are inside when it begins, and somebody is about to sleep. A lost ring shows as a sleeper for ever.
class TwoLeave : public LeavingScenario {
 public:
  TwoLeave() {
    for (auto* slot : {&first, &second}) slot->depth.store(1);
    work.store(1);
  }
  std::vector<Body> threads() override {
    return {[this] { parking.park([this] { return has_work(); }, 0); }, [this] { leave(first); },
            [this] { leave(second); }};
  }
  std::string check() override { return ""; }

 private:
  void leave(Activity::Slot& slot) {
    LeavingScenario::leave(slot, [this] { return parking.anyone(); }, [this] { parking.ring(); });
  }

  BasicParking<ModelAtomics> parking;
  Activity::Slot& second = activity.acquire();
};

// One was alone until now: its last call ends while the other one makes its first. Somebody sleeps all the time.
class FirstCallOfASecondThread : public LeavingScenario {
 public:
  FirstCallOfASecondThread() { first.depth.store(1); }
  std::vector<Body> threads() override {
    return {[this] { leave(first); },
            [this] {
              Activity::Slot& second = activity.acquire();
              work.store(1);
              leave(second);
            }};
  }
  std::string check() override { return rings > 0 ? "" : "nobody rings"; }

 private:
  void leave(Activity::Slot& slot) {
    LeavingScenario::leave(slot, [] { return true; }, [this] { ++rings; });
  }

  int rings = 0;
};

TEST(LeavingInterleavings, OfTwoThreadsOneRings) { expect_sound<TwoLeave>(100); }
TEST(LeavingInterleavings, OfAThreadAndANewOneOneRings) { expect_sound<FirstCallOfASecondThread>(100); }
TEST(LeavingInterleavings, WithoutTheLeaversFenceARingIsLost) {
  expect_found<TwoLeave>(Fault::no_full_fence, "thread 0 sleeps");
  expect_found<FirstCallOfASecondThread>(Fault::no_membarrier, "nobody rings");
}

// ---- the doorbell

// What a sender does, and a receiver's engine: it answers, looks for what was
// sent, and sleeps.
class BellScenario : public Scenario {
 public:
  std::string check() override { return seen >= goal ? "" : "a message was not seen"; }

 protected:
  // A plain store into memory that the receiver polls, as the MPI's, then the
  // ring.
  void send(int number) {
    sent.store(number);
    ring();
  }
  // The same of one of several.
  void send_beside_others() {
    sent.fetch_add(1);
    ring();
  }
  void ring() {
    bell.ring([this] { token.store(1), ModelAtomics::wake(token); });
  }
  void look() {
    bell.answer();
    seen = sent.load();
  }
  void receive_here() {
    for (look(); seen < goal; look()) bell.sleep(0);
  }
  // As epoll: what ends the sleep stays until it was taken, even if it comes
  // before the sleep.
  void receive_elsewhere() {
    for (look(); seen < goal; look()) {
      bell.sleep_elsewhere([this] { ModelAtomics::wait(token, 0, 0); });
      token.store(0);
    }
  }

  int goal = 1;
  int seen = 0;
  BasicBell<ModelAtomics> bell;
  ModelAtomic<int> sent{0};
  ModelAtomics::Word token{0};
};

class OneSender : public BellScenario {
 public:
  std::vector<Body> threads() override {
    return {[this] { receive_here(); }, [this] { send(1); }};
  }
};

// One message is enough to end it; the other ring finds whatever state that
// leaves.
class TwoSenders : public BellScenario {
 public:
  std::vector<Body> threads() override {
    const Body send = [this] { send_beside_others(); };
    return {[this] { receive_here(); }, send, send};
  }
};

class SenderOfTwo : public BellScenario {
 public:
  SenderOfTwo() { goal = 2; }
  std::vector<Body> threads() override {
    return {[this] { receive_here(); }, [this] { send_beside_others(), send_beside_others(); }};
  }
};

class SenderToEpoll : public BellScenario {
 public:
  std::vector<Body> threads() override {
    return {[this] { receive_elsewhere(); }, [this] { send(1); }};
  }
};

TEST(BellInterleavings, LoseNoRing) { expect_sound<OneSender>(5); }
TEST(BellInterleavings, LoseNoRingOfTwoSenders) { expect_sound<TwoSenders>(100); }
TEST(BellInterleavings, LoseNoneOfTwoRings) { expect_sound<SenderOfTwo>(20); }
TEST(BellInterleavings, LoseNoRingOfASleeperElsewhere) { expect_sound<SenderToEpoll>(5); }
TEST(BellInterleavings, WithoutTheOwnersFenceARingIsLost) {
  expect_found<OneSender>(Fault::no_membarrier, "thread 0 sleeps");
  expect_found<SenderToEpoll>(Fault::no_membarrier, "thread 0 sleeps");
}

// ---- waiting for a task

// The whole way of TaskEngine: submit, ring, sleep on the task's semaphore; a
// background thread polls or is parked.
class Round : public Scenario {
 public:
  std::vector<Body> threads() override {
    return {[this] {
              queue.submit(counted.task);
              ModelAtomics::light_fence();
              if (parking.anyone()) parking.ring();
              while (!counted.task.completion.done()) counted.task.completion.sleep(0);
            },
            [this] {
              while (counted.polled == 0) {
                queue.run();
                if (queue.empty()) parking.park([this] { return counted.polled > 0 || !queue.empty(); }, 0);
              }
            }};
  }
  std::string check() override { return counted.polled == 1 ? "" : "the task was not polled once"; }

 private:
  BasicSubmissionQueue<ModelAtomics> queue;
  BasicParking<ModelAtomics> parking;
  Counted counted;
};

TEST(WaitInterleavings, EndWithTheTask) { expect_sound<Round>(20); }

class TwoWaiters : public Scenario {
 public:
  std::vector<Body> threads() override {
    const Body wait = [this] {
      while (!completion.done()) completion.sleep(0);
    };
    return {wait, wait, [this] { completion.post(); }};
  }
  std::string check() override { return completion.done() ? "" : "not posted"; }

 private:
  BasicCompletion<ModelAtomics> completion;
};

TEST(WaitInterleavings, EndForEveryWaiter) { expect_sound<TwoWaiters>(20); }
TEST(WaitInterleavings, ATornPostIsFound) { expect_found<TwoWaiters>(Fault::torn_exchange, "sleeps"); }

}  // namespace
}  // namespace progress_engine::model
