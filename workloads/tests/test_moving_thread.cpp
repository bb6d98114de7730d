// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <future>
#include <stdexcept>
#include <thread>

#include "common/clock.h"
#include "microbench/moving_thread.h"
#include "microbench/payload.h"
#include "microbench/tcp_connection.h"

namespace workloads {
namespace {

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
}  // namespace workloads
