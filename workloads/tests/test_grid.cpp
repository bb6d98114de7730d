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

}  // namespace

// The geometry of a halo exchange: who sends which points to whom, and that every ghost gets its own.

namespace {

constexpr Triple points{7, 9, 10};  // cut for 2 x 3 x 4 ranks, they do not all get as many

/// A block whose points know their place in the whole grid; ghosts know nothing yet.
struct Block {
  Decomposition ranks;
  std::array<Span, 3> place;
  Layout layout;
  std::vector<int> values;

  Block(int rank, const Triple& process_grid, int ghosts = 1)
      : ranks(rank, process_grid, true),
        place{ranks.block(0, points[0]), ranks.block(1, points[1]), ranks.block(2, points[2])},
        layout{.interior = {place[0].size(), place[1].size(), place[2].size()}, .ghosts = ghosts},
        values(layout.points(), -1) {
    for_each_point(layout.inside(0), [&](int i, int j, int k) { values[layout.index(i, j, k)] = right(i, j, k); });
  }

  template <class Action>
  static void for_each_point(const Box& box, Action action) {
    for (int i = box.begin[0]; i < box.end[0]; ++i) {
      for (int j = box.begin[1]; j < box.end[1]; ++j) {
        for (int k = box.begin[2]; k < box.end[2]; ++k) {
          action(i, j, k);
        }
      }
    }
  }

  /// What belongs there, ghost or not: the grid is periodic.
  [[nodiscard]] int right(int i, int j, int k) const {
    const auto along = [&](int n, std::size_t axis) {
      return (place[axis].begin + n - 1 + points[axis]) % points[axis];
    };
    return (((along(i, 0) * points[1]) + along(j, 1)) * points[2]) + along(k, 2);
  }

  [[nodiscard]] std::vector<int> read(const Box& box) const {
    std::vector<int> found;
    for_each_point(box, [&](int i, int j, int k) { found.push_back(values[layout.index(i, j, k)]); });
    return found;
  }

  void write(const Box& box, const std::vector<int>& message) {
    auto next = message.begin();
    ASSERT_EQ(message.size(), box.points());
    for_each_point(box, [&](int i, int j, int k) { values[layout.index(i, j, k)] = *next++; });
  }

  /// How many points are as they should be: of the ghosts next to this many directions outside, 1 to 3.
  [[nodiscard]] std::map<int, int> wrong_ghosts() const {
    std::map<int, int> wrong;
    const Triple n = layout.interior;
    for_each_point({.begin = {}, .end = {n[0] + 2, n[1] + 2, n[2] + 2}}, [&](int i, int j, int k) {
      const int outside = static_cast<int>(i < 1 || i > n[0]) + static_cast<int>(j < 1 || j > n[1]) +
                          static_cast<int>(k < 1 || k > n[2]);
      if (values[layout.index(i, j, k)] != right(i, j, k)) {
        ++wrong[outside];
      }
    });
    return wrong;
  }
};

std::vector<Block> blocks_of(const Triple& process_grid, int ghosts = 1) {
  std::vector<Block> blocks;
  for (int rank = 0; rank < process_grid[0] * process_grid[1] * process_grid[2]; ++rank) {
    blocks.emplace_back(rank, process_grid, ghosts);
  }
  return blocks;
}

/// All ranks send what `parts_of` says, then all have received.
template <class PartsOf>
void exchange(std::vector<Block>& blocks, PartsOf parts_of) {
  std::map<std::pair<int, Triple>, std::vector<int>> messages;  // by receiver and the direction it was sent in
  for (const auto& block : blocks) {
    for (const auto& part : parts_of(block)) {
      ASSERT_TRUE(messages.emplace(std::pair{part.neighbour, part.direction}, block.read(part.send)).second);
    }
  }
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    for (const auto& part : parts_of(blocks[rank])) {
      blocks[rank].write(part.receive, messages.at({static_cast<int>(rank), opposite_of(part.direction)}));
    }
  }
}

const std::vector<Triple> process_grids{{1, 1, 1}, {1, 1, 2}, {2, 1, 2}, {2, 2, 2}, {2, 3, 4}};

TEST(HaloParts, TwentySixNeighboursFillEveryGhostAtOnce) {
  for (const Triple& process_grid : process_grids) {
    auto blocks = blocks_of(process_grid);
    exchange(blocks, [](const Block& block) { return all_parts(block.ranks, block.layout.interior, true); });
    for (const auto& block : blocks) {
      EXPECT_TRUE(block.wrong_ghosts().empty());
    }
  }
}

TEST(HaloParts, SixNeighboursFillFacesAndNoMore) {
  auto blocks = blocks_of({2, 2, 2});
  exchange(blocks, [](const Block& block) { return all_parts(block.ranks, block.layout.interior, false); });
  for (const auto& block : blocks) {
    const auto wrong = block.wrong_ghosts();
    const Triple n = block.layout.interior;
    EXPECT_EQ(wrong, (std::map<int, int>{{2, 4 * (n[0] + n[1] + n[2])}, {3, 8}})) << "edges and corners";
  }
}

TEST(HaloParts, TwoLayersOfGhostsAreFilledAsOneIs) {
  constexpr int depth = 2;
  for (const Triple& process_grid : process_grids) {
    auto blocks = blocks_of(process_grid, depth);
    for (int axis = 0; axis < 3; ++axis) {
      exchange(blocks,
               [&](const Block& block) { return axis_parts(block.ranks, block.layout.interior, axis, true, depth); });
    }
    for (const auto& block : blocks) {
      const Triple n = block.layout.interior;
      Block::for_each_point({.begin = {-1, -1, -1}, .end = {n[0] + 3, n[1] + 3, n[2] + 3}}, [&](int i, int j, int k) {
        EXPECT_EQ(block.values[block.layout.index(i, j, k)], block.right(i, j, k)) << i << ' ' << j << ' ' << k;
      });
    }
  }
}

TEST(HaloParts, ThreePhasesFillEdgesAndCornersWithTheGhostsOfThoseBefore) {
  for (const Triple& process_grid : process_grids) {
    for (const bool corners : {true, false}) {
      auto blocks = blocks_of(process_grid);
      for (int axis = 0; axis < 3; ++axis) {
        exchange(blocks,
                 [&](const Block& block) { return axis_parts(block.ranks, block.layout.interior, axis, corners); });
      }
      for (const auto& block : blocks) {
        const auto wrong = block.wrong_ghosts();
        EXPECT_FALSE(wrong.contains(1)) << "faces";
        EXPECT_EQ(wrong.empty(), corners);
      }
    }
  }
}

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
