// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "common/errors.h"
#include "common/grid.h"

namespace workloads {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Blocks, CoverTheAxisOnceAndDifferByOneAtMost) {
  for (const int points : {1, 2, 7, 62, 1000}) {
    for (int parts = 1; parts <= std::min(points, 9); ++parts) {
      int next = 0;
      for (int index = 0; index < parts; ++index) {
        const Span block = block_of(points, parts, index);
        EXPECT_EQ(block.begin, next);
        EXPECT_GE(block.size(), points / parts);
        EXPECT_LE(block.size(), (points / parts) + 1);
        next = block.end;
      }
      EXPECT_EQ(next, points);
    }
  }
}

TEST(ProcessGrid, CutsWhereTheSurfaceIsSmallest) {
  EXPECT_THAT(*process_grid(1, {30, 30, 62}, 3), ElementsAre(1, 1, 1));
  EXPECT_THAT(*process_grid(2, {30, 30, 62}, 3), ElementsAre(1, 1, 2));
  EXPECT_THAT(*process_grid(8, {100, 100, 100}, 3), ElementsAre(2, 2, 2));
  EXPECT_THAT(*process_grid(3, {10, 11, 12}, 3), ElementsAre(1, 1, 3));
}

TEST(ProcessGrid, OfCutsThatAreAlikeTakesTheOnesWithContiguousSurfaces) {
  EXPECT_THAT(*process_grid(2, {64, 64, 64}, 3), ElementsAre(2, 1, 1));
  EXPECT_THAT(*process_grid(4, {64, 64, 64}, 3), ElementsAre(2, 2, 1));
}

TEST(ProcessGrid, CutsNoMoreAxesThanAsked) {
  const auto grid = process_grid(8, {100, 100, 100}, 1);
  EXPECT_EQ(std::ranges::count(*grid, 1), 2);
}

TEST(ProcessGrid, LeavesNoRankWithoutAPlane) {
  EXPECT_FALSE(process_grid(7, {3, 3, 3}, 3));  // prime: one axis would need 7 planes
  EXPECT_TRUE(process_grid(27, {3, 3, 3}, 3));
  EXPECT_THAT([] { require_process_grid(7, {3, 3, 3}, 3); },
              ThrowsMessage<UsageError>(HasSubstr("7 ranks cannot share 3 x 3 x 3 points in 3 dimensions, each with a "
                                                  "plane of its own: start 6 ranks or take a larger grid")));
}

TEST(Decomposition, NeighboursAreMutual) {
  const Triple grid{2, 3, 4};
  for (const bool periodic : {false, true}) {
    for (int rank = 0; rank < 24; ++rank) {
      for (int code = 0; code < 27; ++code) {
        const Triple offset{(code / 9) - 1, (code / 3 % 3) - 1, (code % 3) - 1};
        const int other = Decomposition(rank, grid, periodic).neighbour(offset);
        if (other >= 0) {
          EXPECT_EQ(Decomposition(other, grid, periodic).neighbour({-offset[0], -offset[1], -offset[2]}), rank);
        } else {
          EXPECT_FALSE(periodic);
        }
      }
    }
  }
  EXPECT_EQ(Decomposition(0, grid, false).neighbour({-1, 0, 0}), -1);
  EXPECT_EQ(Decomposition(0, grid, true).neighbour({-1, -1, -1}), 23);
}

TEST(Faces, TwoRanksMeetInOppositeDirections) {
  for (const int ranks : {2, 7, 24}) {
    for (int rank = 0; rank < ranks; ++rank) {
      for (const Face& face : faces_of(rank, ranks)) {
        const auto back = faces_of(face.neighbour, ranks);
        EXPECT_TRUE(std::ranges::any_of(
            back, [&](const Face& other) { return other.neighbour == rank && other.direction == face.arriving(); }));
      }
    }
  }
  EXPECT_EQ(faces_of(0, 8).size(), 3);
}

TEST(Faces, AreAsManyAsTheRankHasThatHasMost) {
  for (const int ranks : {1, 2, 3, 4, 7, 8, 12, 27, 36}) {
    std::size_t most = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      most = std::max(most, faces_of(rank, ranks).size());
    }
    EXPECT_EQ(most_faces(ranks), most) << ranks << " ranks";
  }
}

TEST(Decomposition, OtherRanksPointsAreNextToABlockWhereItIsCut) {
  EXPECT_THAT(Decomposition(0, {2, 1, 3}, true).margin(), ElementsAre(1, 0, 1));
  EXPECT_THAT(Decomposition(0, {1, 1, 1}, true).margin(), ElementsAre(0, 0, 0));
}

TEST(Decomposition, BlocksOfAllRanksAreTheWholeGrid) {
  std::multiset<int> seen;
  for (int rank = 0; rank < 8; ++rank) {
    const Decomposition mine(rank, {2, 2, 2}, false);
    for (int i = mine.block(0, 5).begin; i < mine.block(0, 5).end; ++i) {
      for (int j = mine.block(1, 7).begin; j < mine.block(1, 7).end; ++j) {
        for (int k = mine.block(2, 9).begin; k < mine.block(2, 9).end; ++k) {
          seen.insert((((i * 7) + j) * 9) + k);
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), 5U * 7 * 9);
  EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), seen.size());
}

TEST(Layout, InteriorIsWhatTheGhostsEnclose) {
  const Layout layout{.interior = {2, 3, 4}};
  EXPECT_EQ(layout.points(), 4U * 5 * 6);
  EXPECT_EQ(layout.index(1, 2, 3), (1U * 30) + (2 * 6) + 3);
  EXPECT_EQ(layout.inside(0).points(), 24U);
  EXPECT_EQ(layout.inside(1).points(), 0U) << "no point is that far from the surface";
  EXPECT_EQ(layout.inside({0, 1, 0}).points(), 2U * 1 * 4);
  std::vector<int> visits(layout.points());
  for_each_row(layout, layout.inside(0), [&](std::size_t first, std::size_t length) {
    for (std::size_t n = first; n < first + length; ++n) {
      ++visits[n];
    }
  });
  EXPECT_EQ(std::accumulate(visits.begin(), visits.end(), 0), 24);
  EXPECT_EQ(visits[layout.index(0, 1, 1)], 0);
  EXPECT_EQ(visits[layout.index(2, 3, 4)], 1);
}

// The geometry of a halo exchange. That every ghost gets its own, miniGhost, miniFE and LU verify in each run.

TEST(HaloParts, AreSixFacesTwelveEdgesAndEightCornersInOppositePairs) {
  const Decomposition ranks(0, {3, 3, 3}, true);
  const auto parts = all_parts(ranks, {4, 4, 4}, true);
  std::map<std::size_t, int> of_size;
  std::set<int> neighbours;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].direction, opposite_of(parts[i ^ 1U].direction));
    EXPECT_EQ(parts[i].send.points(), parts[i].receive.points());
    ++of_size[parts[i].send.points()];
    neighbours.insert(parts[i].neighbour);
  }
  EXPECT_EQ(of_size, (std::map<std::size_t, int>{{16, 6}, {4, 12}, {1, 8}}));
  EXPECT_EQ(neighbours.size(), 26U) << "in a grid of 3 x 3 x 3 ranks all are others";
  EXPECT_FALSE(neighbours.contains(0));
}

TEST(HaloParts, HaveNoNeighbourBeyondABoundary) {
  const Decomposition corner(0, {2, 2, 2}, false);
  const auto parts = all_parts(corner, {4, 4, 4}, true);
  EXPECT_EQ(std::ranges::count_if(parts, [](const HaloPart& part) { return part.neighbour >= 0; }), 7);
}

}  // namespace
}  // namespace workloads
