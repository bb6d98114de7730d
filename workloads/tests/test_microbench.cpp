// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <future>
#include <stdexcept>
#include <thread>

#include "common/clock.h"
#include "interference/mwait.h"
#include "interference/placement.h"
#include "microbench/moving_thread.h"
#include "microbench/payload.h"
#include "microbench/tcp_connection.h"

namespace workloads {
namespace {

using ::testing::HasSubstr;

TEST(Payload, AcceptsItsOwnSeedOnly) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 4096U, 100'001U}) {
    Payload payload(size);
    payload.fill(1);
    EXPECT_EQ(payload.check(1), "") << size;
    EXPECT_NE(payload.check(2), "") << size;
  }
}

TEST(Payload, NothingIsNeverWrong) {
  Payload payload(0);
  payload.fill(1);
  EXPECT_EQ(payload.check(2), "");
}

TEST(Payload, SeesOneChangedByteAnywhere) {
  constexpr std::size_t size = 1003;
  Payload payload(size);
  for (const std::size_t place : {0U, 1U, 500U, 1000U, 1002U}) {
    payload.fill(3);
    payload.bytes()[place] ^= std::byte{1};
    EXPECT_THAT(payload.check(3), HasSubstr("of 1003 bytes is wrong")) << place;
  }
}

TEST(Payload, SeesTheOldMessageInEveryByte) {
  constexpr std::size_t size = 64;
  Payload old(size);
  Payload fresh(size);
  old.fill(41);
  fresh.fill(42);
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_NE(old.bytes()[i], fresh.bytes()[i]) << i;
  }
}

TEST(Payload, IsPageAligned) {
  Payload payload(10);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload.data()) % 4096, 0U);
}

using std::chrono::microseconds;

constexpr std::size_t larger_than_buffers = 32U << 20U;

std::array<Socket, 2> connected() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  return {Socket(ends[0]), Socket(ends[1])};
}

TEST(MovingThread, SendsMessageAfterMessageWithoutTheApplication) {
  const auto ends = connected();
  MovingThread sender(ends[0].get(), Direction::sending, microseconds(50));
  Payload sent(larger_than_buffers);
  Payload received(larger_than_buffers);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    sent.fill(seed);
    sender.start(sent.bytes());
    ASSERT_EQ(recv(ends[1].get(), received.data(), received.size(), MSG_WAITALL),
              static_cast<ssize_t>(received.size()));  // nobody has called finish(): the thread has sent it
    EXPECT_EQ(received.check(seed), "");
    sender.finish();
  }
}

TEST(MovingThread, ReceivesMessageAfterMessageWithoutTheApplication) {
  const auto ends = connected();
  MovingThread receiver(ends[1].get(), Direction::receiving, microseconds(50));
  Payload sent(larger_than_buffers);
  Payload received(larger_than_buffers);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    sent.fill(seed);
    receiver.start(received.bytes());
    ASSERT_EQ(send(ends[0].get(), sent.data(), sent.size(), 0), static_cast<ssize_t>(sent.size()));  // it has room
    receiver.finish();
    EXPECT_EQ(received.check(seed), "");
  }
}

TEST(MovingThread, TheApplicationMovesTheRestWhenItWaits) {
  const auto ends = connected();
  constexpr auto never = std::chrono::hours(1);
  MovingThread sender(ends[0].get(), Direction::sending, never);
  MovingThread receiver(ends[1].get(), Direction::receiving, never);
  Payload sent(larger_than_buffers);
  Payload received(larger_than_buffers);
  sent.fill(1);
  receiver.start(received.bytes());
  sender.start(sent.bytes());
  auto other = std::async(std::launch::async, [&] { sender.finish(); });
  receiver.finish();
  other.get();
  EXPECT_EQ(received.check(1), "");
}

TEST(MovingThread, SleepsForTheIntervalAfterAMove) {
  const auto ends = connected();
  constexpr auto interval = std::chrono::milliseconds(50);
  MovingThread receiver(ends[1].get(), Direction::receiving, interval);
  std::array<std::byte, 1> message{};
  const auto begin = Clock::now();
  receiver.start(message);  // a move that finds nothing
  const std::array<std::byte, 1> sent{std::byte{7}};
  ASSERT_EQ(write(ends[0].get(), sent.data(), 1), 1);
  std::array<char, 1> seen{};
  while (recv(ends[1].get(), seen.data(), 1, MSG_PEEK | MSG_DONTWAIT) == 1) {
    std::this_thread::yield();
  }
  EXPECT_GE(Clock::now() - begin, interval);
  receiver.finish();
  EXPECT_EQ(message[0], std::byte{7});
}

TEST(MovingThread, SaysThatTheConnectionBroke) {
  auto ends = connected();
  MovingThread receiver(ends[1].get(), Direction::receiving, microseconds(50));
  std::array<std::byte, 8> message{};
  receiver.start(message);
  shutdown(ends[0].get(), SHUT_RDWR);
  EXPECT_THROW(receiver.finish(), std::runtime_error);
}

TEST(TcpConnection, AnOfferSurvivesItsText) {
  const Offer offer{.host = "n1", .port = 4711, .secret = 1ULL << 63U, .addresses = {"10.0.0.1", "10.0.1.1"}};
  const Offer read = Offer::from_text(offer.text());
  EXPECT_EQ(read.host, offer.host);
  EXPECT_EQ(read.port, offer.port);
  EXPECT_EQ(read.secret, offer.secret);
  EXPECT_EQ(read.addresses, offer.addresses);
}

TEST(TcpConnection, ConnectsThoseWhoKnowTheSecretAndNobodyElse) {
  const Listener listener("here");
  auto accepted = std::async(std::launch::async, [&] { return listener.accept(); });
  Offer guessed = listener.offer();
  guessed.secret += 1;
  guessed.addresses.clear();
  EXPECT_THROW(connect_to(guessed, "here"), std::runtime_error);
  const Socket mine = connect_to(listener.offer(), "here");
  const Socket its = accepted.get();
  ASSERT_EQ(write(mine.get(), "x", 1), 1);
  std::array<char, 1> got{};
  ASSERT_EQ(read(its.get(), got.data(), 1), 1);
  EXPECT_EQ(got[0], 'x');
}

TEST(TcpConnection, NamesWhatDidNotAnswer) {
  Offer offer;
  {
    const Listener closed("here");
    offer = closed.offer();
  }
  offer.addresses = {"127.0.0.1"};
  try {
    connect_to(offer, "here");
    FAIL() << "nobody listens";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("none of 127.0.0.1"), std::string::npos) << error.what();
  }
}

}  // namespace

// Which CPUs the threads of a placement get.

namespace {

/// Two sockets of two cores of two threads; CPU n and n + 4 share a core, a socket one last level cache.
std::vector<CpuPlace> server() {
  std::vector<CpuPlace> places;
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int package = (cpu % 4) / 2;
    places.push_back({.cpu = cpu, .package = package, .core = cpu % 2, .l3 = package == 0 ? "0-1,4-5" : "2-3,6-7"});
  }
  return places;
}

TEST(Placement, AreWhereThePlacementSays) {
  const auto same = find_cpus("same-core", server(), true);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->victim, same->waiting);
  EXPECT_EQ(same->partner % 4 == same->victim % 4, false);
  const auto sibling = find_cpus("smt-sibling", server(), true);
  ASSERT_TRUE(sibling);
  EXPECT_EQ(sibling->waiting, sibling->victim + 4);
  const auto near = find_cpus("same-l3", server(), true);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->waiting, 1);
  EXPECT_EQ(near->partner, 2) << "neither the victim's core nor the waiting thread's";
  const auto far = find_cpus("other-socket", server(), false);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->waiting, 2);
}

TEST(Placement, AreNoneWhereTheMachineHasNone) {
  const std::vector<CpuPlace> two{{.cpu = 0, .package = 0, .core = 0, .l3 = "0-1"},
                                  {.cpu = 1, .package = 0, .core = 1, .l3 = "0-1"}};
  EXPECT_FALSE(find_cpus("smt-sibling", two, true));
  EXPECT_FALSE(find_cpus("other-socket", two, false));
  EXPECT_FALSE(find_cpus("same-l3", two, true)) << "no core is left for the partner";
  EXPECT_TRUE(find_cpus("same-l3", two, false));
  EXPECT_TRUE(find_cpus("same-core", two, true));
}

TEST(Placement, OfAMachineThatSaysNothing) {
  const auto places = cpu_places({3, 5}, "/nowhere");
  ASSERT_EQ(places.size(), 2U);
  EXPECT_NE(places[0].core, places[1].core);
}

TEST(Mwait, EndsByAStoreOrByItself) {
  if (mwait_here() == Mwait::none) {
    GTEST_SKIP() << "this CPU shows neither UMWAIT nor MWAITX";
  }
  const std::atomic<std::uint32_t> word{1};
  mwait_for_store(mwait_here(), word, 0, Depth::deep);
  mwait_for_store(mwait_here(), word, 1, Depth::light);
}

}  // namespace
}  // namespace workloads
