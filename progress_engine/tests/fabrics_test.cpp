// SPDX-License-Identifier: BSD-3-Clause
// How objects of a fabric's library are armed, polled and slept on (wait/fabrics.hpp), with a library made up.
#include "fabrics/fabrics.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "policy/settings.hpp"
#include "wait/event_source.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

// An object of a library: events arrive, polling takes them one by one, arming fails while one is there. Its descriptor
// is readable from an event after arming on until it is armed again, as UCX's and libfabric's are.
class Queue {
 public:
  explicit Queue(Fabrics& fabrics, Fabric fabric = Fabric::ucx) : fabrics_(fabrics) {
    fabrics_.opened(fabric, this, descriptor_);
  }
  ~Queue() {
    fabrics_.closed(this);
    close(descriptor_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void arrive() {
    ++waiting_;
    const std::uint64_t one = 1;
    if (!std::exchange(armed_, false)) return;
    EXPECT_EQ(write(descriptor_, &one, sizeof one), sizeof one);
  }
  // As the interposed function of a library polls. `then` happens between polling and arming.
  void poll(const std::function<void()>& then = [] {}) {
    const bool moved = waiting_ > 0;
    if (moved) --waiting_;
    if (!ArmingRound::current()) return;
    then();
    ArmingRound::current()->polled(this, moved, [this] { return arm(); });
  }
  void break_down() { broken_ = true; }
  int waiting() const { return waiting_; }
  int times_armed() const { return times_armed_; }

 private:
  Armed arm() {
    if (broken_) return Armed::failed;
    if (waiting_ > 0) return Armed::busy;
    std::uint64_t count = 0;
    [[maybe_unused]] const auto drained = read(descriptor_, &count, sizeof count);
    armed_ = true;
    ++times_armed_;
    return Armed::yes;
  }

  Fabrics& fabrics_;
  int descriptor_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  int waiting_ = 0;
  int times_armed_ = 0;
  bool armed_ = false;
  bool broken_ = false;
};

class ArmingFabrics : public testing::Test {
 protected:
  ArmResult arm(Queue& queue) {
    return events_.arm([&] {
      queue.poll();
      return true;
    });
  }

  Fabrics fabrics_;
  EpollEvents events_{Sockets::none, &fabrics_};
};

TEST_F(ArmingFabrics, CostsNothingWithoutObjects) {
  EXPECT_FALSE(events_.any());
  const auto result = events_.arm([]() -> bool { throw std::logic_error("nothing needs a poll"); });
  EXPECT_TRUE(result.armed);
  EXPECT_EQ(result.polls, 0U);
}

TEST_F(ArmingFabrics, WhatComesAfterwardsEndsTheWaitOnce) {
  Queue queue(fabrics_);
  EXPECT_TRUE(events_.any());
  EXPECT_FALSE(events_.has_sockets());
  EXPECT_TRUE(arm(queue).armed);
  EXPECT_FALSE(events_.wait(0));
  queue.arrive();
  EXPECT_TRUE(events_.wait(seconds(5)));
  EXPECT_FALSE(events_.wait(0)) << "it is not armed any more";
  EXPECT_EQ(events_.counts().by_fabric[index(Fabric::ucx)], 1U);
  EXPECT_EQ(events_.counts().armed[index(Fabric::ucx)], 1U);
}

// An MPI may open a library and move its messages elsewhere: then time must do, or the bell.
TEST_F(ArmingFabrics, CarriesTheTrafficOnceItHasAnnouncedSome) {
  Queue queue(fabrics_);
  EXPECT_TRUE(arm(queue).armed);
  EXPECT_FALSE(events_.wait(0));
  EXPECT_TRUE(events_.any());
  EXPECT_FALSE(events_.carries());
  queue.arrive();
  EXPECT_TRUE(events_.wait(seconds(5)));
  EXPECT_TRUE(events_.carries());
}

TEST_F(ArmingFabrics, WhatIsThereIsPolledForFirst) {
  Queue queue(fabrics_);
  for (int i = 0; i < 3; ++i) queue.arrive();
  const auto result = arm(queue);
  EXPECT_TRUE(result.armed);
  EXPECT_EQ(result.polls, 4U);
  EXPECT_EQ(result.productive, 3U);
  EXPECT_EQ(queue.waiting(), 0);
  queue.arrive();
  EXPECT_TRUE(events_.wait(0));
}

// The moment between a poll that finds nothing and the arming is where an event could be lost.
TEST_F(ArmingFabrics, WhatComesBetweenAPollAndTheArmingIsPolledForToo) {
  Queue queue(fabrics_);
  int late = 2;
  const auto result = events_.arm([&] {
    queue.poll([&] {
      if (queue.waiting() == 0 && late-- > 0) queue.arrive();
    });
    return true;
  });
  EXPECT_TRUE(result.armed);
  EXPECT_EQ(queue.waiting(), 0);
  EXPECT_EQ(events_.counts().busy, 1U);
  EXPECT_EQ(result.productive, 2U);
  EXPECT_FALSE(events_.wait(0));
}

TEST_F(ArmingFabrics, IsGivenUpWhereEventsNeverEnd) {
  Queue queue(fabrics_);
  const auto result = events_.arm([&] {
    queue.arrive();
    queue.poll();
    return true;
  });
  EXPECT_FALSE(result.armed);
  EXPECT_LT(result.polls, 100U);
}

TEST_F(ArmingFabrics, IsNotDoneWhileNobodyMayPoll) {
  Queue queue(fabrics_);
  EXPECT_FALSE(events_.arm([] { return false; }).armed);
  EXPECT_EQ(queue.times_armed(), 0);
}

// A worker that only the program's windows use: it may stay readable for ever, and says nothing to who does not poll
// it.
TEST_F(ArmingFabrics, LeavesOutWhatIsNotPolled) {
  Queue polled(fabrics_);
  Queue other(fabrics_, Fabric::libfabric);
  EXPECT_TRUE(arm(other).armed);
  other.arrive();
  EXPECT_TRUE(events_.wait(0));
  EXPECT_TRUE(arm(polled).armed);
  EXPECT_FALSE(events_.wait(0));
  polled.arrive();
  EXPECT_TRUE(events_.wait(0));
}

TEST_F(ArmingFabrics, ForgetsWhatFails) {
  Queue queue(fabrics_);
  queue.break_down();
  EXPECT_TRUE(arm(queue).armed);
  EXPECT_FALSE(events_.any()) << "then the timer has to do";
}

TEST_F(ArmingFabrics, IsOfTheThreadThatAsksForIt) {
  Queue queue(fabrics_);
  queue.poll();  // the program's own progress
  EXPECT_EQ(queue.times_armed(), 0);
}

// Every order of arrivals around two polls, an arming and a sleep: what has arrived was polled, or ends the wait.
TEST_F(ArmingFabrics, LosesNothingInAnyOrder) {
  constexpr int moments = 4;
  for (unsigned when = 0; when < 1U << moments; ++when) {
    Queue queue(fabrics_);
    const auto moment = [&](unsigned number) {
      if ((when >> number) & 1U) queue.arrive();
    };
    moment(0);
    bool first = true;
    events_.arm([&] {
      queue.poll([&] {
        if (std::exchange(first, false)) moment(1);
      });
      return true;
    });
    moment(2);
    moment(3);
    EXPECT_EQ(events_.wait(0), queue.waiting() > 0) << when;
  }
}

// A child of fork() has the one thread: what others held is held there for ever, unless nobody held it.
TEST(FabricsOfAForkedProcess, CanBeClosedInTheChild) {
  Fabrics fabrics;
  std::atomic<bool> over = false;
  std::thread opens([&] {
    const int object = 0;
    while (!over) fabrics.opened(Fabric::ucx, &object, 0);
  });
  constexpr int forks = 200;
  int ended = 0;
  for (int i = 0; i < forks && ended == i; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      fabrics.closed(&fabrics);
      _exit(0);
    }
    int how = 0;
    if (child > 0 && waitpid(child, &how, 0) == child && how == 0) ++ended;
  }
  over = true;
  opens.join();
  EXPECT_EQ(ended, forks);
}

void expect(const Watched& watched, bool sockets, const PerFabric<bool>& fabrics) {
  EXPECT_EQ(watched.sockets, sockets);
  EXPECT_EQ(watched.fabrics, fabrics);
}

TEST(Watched, IsWhatTheSettingNames) {
  for (const bool device : {false, true}) {
    expect(what_to_watch(Announcements::sockets, device), true, {false, false, false});
    expect(what_to_watch(Announcements::ucx, device), false, {true, false, false});
    expect(what_to_watch(Announcements::libfabric, device), false, {false, true, false});
    expect(what_to_watch(Announcements::verbs, device), false, {false, false, true});
    expect(what_to_watch(Announcements::none, device), false, {false, false, false});
  }
}

TEST(Watched, ChangesNoLibraryWhereAllTrafficIsOnSockets) {
  expect(what_to_watch(Announcements::automatic, false), true, {false, false, false});
  expect(what_to_watch(Announcements::automatic, true), true, {true, true, true});
}

TEST(Watched, DevicesAreThoseThatTheKernelLists) {
  const std::filesystem::path root = testing::TempDir() + "progress_engine_devices";
  for (const char* device : {"sys/class/infiniband/mlx5_0", "sys/class/cxi/cxi0"}) {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories((root / device).parent_path());
    EXPECT_FALSE(has_fabric_device(root)) << "a class without a device";
    std::filesystem::create_directories(root / device);
    EXPECT_TRUE(has_fabric_device(root)) << device;
  }
  std::filesystem::remove_all(root);
}

TEST(Watched, WhatIsNamedAndMissingIsSaid) {
  Fabrics fabrics;
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "");
  EXPECT_NE(what_lacks(Announcements::ucx, fabrics).find("events=ucx: the MPI made no worker"), std::string::npos);
  fabrics.refuse(Fabric::ucx, "it has no descriptor");
  EXPECT_EQ(what_lacks(Announcements::ucx, fabrics), "events=ucx: it has no descriptor");
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "it has no descriptor") << "told, though it was not named";
  fabrics.opened(Fabric::ucx, &fabrics, 3);
  EXPECT_EQ(what_lacks(Announcements::ucx, fabrics), "");
  EXPECT_NE(what_lacks(Announcements::libfabric, fabrics), "");
}

TEST(Watched, WhatOneQueueLacksIsSaidWhereNoOtherAnnounces) {
  Fabrics fabrics;
  EXPECT_NE(what_lacks(Announcements::verbs, fabrics).find("does not use them itself"), std::string::npos);
  fabrics.pass_over(Fabric::verbs, "the MPI waits for it itself");
  EXPECT_EQ(what_lacks(Announcements::verbs, fabrics), "events=verbs: the MPI waits for it itself");
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "the MPI waits for it itself");
  fabrics.opened(Fabric::verbs, &fabrics, 3);
  EXPECT_EQ(what_lacks(Announcements::verbs, fabrics), "");
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "");
}

// Verbs are what the others stand on: of them nothing is told where it is these that the MPI uses.
TEST(Watched, VerbsAreTheirAffairWhereUcxOrLibfabricIsUsed) {
  for (const bool refused : {false, true}) {
    Fabrics fabrics;
    fabrics.pass_over(Fabric::verbs, "they are UCX's");
    if (refused)
      fabrics.refuse(Fabric::ucx, "no descriptor");
    else
      fabrics.opened(Fabric::ucx, &fabrics, 3);
    EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), refused ? "no descriptor" : "");
  }
}

}  // namespace
}  // namespace progress_engine
