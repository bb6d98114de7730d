// SPDX-License-Identifier: BSD-3-Clause
// What is called in place of libibverbs' functions (fabrics/verbs.cpp), with a libibverbs made up behind it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>

#include "fabrics/fabrics.hpp"
#include "fakes/ibverbs.hpp"
#include "stand_ins.hpp"
#include "wait/event_source.hpp"
#include "wait/fabrics.hpp"

extern "C" {
progress_engine::verbs::Channel* ibv_create_comp_channel(progress_engine::verbs::Context* context);
int ibv_destroy_comp_channel(progress_engine::verbs::Channel* channel);
}

namespace progress_engine {
namespace {

using fake_verbs::complete;
using fake_verbs::Device;
using fake_verbs::of;
using verbs::Cq;

const auto ibv_create_cq = called_for<verbs::CreateCq>(verbs_calls(), "ibv_create_cq");
const auto ibv_destroy_cq = called_for<verbs::DestroyCq>(verbs_calls(), "ibv_destroy_cq");

constexpr int at_once = 16;  // completions that the MPI takes by one poll

// As ibv_poll_cq does.
int poll_once(Cq* cq, int entries = at_once) {
  std::array<int, at_once> completions{};
  return cq->context->poll_cq(cq, entries, completions.data());
}

bool is_readable(const verbs::Channel* channel) {
  pollfd descriptor{.fd = channel->descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&descriptor, 1, 0) == 1;
}

class Verbs : public testing::Test {
 protected:
  void SetUp() override {
    fabrics().want(Fabric::verbs, true);
    fabrics().refuse(Fabric::verbs, "");
    fabrics().pass_over(Fabric::verbs, "");
  }
  void TearDown() override {
    fabrics().want(Fabric::verbs, false);
    EXPECT_EQ(device_.queues, 0);
    EXPECT_EQ(device_.channels, 0);
  }
  static Fabrics& fabrics() { return fabrics_of_process(); }

  // As an MPI makes one.
  Cq* queue(Device& device, void* cq_context = nullptr, verbs::Channel* channel = nullptr) {
    return ibv_create_cq(&device.context, 256, cq_context, channel, 0);
  }
  Cq* queue() { return queue(device_); }
  static bool is_watched(const Cq* cq) { return fabrics().find(cq).descriptor >= 0; }

  // A round of arming in which the MPI polls this queue alone.
  ArmResult arm(Cq* cq) {
    return events_.arm([&] {
      poll_once(cq);
      return true;
    });
  }

  Device device_;
  EpollEvents events_{Sockets::none, &fabrics()};
};

TEST_F(Verbs, GiveAQueueThatIsPolledAChannelOfTheEngines) {
  int mine = 0;
  Cq* cq = queue(device_, &mine);
  ASSERT_NE(cq, nullptr);
  EXPECT_EQ(cq->cq_context, &mine);
  EXPECT_EQ(device_.channels, 1);
  EXPECT_EQ(fabrics().find(cq).descriptor, cq->channel->descriptor);
  EXPECT_EQ(fabrics().find(cq).fabric, Fabric::verbs);
  ASSERT_NE(fcntl(cq->channel->descriptor, F_GETFL) & O_NONBLOCK, 0) << "who reads its events waits for none";
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_FALSE(is_watched(cq));
}

TEST_F(Verbs, GiveTheMpiWhatItPollsFor) {
  Cq* cq = queue();
  for (int i = 0; i < 3; ++i) complete(cq);
  std::array<int, 2> completions{};
  EXPECT_EQ(device_.context.poll_cq(cq, 2, completions.data()), 2);
  EXPECT_EQ(completions, (std::array{2, 1}));
  EXPECT_EQ(poll_once(cq), 1);
  EXPECT_EQ(poll_once(cq), 0);
  EXPECT_EQ(of(cq).requests, 0) << "nobody is about to sleep";
  ibv_destroy_cq(cq);
}

TEST_F(Verbs, AreArmedBehindAPollThatFoundNothing) {
  Cq* cq = queue();
  complete(cq);
  {
    ArmingRound round(fabrics());
    EXPECT_EQ(poll_once(cq), 1);
    EXPECT_TRUE(round.moved() && round.armed().empty());
    EXPECT_EQ(of(cq).requests, 0);
  }
  ArmingRound round(fabrics());
  EXPECT_EQ(poll_once(cq, 0), 0);
  EXPECT_TRUE(round.armed().empty()) << "a poll for nothing finds nothing";
  EXPECT_EQ(poll_once(cq), 0);
  EXPECT_EQ(round.armed().size(), 1U);
  ibv_destroy_cq(cq);
}

// The MPI destroyed the queue that was known by a function found with dlsym, and made one without a channel so, too.
TEST_F(Verbs, LeaveAloneAQueueAtTheAddressOfOneThatIsGone) {
  Cq* cq = queue();
  verbs::Channel* const channel = std::exchange(cq->channel, nullptr);
  ArmingRound round(fabrics());
  EXPECT_EQ(poll_once(cq), 0);
  EXPECT_TRUE(round.armed().empty());
  EXPECT_EQ(of(cq).requests, 0);
  cq->channel = channel;
  ibv_destroy_cq(cq);
}

TEST_F(Verbs, EndAWaitOnceAndAreArmedAgain) {
  Cq* cq = queue();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(arm(cq).armed);
    EXPECT_FALSE(events_.wait(0));
    complete(cq);
    complete(cq);
    EXPECT_TRUE(events_.wait(seconds(5)));
    EXPECT_FALSE(events_.wait(0));
    EXPECT_EQ(poll_once(cq), 2);
  }
  EXPECT_EQ(events_.counts().by_fabric[index(Fabric::verbs)], 3U);
  EXPECT_EQ(events_.counts().armed[index(Fabric::verbs)], 3U);
  EXPECT_EQ(events_.counts().busy, 0U);
  EXPECT_EQ(sources_in_use(events_), std::vector<std::string>{"verbs"});
  ibv_destroy_cq(cq);
}

// The request speaks of the next completion: one between the poll and it would be there for ever.
TEST_F(Verbs, ArePolledAgainBehindTheArming) {
  Cq* cq = queue();
  int late = 2;
  device_.before_a_request = [&] {
    if (late-- > 0) complete(cq);
  };
  {
    ArmingRound round(fabrics());
    EXPECT_EQ(poll_once(cq), 1) << "the MPI gets it";
    EXPECT_TRUE(round.busy() && round.armed().empty());
  }
  const auto result = arm(cq);
  EXPECT_TRUE(result.armed);
  EXPECT_EQ(of(cq).waiting, 0);
  EXPECT_EQ(events_.counts().busy, 1U);
  ibv_destroy_cq(cq);
}

// Every order of completions around the polls and the request of an arming, and a sleep: each was polled for, or ends
// the wait.
TEST_F(Verbs, LoseNothingInAnyOrder) {
  constexpr unsigned moments = 5;
  for (unsigned when = 0; when < 1U << moments; ++when) {
    Cq* cq = queue();
    const auto moment = [&](unsigned number) {
      if ((when >> number) & 1U) complete(cq);
    };
    int empty_polls = 0;
    bool first_request = true;
    device_.after_an_empty_poll = [&] {
      if (const int number = empty_polls++; number < 2) moment(1 + 2 * static_cast<unsigned>(number));
    };
    device_.before_a_request = [&] {
      if (std::exchange(first_request, false)) moment(2);
    };
    moment(0);
    EXPECT_TRUE(arm(cq).armed);
    moment(4);
    EXPECT_EQ(events_.wait(0), of(cq).waiting > 0) << when;
    device_.after_an_empty_poll = device_.before_a_request = nullptr;
    ibv_destroy_cq(cq);
  }
}

// Completions come from another thread at any time: none of them waits until the wait's limit.
TEST_F(Verbs, LoseNothingBesideAThreadThatCompletes) {
  constexpr int all = 3000;
  Cq* cq = queue();
  std::atomic<int> taken{0};
  std::thread device([&] {
    for (int i = 0; i < all; ++i) {
      complete(cq);
      if (i % 3 != 0) continue;
      while (taken.load() <= i) std::this_thread::yield();
    }
  });
  bool lost = false;
  while (taken.load() < all && !lost) {
    const auto result = events_.arm([&] {
      taken += poll_once(cq);
      return true;
    });
    if (!result.armed || taken.load() == all) continue;
    lost = !events_.wait(seconds(20));
    taken += poll_once(cq);
  }
  EXPECT_FALSE(lost);
  while (taken.load() < all) taken += poll_once(cq);
  device.join();
  EXPECT_EQ(of(cq).events_read, of(cq).events_acknowledged);
  ibv_destroy_cq(cq);
}

// ibv_destroy_cq waits for events that were read and not acknowledged, and drops those that were not read.
TEST_F(Verbs, LeaveNoEventUnacknowledged) {
  Cq* cq = queue();
  arm(cq);
  complete(cq);
  EXPECT_TRUE(events_.wait(0));
  poll_once(cq);
  arm(cq);
  EXPECT_EQ(of(cq).events_read, 1);
  ASSERT_EQ(of(cq).events_acknowledged, 1);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST_F(Verbs, MayBeDestroyedWhileArmed) {
  for (const bool with_an_event : {false, true}) {
    Cq* cq = queue();
    arm(cq);
    if (with_an_event) complete(cq);
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    EXPECT_FALSE(events_.wait(0)) << "its descriptor is gone";
    EXPECT_EQ(device_.channels, 0);
    Cq* next = queue();  // with the number of that descriptor
    EXPECT_FALSE(events_.wait(0));
    arm(next);
    complete(next);
    EXPECT_TRUE(events_.wait(0));
    ibv_destroy_cq(next);
  }
}

TEST_F(Verbs, GoOnAnnouncingWhereAQueueCannotBeDestroyed) {
  Cq* cq = queue();
  of(cq).used = true;
  EXPECT_EQ(ibv_destroy_cq(cq), EBUSY);
  arm(cq);
  complete(cq);
  EXPECT_TRUE(events_.wait(0));
  of(cq).used = false;
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

// Who makes a channel waits for it; its events are its own.
TEST_F(Verbs, LeaveAloneWhatTheMpiWaitsForItself) {
  verbs::Channel* channel = ibv_create_comp_channel(&device_.context);
  Cq* cq = queue(device_, nullptr, channel);
  EXPECT_EQ(cq->channel, channel);
  EXPECT_FALSE(is_watched(cq));
  EXPECT_EQ(device_.context.poll_cq, &fake_verbs::poll_cq);
  EXPECT_NE(fabrics().passed_over(Fabric::verbs).find("waits for its completion queues itself"), std::string::npos);
  Cq* polled = queue();  // on the same device
  device_.context.request_notification(cq, 0);
  arm(cq);
  arm(polled);
  EXPECT_EQ(of(cq).requests, 1) << "the MPI's own";
  complete(cq);
  EXPECT_TRUE(is_readable(channel));
  arm(cq);
  EXPECT_TRUE(is_readable(channel)) << "for the MPI to read";
  EXPECT_EQ(ibv_destroy_cq(polled), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(device_.channels, 1);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(Verbs, AreAsTheyWereWhereNobodyWantsThem) {
  fabrics().want(Fabric::verbs, false);
  Cq* cq = queue();
  EXPECT_EQ(cq->channel, nullptr);
  EXPECT_EQ(device_.context.poll_cq, &fake_verbs::poll_cq);
  EXPECT_EQ(fabrics().refusal(Fabric::verbs), "");
  ibv_destroy_cq(cq);
}

TEST_F(Verbs, StayAsTheyAreWhereAnotherLibraryAnnounces) {
  for (const Fabric other : {Fabric::ucx, Fabric::libfabric}) {
    fabrics().opened(other, &device_, 0);
    Cq* cq = queue();
    EXPECT_EQ(cq->channel, nullptr);
    EXPECT_FALSE(is_watched(cq));
    ibv_destroy_cq(cq);
    fabrics().closed(&device_);
  }
}

TEST_F(Verbs, WithoutChannelsRunWithoutThemAndSaySo) {
  for (bool Device::* lacks : {&Device::has_channels, &Device::takes_channels}) {
    device_.*lacks = false;
    fabrics().refuse(Fabric::verbs, "");
    Cq* cq = queue();
    ASSERT_NE(cq, nullptr);
    EXPECT_EQ(cq->channel, nullptr);
    EXPECT_FALSE(is_watched(cq));
    EXPECT_EQ(device_.channels, 0);
    EXPECT_NE(fabrics().refusal(Fabric::verbs), "");
    ibv_destroy_cq(cq);
    device_.*lacks = true;
  }
}

TEST_F(Verbs, ThatCannotBeArmedAreGivenUp) {
  Cq* cq = queue();
  device_.request_says = EIO;
  EXPECT_TRUE(arm(cq).armed);
  EXPECT_FALSE(is_watched(cq));
  EXPECT_NE(fabrics().refusal(Fabric::verbs).find("could not be armed"), std::string::npos);
  device_.request_says = 0;
  arm(cq);
  EXPECT_EQ(of(cq).requests, 0) << "then the timer has to do";
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(device_.channels, 0);
}

int broken_poll(Cq* /*cq*/, int /*entries*/, void* /*completions*/) { return -5; }
template <int number>
int other_poll(Cq* cq, int entries, void* completions) {
  return number < 0 ? number : fake_verbs::poll_cq(cq, entries, completions);
}

TEST_F(Verbs, HandAnErrorOn) {
  Device device(broken_poll);
  Cq* cq = queue(device);
  ArmingRound round(fabrics());
  EXPECT_EQ(poll_once(cq), -5);
  EXPECT_FALSE(round.again());
  EXPECT_EQ(of(cq).requests, 0);
  ibv_destroy_cq(cq);
}

// Each device's queues are polled by its own driver; more drivers than there ever are in a process stay as they are.
TEST_F(Verbs, OfSeveralDriversAreEachPolledByTheirOwn) {
  std::array<Device, 9> devices{Device(other_poll<0>), Device(other_poll<1>), Device(other_poll<2>),
                                Device(other_poll<3>), Device(other_poll<4>), Device(other_poll<5>),
                                Device(other_poll<6>), Device(other_poll<7>), Device(other_poll<8>)};
  int watched = 0;
  for (Device& device : devices) {
    Cq* cq = queue(device);
    ASSERT_NE(cq, nullptr);
    watched += is_watched(cq) ? 1 : 0;
    complete(cq);
    EXPECT_EQ(poll_once(cq), 1);
    ibv_destroy_cq(cq);
  }
  EXPECT_GE(watched, 1);
  EXPECT_LT(watched, 9);
  EXPECT_NE(fabrics().refusal(Fabric::verbs).find("more kinds"), std::string::npos);
}

}  // namespace
}  // namespace progress_engine
