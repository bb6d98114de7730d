// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "minighost/inflation.h"
#include "minighost/stencil.h"

namespace workloads::minighost {
namespace {

using ::testing::HasSubstr;

constexpr std::array<Span, 3> whole(const Triple& grid) {
  return {Span{.begin = 0, .end = grid[0]}, Span{.begin = 0, .end = grid[1]}, Span{.begin = 0, .end = grid[2]}};
}

/// Periodic ghosts of a block that is the whole grid, point by point.
void wrap(const Layout& layout, std::vector<double>& field) {
  const auto inner = [&](int n, int axis) {
    const int points = layout.interior[static_cast<std::size_t>(axis)];
    return 1 + ((n - 1 + points) % points);
  };
  for (int i = 0; i < layout.interior[0] + 2; ++i) {
    for (int j = 0; j < layout.interior[1] + 2; ++j) {
      for (int k = 0; k < layout.interior[2] + 2; ++k) {
        field[layout.index(i, j, k)] = field[layout.index(inner(i, 0), inner(j, 1), inner(k, 2))];
      }
    }
  }
}

TEST(Stencil, MovesThePlaneWaveAsItsSolutionSays) {
  for (const Triple grid : {Triple{6, 5, 7}, Triple{1, 4, 9}, Triple{12, 2, 3}}) {
    for (const Stencil stencil : {Stencil::seven, Stencil::twenty_seven}) {
      const Layout layout{.interior = grid};
      const PlaneWave wave(grid, 4);
      std::vector<double> now(layout.points());
      std::vector<double> next(layout.points());
      wave.fill(layout, whole(grid), now.data());
      for (int step = 0; step <= 4; ++step) {
        EXPECT_EQ(wave.check(layout, whole(grid), now.data(), stencil, step), "");
        wrap(layout, now);
        apply(stencil, layout, layout.inside(0), now.data(), next.data());
        std::swap(now, next);
      }
    }
  }
}

TEST(PlaneWave, SeesAStaleOrWrongPoint) {
  const Triple grid{8, 8, 8};
  const Layout layout{.interior = grid};
  const PlaneWave wave(grid, 0);
  std::vector<double> field(layout.points());
  wave.fill(layout, whole(grid), field.data());
  EXPECT_THAT(wave.check(layout, whole(grid), field.data(), Stencil::seven, 1), HasSubstr("after 1 steps"));
  field[layout.index(3, 4, 5)] += 1e-9;
  EXPECT_THAT(wave.check(layout, whole(grid), field.data(), Stencil::seven, 0), HasSubstr("at point (2, 3, 4)"));
}

TEST(PlaneWave, SumIsThatOfItsPoints) {
  for (const Triple grid : {Triple{3, 4, 5}, Triple{1, 1, 1}, Triple{1, 2, 1}}) {
    const Layout layout{.interior = grid};
    const PlaneWave wave(grid, 5);
    std::vector<double> field(layout.points());
    wave.fill(layout, whole(grid), field.data());
    double sum = 0;
    for (const double value : field) {
      sum += value;
    }
    EXPECT_NEAR(wave.sum(), sum, 1e-12 * sum);
  }
}

TEST(Inflation, IsTheSameWorkHoweverItIsCut) {
  Inflation once(8);
  Inflation often(8);
  const double before = once.mean();
  once.run(30);
  for (int n = 0; n < 30; ++n) {
    often.run(1);
  }
  EXPECT_EQ(once.mean(), often.mean());
  EXPECT_LT(once.mean(), before) << "towards the ghosts' 1";
}

TEST(HaloProbe, SeesWhatHasArrived) {
  for (const std::size_t size : {1U, 7U, 63U, 64U, 1000U, 100'001U}) {
    Payload halo(size);
    poison(halo.bytes(), 77);
    EXPECT_EQ(changed_share(halo.bytes(), 77), 0) << size;
    EXPECT_NE(halo.check(77), "");
    Payload message(size);
    message.fill(77);
    std::copy_n(message.bytes().begin(), size / 2, halo.bytes().begin());
    EXPECT_LT(changed_share(halo.bytes(), 77), 1) << size;
    std::ranges::copy(message.bytes(), halo.bytes().begin());
    EXPECT_EQ(changed_share(halo.bytes(), 77), 1) << size;
  }
  EXPECT_EQ(changed_share({}, 1), 1);
}

}  // namespace
}  // namespace workloads::minighost
