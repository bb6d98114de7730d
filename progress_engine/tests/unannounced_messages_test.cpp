// SPDX-License-Identifier: BSD-3-Clause
#include "core/unannounced_messages.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

struct Program {
  UnannouncedMessages messages;
  std::uint64_t certain = 0;
  std::uint64_t possible = 0;
  std::uint64_t operations = 0;
  bool moved = false;  // by a connection to another node, at each look
  int looks = 0;

  void judge() {
    messages.judge(certain, possible, [this] {
      ++looks;
      return moved;
    });
  }
  // An operation, over before the look.
  void exchange() {
    ++operations;
    messages.note(certain, possible, operations);
    if (messages.have_completed(operations)) judge();
  }
  void message() {
    ++certain;
    exchange();
  }
  void from_anyone() {
    ++possible;
    exchange();
  }
};

TEST(UnannouncedMessages, AreThoseThatNoConnectionCanHaveCarried) {
  Program program;
  for (int i = 0; i < 2; ++i) program.message();
  EXPECT_FALSE(program.messages.are_many());
  program.message();
  EXPECT_TRUE(program.messages.are_many());
}

TEST(UnannouncedMessages, AreNoneWhereConnectionsCarryLittle) {
  Program program;
  program.moved = true;
  for (int i = 0; i < 100; ++i) program.message();
  EXPECT_FALSE(program.messages.are_many());
  program.moved = false;  // they were used while the MPI began
  for (int i = 0; i < 3; ++i) program.message();
  EXPECT_TRUE(program.messages.are_many());
}

TEST(UnannouncedMessages, AreNoneThatArePending) {
  Program program;
  for (int i = 0; i < 100; ++i) program.messages.note(++program.certain, 0, ++program.operations);
  EXPECT_FALSE(program.messages.have_completed(0));
  EXPECT_FALSE(program.messages.are_many());
}

// What may have concerned this node alone says less, and nothing where a connection may be the MPI's.
TEST(UnannouncedMessages, WhoseSenderIsUnknownCountLess) {
  Program program;
  for (int i = 0; i < 14; ++i) program.from_anyone();
  EXPECT_FALSE(program.messages.are_many());
  program.from_anyone();
  EXPECT_TRUE(program.messages.are_many());
  Program other;
  other.moved = true;
  other.message();
  other.moved = false;
  for (int i = 0; i < 100; ++i) other.from_anyone();
  EXPECT_FALSE(other.messages.are_many());
  EXPECT_EQ(other.looks, 1) << "a look costs 50 us";
}

TEST(UnannouncedMessages, AreNoOtherOperations) {
  Program program;
  for (int i = 0; i < 100; ++i) program.exchange();
  EXPECT_FALSE(program.messages.are_many());
  EXPECT_EQ(program.looks, 0);
}

// A message may move in the call that starts it, before the look that concerns the one before. It has none of its own.
TEST(UnannouncedMessages, AreNoneThatBeganBeforeALook) {
  Program program;
  const auto start = [&program](std::uint64_t messages, bool moves) {
    program.certain += messages;
    program.moved = moves;
    if (program.messages.have_completed(program.operations)) program.judge();
    ++program.operations;
    program.messages.note(program.certain, program.possible, program.operations);
  };
  for (int i = 0; i < 100; ++i) {
    start(1, true);
    start(1, true);
    start(0, false);
  }
  EXPECT_FALSE(program.messages.are_many());
}

}  // namespace
}  // namespace progress_engine
