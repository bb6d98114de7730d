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

std::vector<std::string> kinds(const Topology& topology) {
  std::vector<std::string> names;
  for (const Place& place : topology.places()) names.push_back(place.kind);
  return names;
}

TEST(Topology, HasAPlaceForEachPackageAndCore) {
  const auto topology = Topology::synthetic("package:2 core:3 pu:2");
  const auto& places = topology.places();
  ASSERT_EQ(places.size(), 1U + 2 + 6);
  EXPECT_EQ(kinds(topology), (std::vector<std::string>{"Machine", "Package", "Core", "Core", "Core", "Package", "Core",
                                                       "Core", "Core"}));
  EXPECT_EQ(places[0].parent, -1);
  EXPECT_EQ(places[1].parent, 0);
  EXPECT_EQ(places[1].siblings, 2);
  EXPECT_EQ(places[2].parent, 1);
  EXPECT_EQ(places[2].siblings, 3);
  EXPECT_EQ(places[2].cpus, (std::vector{0, 1}));
  EXPECT_EQ(places[5].leaves, (std::vector{6, 7, 8}));
  EXPECT_EQ(places[0].leaves.size(), 6U);
}

TEST(Topology, LeavesOutLevelsWithoutSiblings) {
  const auto topology = Topology::synthetic("package:1 l3:1 l2:2 core:1 pu:1");
  ASSERT_EQ(topology.places().size(), 3U);  // the machine and two L2s with a core each
  EXPECT_EQ(topology.places()[1].kind, "L2");
  EXPECT_EQ(topology.places()[1].parent, 0);
  EXPECT_EQ(Topology::synthetic("package:1 core:1 pu:2").places().size(), 1U);
}

TEST(Topology, FindsTheLeafOfACpu) {
  const auto topology = Topology::synthetic("package:2 core:2 pu:2");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const Place& leaf = topology.places()[static_cast<std::size_t>(topology.leaf_of_cpu(cpu))];
    EXPECT_TRUE(leaf.cpus[0] == cpu || leaf.cpus[1] == cpu);
    EXPECT_EQ(leaf.kind, "Core");
  }
  EXPECT_EQ(topology.leaf_of_cpu(8), 0);
  EXPECT_EQ(topology.leaf_of_cpu(-1), 0);
}

TEST(Topology, FindsWhereAThreadPerKindBelongs) {
  const auto topology = Topology::synthetic("package:2 l3:2 core:2 pu:1");
  EXPECT_EQ(topology.places_of("package").size(), 2U);
  EXPECT_EQ(topology.places_of("l3").size(), 4U);
  EXPECT_EQ(topology.places_of("core").size(), 8U);
  EXPECT_EQ(Topology::synthetic("package:1 core:4 pu:1").places_of("package"), std::vector{0});
  EXPECT_EQ(Topology::synthetic("package:2 core:4 pu:1").places_of("l3"), std::vector{0});
}

TEST(Topology, ReadsThisMachine) {
  const auto topology = Topology::of_this_machine();
  EXPECT_FALSE(topology.places()[0].cpus.empty());
  EXPECT_FALSE(topology.places()[0].leaves.empty());
}

}  // namespace
}  // namespace progress_engine
