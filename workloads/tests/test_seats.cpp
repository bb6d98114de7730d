// SPDX-License-Identifier: BSD-3-Clause
// Which CPUs the threads of a placement get.
#include <gtest/gtest.h>

#include "interference/mwait.h"
#include "interference/seats.h"

namespace workloads {
namespace {

/// Two sockets of two cores of two threads; CPU n and n + 4 share a core, a socket one last level cache.
std::vector<CpuPlace> server() {
  std::vector<CpuPlace> places;
  for (int cpu = 0; cpu < 8; ++cpu) {
    const int package = (cpu % 4) / 2;
    places.push_back({.cpu = cpu, .package = package, .core = cpu % 2, .l3 = package == 0 ? "0-1,4-5" : "2-3,6-7"});
  }
  return places;
}

TEST(Seats, AreWhereThePlacementSays) {
  const auto same = find_seats("same-core", server(), true);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->victim, same->waiting);
  EXPECT_EQ(same->partner % 4 == same->victim % 4, false);
  const auto sibling = find_seats("smt-sibling", server(), true);
  ASSERT_TRUE(sibling);
  EXPECT_EQ(sibling->waiting, sibling->victim + 4);
  const auto near = find_seats("same-l3", server(), true);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->waiting, 1);
  EXPECT_EQ(near->partner, 2) << "neither the victim's core nor the waiting thread's";
  const auto far = find_seats("other-socket", server(), false);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->waiting, 2);
}

TEST(Seats, AreNoneWhereTheMachineHasNone) {
  const std::vector<CpuPlace> two{{.cpu = 0, .package = 0, .core = 0, .l3 = "0-1"},
                                  {.cpu = 1, .package = 0, .core = 1, .l3 = "0-1"}};
  EXPECT_FALSE(find_seats("smt-sibling", two, true));
  EXPECT_FALSE(find_seats("other-socket", two, false));
  EXPECT_FALSE(find_seats("same-l3", two, true)) << "no core is left for the partner";
  EXPECT_TRUE(find_seats("same-l3", two, false));
  EXPECT_TRUE(find_seats("same-core", two, true));
}

TEST(Seats, OfAMachineThatSaysNothing) {
  const auto places = cpu_places({3, 5}, "/nowhere");
  ASSERT_EQ(places.size(), 2U);
  EXPECT_NE(places[0].core, places[1].core);
}

TEST(Mwait, EndsByAStoreOrByItself) {
  if (mwait_here() == Mwait::none) {
    GTEST_SKIP() << "this CPU shows neither UMWAIT nor MWAITX";
  }
  const std::atomic<std::uint32_t> word{1};
  mwait_for_store(mwait_here(), word, 0, Depth::deep);
  mwait_for_store(mwait_here(), word, 1, Depth::light);
}

}  // namespace
}  // namespace workloads
