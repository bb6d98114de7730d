// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "core/activity.hpp"
#include "ring_many_times.hpp"

namespace progress_engine {
namespace {

TEST(Parking, DoesNotSleepWhileThereIsWork) {
  prepare_fences();
  Parking parking;
  EXPECT_FALSE(parking.park([] { return true; }, seconds(60)));
}

TEST(Parking, EverySleepEnds) {
  prepare_fences();
  Parking parking;
  const Nanoseconds before = now();
  EXPECT_TRUE(parking.park([] { return false; }, microseconds(2000)));
  EXPECT_GE(now() - before, microseconds(2000));
}

TEST(Parking, ANapEndsByItselfOrByARing) {
  prepare_fences();
  Parking parking;
  EXPECT_TRUE(parking.nap([] { return true; })) << "there is work";
  const Nanoseconds before = now();
  EXPECT_FALSE(parking.nap([] { return false; }));
  EXPECT_GE(now() - before, Parking::longest_nap);
  std::atomic<bool> rung{false};
  std::jthread ringer([&] {
    while (!rung)
      if (parking.anyone()) parking.ring();
  });
  bool woken = false;  // on a busy machine the ringer may get no CPU during the first naps
  for (const Nanoseconds end = now() + patience; !woken && now() < end;) woken = parking.nap([] { return false; });
  EXPECT_TRUE(woken) << "rung, whatever for";
  rung = true;
}

void ring_many_times(int rounds, const std::function<void(Parking&, const std::function<bool()>&)>& sleep) {
  prepare_fences();
  Parking parking;
  Rings rings;
  ring_many_times(
      rounds, rings, [&] { sleep(parking, [&] { return rings.one_waits(); }); },
      [&] {
        light_fence();
        if (parking.anyone()) parking.ring();
      });
}

TEST(Parking, NoRingIsLost) {
  ring_many_times(20000, [](Parking& parking, const auto& has_work) { parking.park(has_work, for_ever); });
}

TEST(Parking, NoRingOfANapperIsLost) {
  ring_many_times(5000, [](Parking& parking, const auto& has_work) {
    if (!parking.nap(has_work)) parking.park(has_work, for_ever);
  });
}

}  // namespace
}  // namespace progress_engine
