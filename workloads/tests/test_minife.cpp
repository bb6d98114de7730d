// SPDX-License-Identifier: BSD-3-Clause
// How miniFE cuts its grid, what it compares with the exact solution, and when a solve ends. That solves are right, in
// each mode, the program verifies itself (test_minife.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>
#include <vector>

#include "minife/exact.h"
#include "minife/matrix.h"
#include "minife/method.h"
#include "minife/problem.h"

namespace workloads::minife {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

Box all_of(const Triple& nodes) { return {.begin = {}, .end = nodes}; }

std::array<int, 3> node(const Box& box, int z, int y, int x) {
  return {box.begin[0] + z - 1, box.begin[1] + y - 1, box.begin[2] + x - 1};
}

std::vector<std::array<int, 3>> nodes_of(const Box& places, const Box& mine) {
  std::vector<std::array<int, 3>> nodes;
  for (int z = places.begin[0]; z < places.end[0]; ++z) {
    for (int y = places.begin[1]; y < places.end[1]; ++y) {
      for (int x = places.begin[2]; x < places.end[2]; ++x) {
        nodes.push_back(node(mine, z, y, x));
      }
    }
  }
  return nodes;
}

TEST(Partition, HalvesZFirst) {
  const auto boxes = bisect({10, 10, 10}, 4);
  EXPECT_THAT(boxes[0].end, ElementsAre(5, 5, 10));
  EXPECT_THAT(boxes[3].begin, ElementsAre(5, 5, 0));
  const auto three = bisect({9, 10, 10}, 3);
  EXPECT_THAT(three[0].end, ElementsAre(3, 10, 10)) << "a third of the ranks has a third of the nodes";
  EXPECT_THAT(three[1].begin, ElementsAre(3, 0, 0));
  EXPECT_THAT(three[1].end, ElementsAre(9, 5, 10));
}

TEST(Partition, GivesEachNodeToOneRank) {
  for (const int ranks : {1, 2, 3, 5, 7, 8, 12}) {
    std::multiset<std::array<int, 3>> seen;
    for (const Box& box : bisect({6, 7, 8}, ranks)) {
      for (const auto& found :
           nodes_of({.begin = {1, 1, 1}, .end = {box.size(0) + 1, box.size(1) + 1, box.size(2) + 1}}, box)) {
        seen.insert(found);
      }
    }
    EXPECT_THAT(seen, SizeIs(6 * 7 * 8));
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size());
  }
}

TEST(Partition, WhatIsSentIsWhatIsReceivedAndFillsAllGhostsInTheGrid) {
  const Triple nodes{6, 7, 8};
  for (const int ranks : {2, 3, 4, 5, 7, 12}) {
    const auto boxes = bisect(nodes, ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      const Box& mine = boxes[static_cast<std::size_t>(rank)];
      std::size_t arriving = 0;
      for (const auto& part : neighbours_of(boxes, rank)) {
        const auto theirs = neighbours_of(boxes, part.neighbour);
        const auto back = std::ranges::find(theirs, rank, &HaloPart::neighbour);
        ASSERT_NE(back, theirs.end());
        for (std::size_t axis = 0; axis < 3; ++axis) {
          EXPECT_EQ(back->direction[axis], -part.direction[axis]);
        }
        EXPECT_EQ(nodes_of(part.send, mine), nodes_of(back->receive, boxes[static_cast<std::size_t>(part.neighbour)]));
        arriving += part.receive.points();
      }
      std::size_t ghosts = 1;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        ghosts *=
            static_cast<std::size_t>(std::min(mine.end[axis] + 1, nodes[axis]) - std::max(mine.begin[axis] - 1, 0));
      }
      EXPECT_EQ(arriving, ghosts - mine.points());
    }
  }
}

TEST(Exact, IsOneSixthInTheMiddle) {
  const Triple nodes{9, 9, 9};
  const Exact exact(nodes, {.begin = {4, 4, 4}, .end = {5, 5, 5}});
  const Layout layout{.interior = {1, 1, 1}};
  std::vector<double> values(layout.points());
  values[layout.index(1, 1, 1)] = 1.0 / 6;  // the six faces' solutions add up to 1, and are equal there
  EXPECT_THAT(exact.compare(values).squares, DoubleNear(0, 1e-24));
  EXPECT_EQ(exact.compare(values).nodes, 1);
}

TEST(Exact, ComparesNoNodeNearTheFaceWhereItIsOne) {
  const Triple nodes{5, 5, 9};
  const Exact whole(nodes, all_of(nodes));
  const std::vector<double> nothing(Layout{.interior = nodes}.points());
  EXPECT_EQ(whole.compare(nothing).nodes, 5 * 5 * 7);
  const Exact beyond(nodes, {.begin = {0, 0, 7}, .end = {5, 5, 9}});
  EXPECT_EQ(beyond.compare(nothing).nodes, 0);
}

constexpr double tolerance = 1e-13;

template <class Action>
void for_each_inside(const Triple& nodes, Action action) {
  for (int z = 1; z < nodes[0] - 1; ++z) {
    for (int y = 1; y < nodes[1] - 1; ++y) {
      for (int x = 1; x < nodes[2] - 1; ++x) {
        action(z, y, x);
      }
    }
  }
}

TEST(Spectrum, IsThatOfTheMatrix) {
  const Triple nodes{5, 6, 7};
  const Triple half_waves{2, 1, 4};
  const Matrix matrix(nodes, all_of(nodes));
  std::vector<double> in(matrix.layout().points());
  std::vector<double> out(in.size());
  const auto value = [&](std::size_t axis, int node) {
    return std::sin(std::numbers::pi * half_waves[axis] * node / (nodes[axis] - 1));
  };
  for_each_inside(nodes, [&](int z, int y, int x) {
    in[matrix.layout().index(z + 1, y + 1, x + 1)] = value(0, z) * value(1, y) * value(2, x);
  });
  matrix.multiply(matrix.layout().inside(1), in.data(), out.data());
  for_each_inside(nodes, [&](int z, int y, int x) {
    const auto place = matrix.layout().index(z + 1, y + 1, x + 1);
    EXPECT_NEAR(out[place], eigenvalue(nodes, half_waves) * in[place], tolerance);
  });
}

TEST(Spectrum, KnowsWhenASolveEnds) {
  EXPECT_EQ(iterations_needed({3, 3, 3}, 1000), 1);
  EXPECT_EQ(iterations_needed({13, 12, 14}, 1000), 31);
  EXPECT_EQ(iterations_needed({9, 7, 33}, 1000), 80);
  EXPECT_EQ(iterations_needed({33, 33, 33}, 200), 71) << "as the program's own records say";
  EXPECT_EQ(iterations_needed({33, 33, 33}, 30), 30);
}

}  // namespace
}  // namespace workloads::minife
