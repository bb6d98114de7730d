// SPDX-License-Identifier: BSD-3-Clause
#include "wait/event_source.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "eventually.hpp"
#include "refuse_call.h"

namespace progress_engine {
namespace {

class Watching : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair_.data()), 0); }
  void TearDown() override {
    close(pair_[0]);
    close(pair_[1]);
  }
  void send_byte() { ASSERT_EQ(write(pair_[1], "x", 1), 1); }

  std::array<int, 2> pair_{};
  int handled_ = 0;
  EpollEvents events_{Sockets::none};
};

TEST_F(Watching, EachEdgeCallsTheHandlerOnce) {
  events_.watch(pair_[0], [this] { ++handled_; });
  EXPECT_FALSE(events_.wait(0));
  send_byte();
  EXPECT_TRUE(events_.wait(seconds(5)));
  EXPECT_EQ(handled_, 1);
  EXPECT_FALSE(events_.wait(0)) << "unread data is no edge";
  EXPECT_EQ(handled_, 1);
}

TEST_F(Watching, EndsAtItsBound) {
  const Nanoseconds before = now();
  EXPECT_FALSE(events_.wait(microseconds(3000)));
  EXPECT_GE(now() - before, microseconds(2900));
}

TEST_F(Watching, AnInterruptEndsItAndIsNoEvent) {
  events_.watch(pair_[0], [this] { ++handled_; });
  const Nanoseconds before = now();
  std::jthread other([this] { events_.interrupt(); });
  EXPECT_FALSE(events_.wait(seconds(20)));
  EXPECT_LT(now() - before, seconds(10));
  EXPECT_EQ(handled_, 0);
}

// Of a filter that answers EPERM to what it does not know, as containers have them.
TEST(EventSourceDeathTest, SleepsWhereAFilterRefusesThePreciseWait) {
  EXPECT_EXIT(std::_Exit(refuse_call(SYS_epoll_pwait2, EPERM, 0, UINT_MAX) && has_precise_epoll() ? 1 : 0),
              testing::ExitedWithCode(0), "");
}

// As daemons close what they have inherited. Their next file has a number that was ours.
TEST(EventSource, GoesByTimeWhereTheProgramHasClosedItsDescriptors) {
  const int first = dup(STDIN_FILENO);  // the numbers from here are free
  close(first);
  std::optional<EpollEvents> events(std::in_place, Sockets::none);
  ASSERT_EQ(close(first) + close(first + 1), 0);
  const Nanoseconds before = now();
  EXPECT_FALSE(events->wait(microseconds(1000)));
  EXPECT_GE(now() - before, microseconds(900)) << "it does not spin";
  std::FILE* file = std::tmpfile();
  std::FILE* other = std::tmpfile();
  events->interrupt();
  events.reset();
  for (std::FILE* one : {file, other}) {
    struct stat status{};
    EXPECT_EQ(fstat(fileno(one), &status), 0) << "it was not closed";
    EXPECT_EQ(status.st_size, 0) << "nothing was written into it";
    std::fclose(one);
  }
}

// The same before anything was noticed; what the program opens next is what a library for events opens.
class AfterClosing : public testing::Test {
 protected:
  void SetUp() override {
    const int first = dup(STDIN_FILENO);  // the numbers from here are free
    close(first);
    events_.emplace(Sockets::none);
    ASSERT_EQ(close(first) + close(first + 1), 0);
    epoll_ = epoll_create1(0);
    counter_ = eventfd(0, EFD_NONBLOCK);
    ASSERT_EQ(epoll_, first);
    ASSERT_EQ(counter_, first + 1);
    epoll_event once{.events = EPOLLIN | EPOLLONESHOT, .data = {.fd = counter_}};
    ASSERT_EQ(epoll_ctl(epoll_, EPOLL_CTL_ADD, counter_, &once), 0);
  }
  void TearDown() override {
    events_.reset();
    EXPECT_EQ(close(epoll_) + close(counter_), 0) << "they are the program's to close";
  }
  bool something_is_there() const {
    epoll_event event{};
    return epoll_wait(epoll_, &event, 1, 0) == 1;
  }

  std::optional<EpollEvents> events_;
  int epoll_ = -1;
  int counter_ = -1;
};

TEST_F(AfterClosing, AnInterruptWritesIntoNothingOfTheProgram) {
  events_->interrupt();
  EXPECT_FALSE(something_is_there());
}

TEST_F(AfterClosing, AWaitTakesNoEventFromTheProgram) {
  const std::uint64_t one = 1;
  ASSERT_EQ(write(counter_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  EXPECT_FALSE(events_->wait(0));
  EXPECT_TRUE(something_is_there());
}

TEST_F(AfterClosing, NothingIsAddedToWhatTheProgramWaitsFor) {
  const int ready = eventfd(1, 0);
  events_->watch(ready, [] {});
  EXPECT_FALSE(something_is_there());
  close(ready);
}

// Two ends of a TCP connection within this process.
class Connection {
 public:
  Connection() {
    const int listening = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listening, any, size), 0);
    EXPECT_EQ(listen(listening, 1), 0);
    EXPECT_EQ(getsockname(listening, any, &size), 0);
    from_ = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(from_, any, size), 0);
    to_ = accept(listening, nullptr, nullptr);
    close(listening);
  }
  ~Connection() {
    close(from_);
    close(to_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  void send_byte() const { EXPECT_EQ(write(from_, "x", 1), 1); }
  void receive_byte() const {
    char byte = 0;
    EXPECT_EQ(read(to_, &byte, 1), 1);
  }
  // The receiver's number becomes another file's. Another one of the socket's, as a child has it.
  int give_away() const {
    const int kept = dup(to_);
    const int other = eventfd(0, 0);
    EXPECT_EQ(dup2(other, to_), to_);
    close(other);
    return kept;
  }
  // Until the sender would have to wait: how much that is.
  std::size_t fill() const {
    const std::vector<char> data(65536);
    std::size_t sent = 0;
    for (ssize_t some = 0; (some = ::send(from_, data.data(), data.size(), MSG_DONTWAIT)) > 0;)
      sent += static_cast<std::size_t>(some);
    return sent;
  }
  std::size_t receive(std::size_t bytes) const {
    std::vector<char> data(bytes);
    const ssize_t some = read(to_, data.data(), bytes);
    EXPECT_GT(some, 0);
    return static_cast<std::size_t>(std::max<ssize_t>(some, 1));
  }
  // Whether so much has come that nobody has read.
  bool holds(std::size_t bytes) const {
    int unread = 0;
    return ioctl(to_, FIONREAD, &unread) == 0 && unread == static_cast<int>(bytes);
  }
  // The other way.
  void answer_byte() const { EXPECT_EQ(write(to_, "x", 1), 1); }
  void send(std::size_t bytes) const {
    const std::vector<char> data(bytes);
    EXPECT_EQ(write(from_, data.data(), bytes), static_cast<ssize_t>(bytes));
  }

 private:
  int from_ = -1;
  int to_ = -1;
};

TEST(TcpTraffic, IsThatOfConnectionsThatAreMadeLater) {
  const Connection launcher;
  EpollEvents events(Sockets::new_tcp);
  events.refresh();
  EXPECT_FALSE(events.any());
  launcher.send_byte();
  EXPECT_FALSE(events.wait(microseconds(1000)));
  const Connection ours;
  events.refresh();
  EXPECT_TRUE(events.any());
  while (events.wait(microseconds(1000))) {  // a new descriptor's present state is an edge
  }
  ours.send_byte();
  EXPECT_TRUE(events.wait(seconds(5)));
}

// A launcher's connection that was made within MPI_Init says little; a message says more.
TEST(TcpTraffic, CountsWhenItCarriesMessages) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  const auto settle = [&] {
    while (events.wait(microseconds(5000))) {
    }
  };
  settle();
  ours.send_byte();
  settle();
  EXPECT_TRUE(events.any());
  EXPECT_FALSE(events.carries());
  ours.send(20'000);
  settle();
  EXPECT_TRUE(events.carries());
}

// A poll that reads what has come wins nothing that the kernel has not won; one that writes does, whichever socket the
// answer leaves through.
TEST(TcpTraffic, NeedsThePollsThatWrite) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  while (events.wait(microseconds(5000))) {
  }
  ours.send_byte();
  ASSERT_TRUE(events.wait(seconds(5)));
  events.before_poll();
  ours.receive_byte();
  const PollEffect read = events.after_poll();
  EXPECT_FALSE(read.needed);
  EXPECT_FALSE(read.late);
  events.before_poll();
  ours.send_byte();
  EXPECT_TRUE(events.after_poll().needed);
}

// The peer stops where nobody reads: then the poll that reads is needed as well.
TEST(TcpTraffic, NeedsThePollsThatMakeRoom) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  const std::size_t until_it_is_full = ours.fill();
  ASSERT_TRUE(events.wait(seconds(5)));
  events.before_poll();
  ours.receive(until_it_is_full / 2);
  const PollEffect effect = events.after_poll();
  EXPECT_TRUE(effect.late);
  EXPECT_TRUE(effect.needed);
}

// What a peer asks for when all that was sent has arrived is no rest of it.
TEST(TcpTraffic, IsNotLateWhereAPeerAsksForMore) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  std::size_t left = ours.fill();
  ours.answer_byte();
  ASSERT_TRUE(events.wait(seconds(5)));
  events.before_poll();
  events.after_poll();  // it is being sent
  while (left > 0) left -= ours.receive(left);
  ours.answer_byte();
  ASSERT_TRUE(events.wait(seconds(5)));
  events.before_poll();
  EXPECT_FALSE(events.after_poll().late);
}

TEST(TcpTraffic, IsBulkWhereMoreThanARequestHasCome) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  const auto bulk = [&](std::size_t bytes) {
    while (events.wait(microseconds(5000))) {
    }
    ours.send(bytes);
    EXPECT_TRUE(events.wait(seconds(5)));
    EXPECT_TRUE(eventually([&] { return ours.holds(bytes); }));
    events.before_poll();
    ours.receive(bytes);
    return events.after_poll().bulk;
  };
  EXPECT_FALSE(bulk(100));
  EXPECT_TRUE(bulk(1448));
  EXPECT_FALSE(bulk(100)) << "the data before it is forgotten";
}

// Something short is a handshake, and who is full stops the peer; what the kernel takes in waits for nobody.
TEST(TcpTraffic, WaitsForAnAnswerToSomethingShort) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  EXPECT_FALSE(events.unanswered());
  ours.send_byte();
  ASSERT_TRUE(eventually([&] { return events.unanswered().has_value(); }));
  const auto one = events.unanswered();
  EXPECT_EQ(events.unanswered(), one);
  ours.receive_byte();
  EXPECT_FALSE(events.unanswered());
  ours.send_byte();
  ASSERT_TRUE(eventually([&] { return events.unanswered().has_value(); }));
  EXPECT_NE(events.unanswered(), one) << "another one";
  ours.send(20'000);
  EXPECT_TRUE(eventually([&] { return !events.unanswered(); })) << "data";
  ours.fill();
  EXPECT_TRUE(eventually([&] { return events.unanswered().has_value(); })) << "no room for more";
}

TEST(TcpTraffic, IsSmallWhereNoMoreThanARequestHasCome) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  events.refresh();
  while (events.wait(microseconds(5000))) {
  }
  const auto small = [&](std::size_t request, std::size_t answer, bool announced = true) {
    ours.send(request);
    if (announced) {
      EXPECT_TRUE(events.wait(seconds(5)));
    } else {
      EXPECT_TRUE(eventually([&] { return ours.holds(request); }));
    }
    events.before_poll();
    ours.receive(request);
    if (answer > 0) ours.send(answer);
    const bool is_small = events.after_poll().small;
    if (answer > 0) ours.receive(answer);
    while (events.wait(microseconds(5000))) {
    }
    return is_small;
  };
  EXPECT_TRUE(small(100, 0));
  EXPECT_TRUE(small(100, 100));
  EXPECT_FALSE(small(1448, 0)) << "a segment, as of a stream";
  EXPECT_FALSE(small(100, 1448)) << "the answer is one";
  EXPECT_TRUE(small(100, 100, false)) << "the timer's poll finds it";
  EXPECT_FALSE(small(1448, 0, false));
}

// A socket's number may be another file's by the time its last event is told: a child still has the socket.
TEST(TcpTraffic, IsNotWhatANumberCarriesThatWasGivenAway) {
  EpollEvents events(Sockets::new_tcp);
  const Connection ours;
  ours.send_byte();
  ours.receive_byte();
  events.refresh();
  while (events.wait(microseconds(5000))) {
  }
  const int childs = ours.give_away();
  ours.send_byte();
  EXPECT_TRUE(events.wait(seconds(5)));
  EXPECT_FALSE(events.carries());
  close(childs);
}

}  // namespace
}  // namespace progress_engine
