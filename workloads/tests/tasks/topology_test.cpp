// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/topology.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace progress_engine {
namespace {

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

TEST(Topology, WithoutLevelsIsOnePlace) {
  const auto flat = Topology::synthetic("package:2 core:2 pu:1").without_levels();
  ASSERT_EQ(flat.places().size(), 1U);
  EXPECT_EQ(flat.leaf_of_cpu(3), 0);
  EXPECT_EQ(flat.places_of("core"), std::vector{0});
  EXPECT_EQ(flat.places()[0].leaves, std::vector{0});
}

TEST(Topology, ReadsThisMachine) {
  const auto topology = Topology::of_this_machine();
  EXPECT_FALSE(topology.places()[0].cpus.empty());
  EXPECT_FALSE(topology.places()[0].leaves.empty());
}

TEST(Topology, RefusesWhatHwlocDoesNotUnderstand) {
  try {
    Topology::synthetic("nonsense:2");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("nonsense:2"), std::string::npos);
  }
}

}  // namespace
}  // namespace progress_engine
