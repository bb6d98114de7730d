// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include "common/errors.h"
#include "minife/exact.h"
#include "minife/matrix.h"
#include "minife/method.h"
#include "minife/problem.h"

namespace workloads::minife {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr double rounding = 1e-13;
const Triple uneven{5, 7, 6};

Box all_of(const Triple& nodes) { return {.begin = {}, .end = nodes}; }

bool on_surface(int z, int y, int x, const Triple& nodes) {
  return z == 0 || z == nodes[0] - 1 || y == 0 || y == nodes[1] - 1 || x == 0 || x == nodes[2] - 1;
}

/// The matrix of a grid that one rank has, element by element.
std::vector<std::vector<double>> dense(const Triple& nodes) {
  const Matrix matrix(nodes, all_of(nodes));
  const Layout& layout = matrix.layout();
  std::vector<std::vector<double>> columns;
  for_each_row(layout, layout.inside(0), [&](std::size_t first, std::size_t length) {
    for (std::size_t place = first; place < first + length; ++place) {
      std::vector<double> in(layout.points());
      std::vector<double> out(layout.points());
      in[place] = 1;
      matrix.multiply(layout.inside(0), in.data(), out.data());
      columns.emplace_back();
      for_each_row(layout, layout.inside(0), [&](std::size_t begin, std::size_t count) {
        columns.back().insert(columns.back().end(), out.begin() + static_cast<std::ptrdiff_t>(begin),
                              out.begin() + static_cast<std::ptrdiff_t>(begin + count));
      });
    }
  });
  return columns;
}

TEST(Element, IsSymmetricAndItsRowsAddUpToNothing) {
  const auto element = diffusion_matrix({0.5, 0.25, 2});
  for (std::size_t row = 0; row < corners; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < corners; ++column) {
      EXPECT_DOUBLE_EQ(element[row][column], element[column][row]);
      sum += element[row][column];
    }
    EXPECT_NEAR(sum, 0, rounding);
    EXPECT_GT(element[row][row], 0);
  }
}

TEST(Element, IsTheProductOfItsAxes) {
  const std::array<double, 3> edges{0.5, 0.25, 2};
  const auto element = diffusion_matrix(edges);
  const auto stiffness = [&](std::size_t axis, bool same) { return (same ? 1 : -1) / edges[axis]; };
  const auto mass = [&](std::size_t axis, bool same) { return edges[axis] / (same ? 3 : 6); };
  for (unsigned row = 0; row < corners; ++row) {
    for (unsigned column = 0; column < corners; ++column) {
      const unsigned differ = row ^ column;
      const std::array<bool, 3> same{(differ & 4U) == 0, (differ & 2U) == 0, (differ & 1U) == 0};
      double expected = 0;
      for (std::size_t along = 0; along < 3; ++along) {
        double product = stiffness(along, same[along]);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          product *= axis == along ? 1 : mass(axis, same[axis]);
        }
        expected += product;
      }
      EXPECT_NEAR(element[row][column], expected, rounding);
    }
  }
}

TEST(Matrix, IsSymmetric) {
  const auto matrix = dense(uneven);
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    for (std::size_t column = 0; column < row; ++column) {
      EXPECT_DOUBLE_EQ(matrix[row][column], matrix[column][row]);
    }
  }
}

TEST(Matrix, RowsThatTouchNoSurfaceAddUpToNothing) {
  const Triple nodes{5, 6, 7};
  const Matrix matrix(nodes, all_of(nodes));
  const std::vector<double> ones(matrix.layout().points(), 1);
  std::vector<double> out(matrix.layout().points());
  const Box far{.begin = {3, 3, 3}, .end = {4, 5, 6}};
  matrix.multiply(far, ones.data(), out.data());
  for_each_row(matrix.layout(), far, [&](std::size_t first, std::size_t length) {
    for (std::size_t place = first; place < first + length; ++place) {
      EXPECT_NEAR(out[place], 0, rounding);
    }
  });
}

/// One node inside: all its neighbours are on the surface, nine of them where x = 1. Numbers by the axes' products.
TEST(Matrix, WhatIsKnownStandsOnTheRightHandSide) {
  const Triple nodes{3, 3, 3};
  const Matrix matrix(nodes, all_of(nodes));
  constexpr std::size_t centre = 13;
  constexpr double edge = 0.5;
  EXPECT_NEAR(dense(nodes)[centre][centre], 3 * (2 / edge) * std::pow(2 * edge / 3, 2), rounding);
  EXPECT_NEAR(matrix.right_hand_side()[matrix.layout().index(2, 2, 2)], edge, rounding);
}

TEST(Matrix, RowsOfTheSurfaceAreTheIdentitys) {
  const Matrix matrix(uneven, all_of(uneven));
  const auto& layout = matrix.layout();
  const auto columns = dense(uneven);
  std::size_t row = 0;
  for (int z = 0; z < uneven[0]; ++z) {
    for (int y = 0; y < uneven[1]; ++y) {
      for (int x = 0; x < uneven[2]; ++x, ++row) {
        if (on_surface(z, y, x, uneven)) {
          for (std::size_t column = 0; column < columns.size(); ++column) {
            EXPECT_EQ(columns[column][row], column == row ? 1 : 0);
          }
          EXPECT_EQ(matrix.right_hand_side()[layout.index(z + 1, y + 1, x + 1)], x == uneven[2] - 1 ? 1 : 0);
        }
      }
    }
  }
}

TEST(Matrix, OfAPartIsThePartOfTheWhole) {
  const Box part{.begin = {1, 0, 2}, .end = {4, 5, 6}};
  const Matrix whole(uneven, all_of(uneven));
  const Matrix mine(uneven, part);
  std::vector<double> in(whole.layout().points());
  std::vector<double> out(in.size());
  for (std::size_t place = 0; place < in.size(); ++place) {
    in[place] = std::sin(static_cast<double>(place));
  }
  std::vector<double> my_in(mine.layout().points());
  std::vector<double> my_out(my_in.size());
  const auto there = [&](int z, int y, int x) {
    return whole.layout().index(z + part.begin[0], y + part.begin[1], x + part.begin[2]);
  };
  for (int z = 0; z < part.size(0) + 2; ++z) {
    for (int y = 0; y < part.size(1) + 2; ++y) {
      for (int x = 0; x < part.size(2) + 2; ++x) {
        my_in[mine.layout().index(z, y, x)] = in[there(z, y, x)];
      }
    }
  }
  whole.multiply(whole.layout().inside(0), in.data(), out.data());
  const Box inner = without_neighbours(part, uneven);
  EXPECT_THAT(inner.begin, ElementsAre(2, 1, 2));
  EXPECT_THAT(inner.end, ElementsAre(3, 5, 5));
  mine.multiply(inner, my_in.data(), my_out.data());
  for (const Box& rows : shell(mine.layout().inside(0), inner)) {
    mine.multiply(rows, my_in.data(), my_out.data());
  }
  for (int z = 1; z <= part.size(0); ++z) {
    for (int y = 1; y <= part.size(1); ++y) {
      for (int x = 1; x <= part.size(2); ++x) {
        EXPECT_EQ(my_out[mine.layout().index(z, y, x)], out[there(z, y, x)]) << z << ' ' << y << ' ' << x;
        EXPECT_EQ(mine.right_hand_side()[mine.layout().index(z, y, x)], whole.right_hand_side()[there(z, y, x)]);
      }
    }
  }
}

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

TEST(Partition, LeavesNoRankWithoutANode) {
  EXPECT_THAT([] { bisect({3, 3, 3}, 12); },
              ThrowsMessage<UsageError>(HasSubstr("12 ranks cannot share 3 x 3 x 3 nodes cut in halves: start 9 or")));
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

}  // namespace

// The method's steps carried out on one rank without MPI, and when it ends.

namespace {

constexpr double tolerance = 1e-13;

Box whole(const Triple& nodes) { return {.begin = {}, .end = nodes}; }

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

/// The method on one rank without MPI, until the residual is small: what is summed is there at once.
class Alone final : public SolveSteps {
 public:
  Alone(const Triple& nodes, bool pipelined) : matrix_(nodes, whole(nodes)), method_(pipelined) {
    for (auto& vector : vectors_) {
      vector.resize(matrix_.layout().points());
    }
    of(Name::x) = matrix_.surface();
    combine(Name::r, 1, matrix_.right_hand_side(), -1, of(Name::x));
    if (!pipelined) {
      of(Name::p) = of(Name::r);
    }
  }

  /// How many iterations it takes.
  int solve(int most) {
    method_.begin(*this);
    method_.to_the_test(*this);
    const double first = gamma_ = sums_[0];
    while (std::sqrt(sums_[0]) > relative_residual * std::sqrt(first) && iterations_ < most) {
      method_.behind_it(*this);
      ++iterations_;
      if (method_.replaces(iterations_)) {
        Method::replace(*this);
        ++replacements;
      }
      method_.to_the_test(*this);
    }
    return iterations_;
  }

  /// The largest of b - A x.
  double error() {
    multiply(Name::x, Name::q);
    double largest = 0;
    for (std::size_t i = 0; i < of(Name::q).size(); ++i) {
      largest = std::max(largest, std::abs(matrix_.right_hand_side()[i] - of(Name::q)[i]));
    }
    return largest;
  }

  int replacements = 0;

 private:
  using Vector = std::vector<double>;
  Vector& of(Name name) { return vectors_[static_cast<std::size_t>(name)]; }
  void combine(Name out, double a, const Vector& first, double b, const Vector& second) {
    for (std::size_t i = 0; i < of(out).size(); ++i) {
      of(out)[i] = (a * first[i]) + (b * second[i]);
    }
  }
  void add(Name out, double factor, Name more) { combine(out, 1, Vector(of(out)), factor, of(more)); }

  void multiply(Name in, Name out) override {
    matrix_.multiply(matrix_.layout().inside(0), of(in).data(), of(out).data());
  }
  void sum(std::span<const Names> pairs) override {
    std::size_t place = 0;
    for (const auto& [a, b] : pairs) {
      sums_.at(place++) = std::inner_product(of(a).begin(), of(a).end(), of(b).begin(), 0.0);
    }
  }
  void start_sums(std::span<const Names> pairs) override { sum(pairs); }
  void finish_sums() override {}
  void update(Update what) override {
    if (what == Update::advance) {
      const double alpha = gamma_ / sums_[0];
      add(Name::x, alpha, Name::p);
      add(Name::r, -alpha, Name::q);
    } else if (what == Update::turn) {
      combine(Name::p, 1, of(Name::r), sums_[0] / gamma_, Vector(of(Name::p)));
      gamma_ = sums_[0];
    } else if (what == Update::replace) {
      combine(Name::r, 1, matrix_.right_hand_side(), -1, of(Name::q));
    } else {
      const double beta = iterations_ == 0 ? 0 : sums_[0] / gamma_;
      alpha_ = sums_[0] / (iterations_ == 0 ? sums_[1] : sums_[1] - (beta * sums_[0] / alpha_));
      gamma_ = sums_[0];
      combine(Name::z, 1, of(Name::q), beta, Vector(of(Name::z)));
      combine(Name::s, 1, of(Name::w), beta, Vector(of(Name::s)));
      combine(Name::p, 1, of(Name::r), beta, Vector(of(Name::p)));
      add(Name::x, alpha_, Name::p);
      add(Name::r, -alpha_, Name::s);
      add(Name::w, -alpha_, Name::z);
    }
  }

  Matrix matrix_;
  Method method_;
  std::array<Vector, 7> vectors_;
  std::array<double, 2> sums_{};
  double gamma_ = 0;
  double alpha_ = 0;
  int iterations_ = 0;
};

TEST(Method, SolvesInBothOfItsForms) {
  for (const bool pipelined : {false, true}) {
    Alone alone({13, 12, 14}, pipelined);
    EXPECT_GT(alone.solve(1000), 10);
    EXPECT_LT(alone.error(), 1e-9);
  }
}

TEST(Method, ReplacesWhatOnlyThePipelinedFormFollows) {
  const Triple long_box{4, 4, 90};
  Alone plain(long_box, false);
  Alone pipelined(long_box, true);
  EXPECT_EQ(plain.solve(120), pipelined.solve(120));
  EXPECT_EQ(plain.replacements, 0);
  EXPECT_GT(pipelined.replacements, 0);
}

TEST(Spectrum, IsThatOfTheMatrix) {
  const Triple nodes{5, 6, 7};
  const Triple half_waves{2, 1, 4};
  const Matrix matrix(nodes, whole(nodes));
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
  for (const Triple nodes :
       {Triple{3, 3, 3}, Triple{5, 7, 6}, Triple{13, 12, 14}, Triple{21, 21, 21}, Triple{9, 7, 33}}) {
    EXPECT_EQ(iterations_needed(nodes, 1000), Alone(nodes, false).solve(1000)) << nodes[0] << ' ' << nodes[2];
  }
  EXPECT_EQ(iterations_needed({33, 33, 33}, 200), 71) << "as the program's own records say";
  EXPECT_EQ(iterations_needed({33, 33, 33}, 30), 30);
}

}  // namespace
}  // namespace workloads::minife
