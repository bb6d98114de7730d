// SPDX-License-Identifier: BSD-3-Clause
// Every interleaving of the parking's, the leaving's and the doorbell's real code, by 2 or 3 threads: no wake is lost.
#include <gtest/gtest.h>

#include "core/activity.hpp"
#include "model/expect.hpp"
#include "model/machine.hpp"
#include "wakeup/doorbell.hpp"

namespace progress_engine::model {
namespace {

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

// Who was rung soon the last time: it naps, and parks where the nap has shown nothing, as Engine::park() does.
template <typename Atomics>
class NappingScenario : public ParkingScenario {
 public:
  std::vector<Body> threads() override {
    return {[this] { serve(); }, [this] { publish(); }};
  }

 protected:
  void publish() {
    work.store(1);
    Atomics::light_fence();
    if (napping.anyone()) napping.ring();
  }
  bool has_work() const { return work.load() > done.load(); }
  void nap() {
    const auto wanted = [this] { return has_work(); };
    if (!napping.nap(wanted, 0)) napping.park(wanted, 0);
  }
  void serve() {
    while (done.load() < goal) {
      nap();
      if (has_work()) done.fetch_add(1);
    }
  }

  BasicParking<Atomics> napping;
};
using RingOfANapper = NappingScenario<ModelAtomics>;

class NapperAndSleeper : public NappingScenario<ModelAtomics> {
 public:
  std::vector<Body> threads() override {
    const auto has_work = [this] { return work.load() != 0; };
    return {[this, has_work] {
              while (!has_work())
                if (!napping.nap(has_work, 0)) napping.park(has_work, 0);
            },
            [this, has_work] {
              while (!has_work()) napping.park(has_work, 0);
            },
            [this] { publish(); }};
  }
  std::string check() override { return ""; }
};

// If a nap ended by a ring alone.
struct EndlessNaps : ModelAtomics {
  static void wait_briefly(Word& word, std::uint32_t expected, std::int64_t bound) { wait(word, expected, bound); }
};

TEST(ParkingInterleavings, LoseNoRing) { expect_sound<OneRing>(5); }
TEST(ParkingInterleavings, LoseNoneOfTwoRings) { expect_sound<TwoRings>(20); }
TEST(ParkingInterleavings, LoseNoRingOfTwoRingers) { expect_sound<TwoRingers>(100); }
TEST(ParkingInterleavings, ReachEverySleeper) { expect_sound<TwoSleepers>(100); }
TEST(ParkingInterleavings, WithoutTheSleepersFenceARingIsLost) {
  expect_found<OneRing>(Fault::no_membarrier, "thread 0 sleeps");
  expect_found<TwoSleepers>(Fault::no_membarrier, "sleeps");
}

TEST(ParkingInterleavings, LoseNoRingOfANapper) {
  expect_sound<RingOfANapper>(20);
  expect_sound<NapperAndSleeper>(100);
}
TEST(ParkingInterleavings, ANapWithoutEndLosesARing) {
  expect_found<NappingScenario<EndlessNaps>>(Fault::none, "thread 0 sleeps");
}
TEST(ParkingInterleavings, BehindANapTheSleepersFenceIsNeededAllTheSame) {
  expect_found<RingOfANapper>(Fault::no_membarrier, "thread 0 sleeps");
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

 protected:
  void leave(Activity::Slot& slot) {
    LeavingScenario::leave(slot, [this] { return parking.anyone(); }, [this] { parking.ring(); });
  }

  BasicParking<ModelAtomics> parking;
  Activity::Slot& second = activity.acquire();
};

// The same while the sleeper naps first.
class TwoLeaveANapper : public TwoLeave {
 public:
  std::vector<Body> threads() override {
    auto bodies = TwoLeave::threads();
    bodies[0] = [this] {
      const auto wanted = [this] { return has_work(); };
      if (!parking.nap(wanted, 0)) parking.park(wanted, 0);
    };
    return bodies;
  }
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
TEST(LeavingInterleavings, OfTwoThreadsOneRingsANapper) { expect_sound<TwoLeaveANapper>(100); }
TEST(LeavingInterleavings, OfAThreadAndANewOneOneRings) { expect_sound<FirstCallOfASecondThread>(100); }
TEST(LeavingInterleavings, WithoutTheLeaversFenceARingIsLost) {
  expect_found<TwoLeave>(Fault::no_full_fence, "thread 0 sleeps");
  expect_found<FirstCallOfASecondThread>(Fault::no_membarrier, "nobody rings");
}

// ---- small messages

// A large message starts while somebody looks whether anything is pending: whenever that is, it is not taken for one
// that has completed.
class ALargeMessageWhileSomebodyLooks : public Scenario {
 public:
  std::vector<Body> threads() override {
    return {[this] {
              Activity::note_start(slot, 1, Activity::unbounded);
              seen = activity.needs_progress(limit);
            },
            [this] { static_cast<void>(activity.needs_progress(limit)); }};
  }
  std::string check() override { return seen ? "" : "it is taken for completed"; }

 private:
  using Activity = BasicActivity<ModelAtomics>;
  static constexpr std::int64_t limit = 100;
  bool seen = false;
  Activity activity;
  Activity::Slot& slot = activity.acquire();
};

TEST(WeightInterleavings, ALargeMessageIsSeen) { expect_sound<ALargeMessageWhileSomebodyLooks>(100); }

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
    doorbell.ring([this] { token.store(1), ModelAtomics::wake(token); });
  }
  void look() {
    doorbell.answer();
    seen = sent.load();
  }
  void receive_here() {
    for (look(); seen < goal; look()) doorbell.sleep(0);
  }
  // As epoll: what ends the sleep stays until it was taken, even if it comes
  // before the sleep.
  void receive_elsewhere() {
    for (look(); seen < goal; look()) {
      doorbell.sleep_elsewhere([this] { ModelAtomics::wait(token, 0, 0); });
      token.store(0);
    }
  }

  int goal = 1;
  int seen = 0;
  BasicWakeupLine<ModelAtomics> doorbell;
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

}  // namespace
}  // namespace progress_engine::model
