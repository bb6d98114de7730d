// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/task_tree.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <thread>

namespace progress_engine {
namespace {

struct Repeating {
  int polled = 0;
  Ltask task{.poll = poll, .argument = this};
  static int poll(void* argument) {
    ++static_cast<Repeating*>(argument)->polled;
    return 0;
  }
};

thread_local int pretended_cpu = 0;
int pretend() { return pretended_cpu; }

TaskTree make_tree(const std::string& description, Nanoseconds age = 0) {
  return {Topology::synthetic(description), {.location_age = age, .cpu = pretend}};
}

TEST(TaskTree, AParentIsPolledOnceInAsManyRoundsAsItHasChildren) {
  auto tree = make_tree("package:2 core:4 pu:1");
  const int leaf = tree.topology().leaf_of_cpu(0);
  const int package = tree.topology().places()[static_cast<std::size_t>(leaf)].parent;
  Repeating at_leaf;
  Repeating at_package;
  Repeating at_root;
  Repeating elsewhere;
  tree.submit(at_leaf.task, leaf);
  tree.submit(at_package.task, package);
  tree.submit(at_root.task, 0);
  tree.submit(elsewhere.task, tree.topology().leaf_of_cpu(7));
  for (int i = 0; i < 80; ++i) tree.round(leaf);
  EXPECT_EQ(at_leaf.polled, 80);
  EXPECT_EQ(at_package.polled, 20);
  EXPECT_EQ(at_root.polled, 10);
  EXPECT_EQ(elsewhere.polled, 0);
}

TEST(TaskTree, AllChildrenTogetherPollAParentOnceARound) {
  auto tree = make_tree("package:1 core:4 pu:1");
  Repeating at_root;
  tree.submit(at_root.task, 0);
  for (int i = 0; i < 40; ++i)
    for (const int leaf : tree.topology().places()[0].leaves) tree.round(leaf);
  EXPECT_EQ(at_root.polled, 40);
}

TEST(TaskTree, AFullRoundPollsEveryQueueOnce) {
  auto tree = make_tree("package:2 core:2 pu:1");
  std::deque<Repeating> tasks(tree.topology().places().size());
  for (int place = 0; auto& task : tasks) tree.submit(task.task, place++);
  EXPECT_EQ(tree.full_round(), 7);
  for (const auto& task : tasks) EXPECT_EQ(task.polled, 1);
}

TEST(TaskTree, WhereAThreadRunsIsLookedUpNowAndThenOnly) {
  auto fresh = make_tree("package:2 core:2 pu:1");
  pretended_cpu = 0;
  EXPECT_EQ(fresh.here(), fresh.topology().leaf_of_cpu(0));
  pretended_cpu = 3;
  EXPECT_EQ(fresh.here(), fresh.topology().leaf_of_cpu(3));
  auto lasting = make_tree("package:2 core:2 pu:1", seconds(3600));
  EXPECT_EQ(lasting.here(), lasting.topology().leaf_of_cpu(3));
  pretended_cpu = 0;
  EXPECT_EQ(lasting.here(), lasting.topology().leaf_of_cpu(3));
  std::jthread([&] { EXPECT_EQ(lasting.here(), lasting.topology().leaf_of_cpu(0)); }).join();
}

struct Nested {
  TaskTree* tree;
  int polled_inside = -1;
  bool inside = false;
  Ltask task{.poll = poll, .argument = this};
  static int poll(void* argument) {
    auto& self = *static_cast<Nested*>(argument);
    self.inside = self.tree->inside();
    self.polled_inside = self.tree->full_round();
    return 1;
  }
};

TEST(TaskTree, ATaskThatPollsDoesNothing) {
  auto tree = make_tree("package:1 core:1 pu:1");
  Nested nested{.tree = &tree};
  Repeating other;
  tree.submit(other.task, 0);
  tree.submit(nested.task, 0);
  tree.full_round();
  EXPECT_TRUE(nested.inside);
  EXPECT_EQ(nested.polled_inside, 0);
  EXPECT_FALSE(tree.inside());
}

TEST(TaskTree, IsEmptyWhenEveryTaskIsDone) {
  auto tree = make_tree("package:2 core:2 pu:1");
  Nested nested{.tree = &tree};
  EXPECT_TRUE(tree.empty());
  tree.submit(nested.task, 3);
  EXPECT_FALSE(tree.empty());
  tree.full_round();
  EXPECT_TRUE(tree.empty());
}

}  // namespace
}  // namespace progress_engine
