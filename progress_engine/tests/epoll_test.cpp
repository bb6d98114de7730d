// SPDX-License-Identifier: BSD-3-Clause
#include "wait/epoll.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace progress_engine {
namespace {

class EpollWaitTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair_.data()), 0); }
  void TearDown() override {
    close(pair_[0]);
    close(pair_[1]);
  }
  void send_byte() { ASSERT_EQ(write(pair_[1], "x", 1), 1); }

  std::array<int, 2> pair_{};
  EpollWait wait_;
};

TEST_F(EpollWaitTest, ReportsEachEdgeOnce) {
  EXPECT_TRUE(wait_.add(pair_[0]));
  EXPECT_FALSE(wait_.add(pair_[0]));
  EXPECT_TRUE(wait_.wait(0));  // a new descriptor's present state is an edge
  EXPECT_FALSE(wait_.wait(0));
  send_byte();
  EXPECT_TRUE(wait_.wait(seconds(5)));
  EXPECT_EQ(wait_.ready(), std::vector<int>{pair_[0]});
  EXPECT_FALSE(wait_.wait(0));  // unread data is no edge
}

TEST_F(EpollWaitTest, EndsAtItsBound) {
  const Nanoseconds before = now();
  EXPECT_FALSE(wait_.wait(microseconds(3000)));
  EXPECT_GE(now() - before, microseconds(2900));
}

TEST_F(EpollWaitTest, AnInterruptEndsItAndIsNoTraffic) {
  const Nanoseconds before = now();
  std::jthread other([this] { wait_.interrupt(); });
  EXPECT_FALSE(wait_.wait(seconds(20)));
  EXPECT_LT(now() - before, seconds(10));
}

}  // namespace
}  // namespace progress_engine
