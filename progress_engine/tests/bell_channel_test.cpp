// SPDX-License-Identifier: BSD-3-Clause
// Two bells over a network that loses, doubles, delays and reorders datagrams.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <random>

#include "bell_job.hpp"
#include "core/engine.hpp"
#include "handshakes.hpp"

namespace progress_engine {
namespace {

int bound_socket(const std::string& address, int port) {
  const int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_port = htons(static_cast<in_port_t>(port));
  own.sin_addr.s_addr = inet_addr(address.c_str());
  EXPECT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
  return descriptor;
}

// Between nodes 1 and 2, who know each other by the addresses of nodes 101 and 102: what is sent to 102 reaches 2 as if
// it came from 101, and the other way round. Of the datagrams a seeded choice decides.
class Relay {
 public:
  Relay(const std::string& stands_for_1, const std::string& stands_for_2, const std::string& node1,
        const std::string& node2, int port)
      : ends_{End{bound_socket(stands_for_2, port), address(node2, port), {}},
              End{bound_socket(stands_for_1, port), address(node1, port), {}}},
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  ~Relay() {
    thread_.request_stop();
    thread_.join();
    for (const auto& end : ends_) close(end.descriptor);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int seen() const { return seen_; }
  int lost() const { return lost_; }

 private:
  struct End {
    int descriptor;     // what was sent to the node for which it stands
    sockaddr_in node;   // the keeper there
    sockaddr_in asker;  // the last who asked from the other node
  };
  struct Held {
    Datagram bytes;
    std::size_t size;
    int from;
  };

  static sockaddr_in address(const std::string& node, int port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(static_cast<in_port_t>(port));
    made.sin_addr.s_addr = inet_addr(node.c_str());
    return made;
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::array<pollfd, 2> both{{{ends_[0].descriptor, POLLIN, 0}, {ends_[1].descriptor, POLLIN, 0}}};
      poll(both.data(), both.size(), 1);
      for (const int from : {0, 1})
        while (take(from)) {
        }
      while (held_.size() > most_held) let_go();
      if (!held_.empty()) let_go();
    }
  }

  bool take(int from) {
    Held datagram{.bytes = {}, .size = 0, .from = from};
    End& end = ends_[static_cast<std::size_t>(from)];
    sockaddr_in sender{};
    socklen_t length = sizeof sender;
    const auto size = recvfrom(end.descriptor, datagram.bytes.data(), datagram.bytes.size(), 0,
                               reinterpret_cast<sockaddr*>(&sender), &length);
    if (size < 0) return false;
    datagram.size = static_cast<std::size_t>(size);
    if (word_of(datagram) == BellWord::ask) end.asker = sender;
    ++seen_;
    const auto fate = random_() % 10;
    if (fate < 3) {
      ++lost_;
      return true;
    }
    if (fate < 5) forward(datagram);  // twice
    if (fate < 8) held_.push_back(datagram);
    if (fate >= 8) forward(datagram);
    return true;
  }

  // Any of them: so they come in another order, some long after others.
  void let_go() {
    std::swap(held_[random_() % held_.size()], held_.back());
    forward(held_.back());
    held_.pop_back();
  }

  static BellWord word_of(const Held& datagram) { return static_cast<BellWord>(datagram.bytes[4]); }

  // An answer goes to who asked, the rest to the keeper.
  void forward(const Held& datagram) {
    const End& here = ends_[static_cast<std::size_t>(datagram.from)];
    const End& there = ends_[static_cast<std::size_t>(1 - datagram.from)];
    const sockaddr_in& to = word_of(datagram) == BellWord::here ? there.asker : here.node;
    sendto(there.descriptor, datagram.bytes.data(), datagram.size, 0, reinterpret_cast<const sockaddr*>(&to),
           sizeof to);
  }

  static constexpr std::size_t most_held = 200;  // more than a window of sequence numbers
  std::array<End, 2> ends_;
  std::vector<Held> held_;
  std::mt19937_64 random_{17};
  std::atomic<int> seen_{0};
  std::atomic<int> lost_{0};
  std::jthread thread_;
};

class Channel : public Job {
 protected:
  BellPlan plan(int rank, int own, std::vector<std::string> hosts) const {
    BellPlan plan;
    plan.rank = rank;
    plan.size = 2;
    plan.job = "job";
    plan.hosts = [hosts = std::move(hosts)] { return hosts; };
    plan.key_file = folder_ / "bell.key";
    plan.port = port_;
    plan.interval = microseconds(1);
    plan.address = inet_addr(node(own).c_str());
    return plan;
  }
};

// Whoever rings again is heard, however many were lost; who has the timer behind him rings again. With BELL_FLOOD set,
// by `./bench test --full`, ten times as many.
TEST_F(Channel, LosesNobodyForEver) {
  const Relay relay(node(101), node(102), node(1), node(2), port_);
  Bell one(plan(0, 1, {node(1), node(102)}), [this](int target) { return target == 0 && ++rung1_ > 0; });
  Bell two(plan(1, 2, {node(101), node(2)}), [this](int target) { return target == 1 && ++rung2_ > 0; });
  one.start();
  two.start();
  const int datagrams = std::getenv("BELL_FLOOD") ? 100'000 : 10'000;
  int rounds = 0;
  for (const Nanoseconds end = now() + seconds(120); relay.seen() < datagrams && now() < end; ++rounds) {
    const int ones = rung1_;
    const int twos = rung2_;
    ASSERT_TRUE(eventually([&] {
      for (int i = 0; i < 50; ++i) {
        one.ring(1);
        two.ring(0);
        one.turn();
        two.turn();
      }
      return rung1_ > ones && rung2_ > twos;
    })) << "round "
        << rounds;
  }
  EXPECT_GE(relay.seen(), datagrams);
  EXPECT_GT(relay.lost(), datagrams / 5);
  for (const auto& [bell, other] : {std::pair{&one, &two}, std::pair{&two, &one}}) {
    const auto counts = bell->counts();
    EXPECT_EQ(counts.state, "rings");
    EXPECT_GT(counts.refused, static_cast<std::uint64_t>(datagrams) / 50) << "doubled ones";
    EXPECT_LE(counts.taken, other->counts().sent) << "each counts once";
  }
}

TEST_F(Channel, TheTimerFindsWhatEveryRingWasLostFor) {
  auto doorbell = std::make_unique<Doorbell>("channel test " + std::to_string(getpid()), 0, 2);
  doorbell->add_bell(plan(0, 1, {node(1), node(102)}));  // where nobody listens
  std::atomic<int> missing{0};
  Engine engine(make_policy(resolve_values("adaptive", {{"events", "none"}, {"rest_us", "0"}})),
                std::make_unique<Handshakes>(missing), nullptr, std::move(doorbell));
  ThreadSlot& slot = engine.activity().acquire();
  engine.start();
  for (int i = 0; i < 20; ++i) {
    missing = 3;
    engine.doorbell()->bell()->ring(1);
    Activity::note_start(slot, 1, Activity::unbounded);
    engine.after_call(slot);
    EXPECT_TRUE(eventually([&] { return missing == 0; })) << "message " << i;
    add(slot.completed, 1);
    engine.after_call(slot);
  }
  const auto counts = engine.doorbell()->bell()->counts();
  EXPECT_GT(counts.sent, 0U);
  EXPECT_EQ(counts.taken, 0U);
  EXPECT_TRUE(engine.stop(patience));
}

}  // namespace
}  // namespace progress_engine
