// SPDX-License-Identifier: BSD-3-Clause
// What points=events polls for where the network announces little or nothing: a fabric, windows, collective operations
// (core/event_loop.hpp), with a progress function and a network made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/engine.hpp"
#include "eventually.hpp"
#include "stand_ins.hpp"

namespace progress_engine {
namespace {

struct OnAFabric {
  static constexpr int steps = 3;
  std::atomic<int> missing{0};
  Engine engine{make_policy(resolve_values("adaptive", {})), std::make_unique<Handshakes>(missing), nullptr};
  ThreadSlot& slot = engine.activity().acquire();

  // True if all of a message's steps were taken while the program computed.
  bool exchange(Nanoseconds computing) {
    missing = steps;
    Activity::note_start(slot, 1, Activity::unbounded);
    engine.after_call(slot);
    wait(computing);
    slot.depth = 1;
    const bool hidden = missing == 0;
    add(slot.completed, 1);
    slot.depth = 0;
    engine.after_call(slot);
    return hidden;
  }
};

// No poll is long, and nothing announces anything: 200 busy periods must not disarm it.
TEST(Unannounced, GoByTimeWhereNothingAnnouncesAnything) {
  OnAFabric fabric;
  fabric.engine.start();
  EXPECT_TRUE(eventually([&] {  // while the machine is busy fewer
    constexpr int exchanges = 200;
    int hidden = 0;
    for (int i = 0; i < exchanges; ++i) hidden += fabric.exchange(microseconds(5000)) ? 1 : 0;
    return hidden > exchanges * 2 / 3;
  }));
  EXPECT_TRUE(fabric.engine.stop(patience));
}

// A network whose connections come late, and carry little.
class LateConnections : public EpollEvents {
 public:
  LateConnections() : EpollEvents(Sockets::none) {}
  bool refresh() override {
    ++looks;
    return false;
  }
  std::atomic<std::uint64_t> looks{0};
};

// Of what reaches into a window no operation is counted, and no poll for it is long.
TEST(Unannounced, LookForConnectionsWhileOthersMayReachIntoAWindow) {
  std::atomic<int> missing{0};
  auto connections = std::make_unique<LateConnections>();
  const auto& looks = connections->looks;
  Engine engine(make_policy(resolve_values("adaptive", {})), std::make_unique<Handshakes>(missing),
                std::move(connections));
  const ThreadSlot& slot = engine.activity().acquire();
  engine.start();
  engine.activity().add_progress_user();
  engine.after_call(slot);
  // More often than there were occasions to: preemption makes polls look productive, of which it looks after the first
  // seven times and every 64th.
  const Worker& worker = *engine.workers().front();
  EXPECT_TRUE(eventually([&] { return looks > 12 + (worker.parks + worker.productive_polls) / 64; }));
  engine.activity().remove_progress_user();
  EXPECT_TRUE(engine.stop(patience));
}

// A collective operation over a fabric that moves the data itself and announces what arrives: a poll takes no time, and
// the round that it begins is over some time later: longer than a wake takes on a busy machine, and far shorter than
// the usual rest.
constexpr Nanoseconds round_time = microseconds(500);
constexpr Nanoseconds usual_rest = microseconds(4000);

class Rounds : public ProgressFunction {
 public:
  explicit Rounds(std::atomic<Nanoseconds>& over) : over_(over) {}
  void poll() override {
    if (now() < over_) return;
    ++fabric_steps;
    ++number;
    over_ = now() + round_time;
  }
  std::atomic<int> number{0};

 private:
  std::atomic<Nanoseconds>& over_;
};

class Announced : public NoTraffic {
 public:
  explicit Announced(const std::atomic<Nanoseconds>& over) : over_(over) {}
  bool wait(Nanoseconds bound) override {
    const Nanoseconds left = over_ - now();
    if (left > 0) NoTraffic::wait(std::min(bound, left));
    return now() >= over_;
  }

 private:
  const std::atomic<Nanoseconds>& over_;
};

// The most that `count` grew by in the time of a hundred rests, once that is more than `enough`, or patience ends.
int most_in_a_hundred_rests(const std::atomic<int>& count, int enough) {
  constexpr int rests = 100;
  int most = 0;
  for (const Nanoseconds end = now() + patience; most <= enough && now() < end;) {
    const int before = count;
    const Nanoseconds begin = now();
    wait(rests * usual_rest);
    most = std::max(most, static_cast<int>((count - before) * rests * usual_rest / (now() - begin)));
  }
  return most;
}

TEST(Unannounced, FollowTheRoundsOfACollectiveOperation) {
  std::atomic<Nanoseconds> over{0};
  auto progress = std::make_unique<Rounds>(over);
  const Rounds& rounds = *progress;
  const std::string rest = std::to_string(usual_rest / microseconds(1));
  Engine engine(make_policy(resolve_values("adaptive", {{"min_distance_us", rest}, {"start_distance_us", rest}})),
                std::move(progress), std::make_unique<Announced>(over));
  Activity::note_start(engine.activity().acquire(), 1, Activity::unbounded);
  engine.start();
  EXPECT_GT(most_in_a_hundred_rests(rounds.number, 200), 200) << "of " << 100 * usual_rest / round_time;
  EXPECT_TRUE(engine.stop(patience));
}

// A computing target of one-sided operations: each takes one poll, which answers it and takes as long as one that moves
// data, and the next one comes when its origin has the answer.
class Requests : public ProgressFunction {
 public:
  explicit Requests(std::atomic<Nanoseconds>& comes) : comes_(comes) {}
  void poll() override {
    const Nanoseconds begin = now();
    if (begin < comes_) return;
    while (now() - begin < microseconds(100)) {
    }
    ++answered;
    comes_ = now() + round_time;
  }
  std::atomic<int> answered{0};

 private:
  std::atomic<Nanoseconds>& comes_;
};

class SmallRequests : public Announced {
 public:
  SmallRequests(const std::atomic<Nanoseconds>& comes, bool announces) : Announced(comes), announces_(announces) {}
  PollEffect after_poll() override { return {.needed = true, .small = true}; }
  bool carries() const override { return announces_; }

 private:
  bool announces_;
};

class OfAWindow : public testing::TestWithParam<bool> {};

// Also before the connection has carried so much that it is known to be the MPI's.
TEST_P(OfAWindow, RequestsAreAnsweredAsTheyCome) {
  std::atomic<Nanoseconds> comes{0};
  auto progress = std::make_unique<Requests>(comes);
  const Requests& requests = *progress;
  const std::string rest = std::to_string(usual_rest / microseconds(1));
  Engine engine(make_policy(resolve_values("adaptive", {{"start_distance_us", rest}})), std::move(progress),
                std::make_unique<SmallRequests>(comes, GetParam()));
  engine.activity().acquire();
  engine.activity().add_progress_user();
  engine.start();
  EXPECT_GT(most_in_a_hundred_rests(requests.answered, 200), 200) << "answers in the time of a hundred longest rests";
  engine.activity().remove_progress_user();
  EXPECT_TRUE(engine.stop(patience));
}
INSTANTIATE_TEST_SUITE_P(Unannounced, OfAWindow, testing::Bool());
// The price of that: who computes for long with a message pending is woken ever more rarely.
TEST(Unannounced, GoingByTimeIsBounded) {
  OnAFabric fabric;
  fabric.engine.start();
  const Nanoseconds begin = now();
  fabric.exchange(microseconds(300'000));
  const auto milliseconds = static_cast<std::uint64_t>((now() - begin) / microseconds(1000));
  const Worker& worker = *fabric.engine.workers().front();
  EXPECT_LT(worker.wakes, milliseconds);  // one in 4 ms once it backs off; as often as at first it would be 1500
  EXPECT_TRUE(fabric.engine.stop(patience));
}

// A blocking call that sleeps is no operation of the tracker's: the handshake that it begins is followed all the same,
// however long nothing has happened.
TEST(Unannounced, FollowTheHandshakeOfWhoSleepsInABlockingCall) {
  std::atomic<int> missing{0};
  Engine engine(make_policy(resolve_values("adaptive", {{"waiting", "managed"}, {"events", "none"}})),
                std::make_unique<Handshakes>(missing), nullptr);
  const ThreadSlot& slot = engine.activity().acquire();
  engine.start();
  EXPECT_TRUE(eventually([&] {  // on a busy machine not each time
    wait(microseconds(50'000));
    missing = OnAFabric::steps;
    const Nanoseconds begin = now();
    engine.activity().add_progress_user();
    engine.after_call(slot);
    while (missing > 0 && now() - begin < patience) wait(microseconds(20));
    engine.activity().remove_progress_user();
    return now() - begin < microseconds(6000);
  })) << "two rests of the longest are 8 ms";
  EXPECT_TRUE(engine.stop(patience));
}

}  // namespace
}  // namespace progress_engine
