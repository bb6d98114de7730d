// SPDX-License-Identifier: BSD-3-Clause
// The serial pieces of NPB's LU. The whole benchmark, on several ranks, is in test_npb.py.
#include <gtest/gtest.h>

#include "npb/lu_kernel.h"

namespace workloads::npb {
namespace {

const LuClass& smallest() { return lu_classes()[0]; }

/// A field with its ghosts, and the operator's value of it.
struct Part {
  explicit Part(const LuShare& its_share) : share(its_share), u(share.layout), ratios(share.layout), out(share.layout) {
    lu_exact(share, u);
    lu_ratios(share, u, ratios);
    lu_add_operator(share, u, ratios, out);
  }

  LuShare share;
  LuField u;
  LuField ratios;
  LuField out;
};

template <class Action>
void for_each_inner_point(const LuShare& share, Action action) {
  for (int i = share.inner.begin[0]; i < share.inner.end[0]; ++i) {
    for (int j = share.inner.begin[1]; j < share.inner.end[1]; ++j) {
      for (int k = share.inner.begin[2]; k < share.inner.end[2]; ++k) {
        action(Triple{i, j, k});
      }
    }
  }
}

TEST(Lu, OperatorIsTheSameHoweverTheGridIsCut) {
  const Part whole(LuShare(smallest(), Decomposition(0, {1, 1, 1}, false)));
  for (const Triple& cut : {Triple{1, 2, 2}, Triple{1, 4, 3}, Triple{1, 1, 4}}) {
    std::size_t points = 0;
    for (int rank = 0; rank < cut[1] * cut[2]; ++rank) {
      const Part part(LuShare(smallest(), Decomposition(rank, cut, false)));
      for_each_inner_point(part.share, [&](const Triple& at) {
        const auto here = part.share.layout.index(at[0], at[1], at[2]);
        const auto there = whole.share.layout.index(at[0] + part.share.first[0], at[1] + part.share.first[1],
                                                    at[2] + part.share.first[2]);
        ++points;
        for (std::size_t m = 0; m < lu_unknowns; ++m) {
          EXPECT_NEAR(part.out.values[m][here], whole.out.values[m][there], 1e-11);
        }
      });
    }
    EXPECT_EQ(points, whole.share.inner.points());
  }
}

/// What one point holds comes to those after it by the lower sweep, to those before it by the upper one, and no others.
TEST(Lu, SweepsGoThroughTheGridInTheirDirections) {
  const LuShare share(smallest(), Decomposition(0, {1, 1, 1}, false));
  LuField u(share.layout);
  LuField ratios(share.layout);
  lu_exact(share, u);
  lu_ratios(share, u, ratios);
  LuField v(share.layout);
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    v.values[m][share.layout.index(4, 5, 6)] = 1.0 + static_cast<double>(m);
  }
  LuField after = v;
  for (int plane = share.inner.begin[0]; plane < share.inner.end[0]; ++plane) {
    lu_lower_sweep(share, ratios, after, plane);
  }
  for_each_inner_point(share, [&](const Triple& at) {
    const bool reached = at[0] >= 4 && at[1] >= 5 && at[2] >= 6;
    const double value = after.values[0][share.layout.index(at[0], at[1], at[2])];
    EXPECT_EQ(value != 0, reached) << at[0] << ' ' << at[1] << ' ' << at[2];
  });
  LuField before = v;
  for (int plane = share.inner.end[0] - 1; plane >= share.inner.begin[0]; --plane) {
    lu_upper_sweep(share, ratios, before, plane);
  }
  for_each_inner_point(share, [&](const Triple& at) {
    const bool reached = at[0] <= 4 && at[1] <= 5 && at[2] <= 6;
    const double value = before.values[0][share.layout.index(at[0], at[1], at[2])];
    EXPECT_EQ(value != 0, reached) << at[0] << ' ' << at[1] << ' ' << at[2];
  });
}

TEST(Lu, EachOfTheElevenValuesIsVerified) {
  const auto& problem = smallest();
  EXPECT_TRUE(is_right(problem, problem.right));
  for (std::size_t m = 0; m < lu_unknowns; ++m) {
    for (const auto values : {&LuResult::residuals, &LuResult::errors}) {
      auto wrong = problem.right;
      (wrong.*values)[m] *= 1 + 2e-8;
      EXPECT_FALSE(is_right(problem, wrong));
    }
  }
  auto wrong = problem.right;
  wrong.surface *= 1 - 2e-8;
  EXPECT_FALSE(is_right(problem, wrong));
}

}  // namespace
}  // namespace workloads::npb
