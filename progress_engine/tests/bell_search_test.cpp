// SPDX-License-Identifier: BSD-3-Clause
// How the bell finds out where a rank runs, and what it does where that cannot be found out.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "bell_job.hpp"
#include "wakeup/hexadecimal.hpp"

namespace progress_engine {
namespace {

using BellSearch = Job;

TEST_F(BellSearch, AsksARankThatHasNoEngineAFewTimesAndThenRarely) {
  const auto one = bell(0, 1, rung1_);
  const auto two = bell(1, 2, rung2_);
  const Nanoseconds begin = now();
  for (int i = 0; i < 400; ++i) {
    one->ring(4);
    one->turn();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  const auto sent = one->counts().sent;
  const auto later = static_cast<std::uint64_t>((now() - begin) / seconds(1));  // on a busy machine
  EXPECT_LE(sent, 3 * (3 + later)) << "three hosts, three times and then once a second at most";
  EXPECT_EQ(rung2_, 0);
}

// Whose first large message comes long after ours: nobody was there when it was asked for.
TEST_F(BellSearch, FindsARankThatBeginsLate) {
  const auto one = bell(0, 1, rung1_);
  one->ring(3);
  ASSERT_TRUE(eventually([&] {
    one->turn();
    return one->counts().sent >= 9;
  }));
  const auto late = bell(3, 2, rung2_);
  EXPECT_TRUE(reaches(*one, 3, rung2_));
}

// A node whose answers are the test's.
class Host {
 public:
  Host(const std::string& address, int port, const SipKey& key) : key_(key) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(static_cast<in_port_t>(port));
    here.sin_addr.s_addr = inet_addr(address.c_str());
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&here), sizeof here), 0);
  }
  ~Host() { close(socket_); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::optional<BellMessage> heard() {
    Datagram bytes{};
    socklen_t length = sizeof from_;
    if (recvfrom(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from_), &length) < 0)
      return {};
    return unseal(bytes, key_);
  }
  void answer(const Datagram& bytes, const sockaddr_in& to) const {
    sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  const sockaddr_in& from() const { return from_; }  // what was heard last

 private:
  const int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  SipKey key_;
  sockaddr_in from_{};
};

// The node is so busy that it is asked again before it has answered.
TEST_F(BellSearch, HearsAnAnswerThatComesLate) {
  const auto one = bell(0, 1, rung1_);
  const auto key = key_of_job(read_or_make_key(folder_ / "bell.key"), "job");
  Host busy(node(2), port_, key);
  std::vector<BellMessage> questions;
  one->ring(3);
  ASSERT_TRUE(eventually([&] {
    one->turn();
    if (const auto question = busy.heard()) questions.push_back(*question);
    return questions.size() == 2;
  }));
  busy.answer(seal({BellWord::here, 3, 0, questions.front().sequence}, key), busy.from());
  EXPECT_TRUE(eventually([&] {
    one->ring(3);
    one->turn();
    const auto message = busy.heard();
    return message && message->word == BellWord::ring;
  }));
}

// Who has seen an answer may play it again, from wherever he likes.
TEST_F(BellSearch, TakesOneAnswer) {
  const auto one = bell(0, 1, rung1_);
  const auto key = key_of_job(read_or_make_key(folder_ / "bell.key"), "job");
  Host node2(node(2), port_, key);
  Host other(node(3), port_, key);
  std::optional<BellMessage> question;
  one->ring(3);
  ASSERT_TRUE(eventually([&] {
    one->turn();
    return (question = node2.heard()).has_value();
  }));
  const auto answer = seal({BellWord::here, 3, 0, question->sequence}, key);
  const sockaddr_in asker = node2.from();
  node2.answer(answer, asker);
  one->turn();
  other.answer(answer, asker);
  EXPECT_TRUE(eventually([&] {
    one->turn();
    one->ring(3);
    const auto message = node2.heard();
    return message && message->word == BellWord::ring;
  }));
  while (const auto message = other.heard()) EXPECT_EQ(message->word, BellWord::ask);
}

TEST_F(BellSearch, SaysThatNoHostHasAnAddress) {
  Bell lost(plan_on(1, {"::1", "fe80::1"}), [](int) { return false; });
  lost.start();
  EXPECT_EQ(lost.counts().state, "rings");
  lost.ring(3);
  lost.turn();
  EXPECT_EQ(lost.counts().state, "none of the job's hosts has an IPv4 address, ::1 among them");
  EXPECT_EQ(lost.counts().sent, 0U);
}

// As Hydra's, whose launcher names no hosts: each node writes its own name, and is reached by that of another network.
TEST_F(BellSearch, NamesHostsAfterThoseThatTheNodesWrite) {
  const auto keeper = bell(1, 1, rung1_);  // so that the next one does not write this machine's own name
  const auto two = bell(3, 2, rung2_);
  BellPlan plan = plan_on(1);
  plan.host_pattern = "127.0.0.*";
  const auto key = key_of_job(read_or_make_key(plan.key_file), plan.job);
  const PublishedHost other(plan.key_file, hexadecimal(siphash(key, "hosts")), "2");
  plan.asked_for = false;
  Bell one(plan, [](int) { return false; });
  one.start();
  EXPECT_FALSE(one.counts().keeps);
  EXPECT_TRUE(reaches(one, 3, rung2_));
  EXPECT_EQ(one.counts().state, "rings");
}

// Where each node has a home of its own: the report must not say that somebody is rung.
TEST_F(BellSearch, SaysThatNoOtherNodeIsNamed) {
  Bell lonely(plan_on(1), [](int) { return false; });
  lonely.start();
  lonely.ring(3);
  lonely.turn();
  EXPECT_EQ(lonely.counts().state.find("no other node has put its name beside the key"), 0U) << lonely.counts().state;
  lonely.stop();
  EXPECT_NE(lonely.counts().state, "rings") << "the report comes behind the end";
}

// Where the nodes may not write in the home: nobody would find this one.
TEST_F(BellSearch, SaysThatItsNodeCannotBeNamed) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "bell.hosts") << "no folder";
  Bell lost(plan_on(1), [](int) { return false; });
  lost.start();
  EXPECT_EQ(lost.counts().state.find("this node's name cannot be put beside the bell's key"), 0U)
      << lost.counts().state;
  EXPECT_FALSE(lost.counts().keeps);
}

}  // namespace
}  // namespace progress_engine
