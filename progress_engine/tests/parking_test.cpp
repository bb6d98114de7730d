// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "core/activity.hpp"

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
  for (int naps = 0; naps < 1000 && !woken; ++naps) woken = parking.nap([] { return false; });
  EXPECT_TRUE(woken) << "rung, whatever for";
  rung = true;
}

// Publishes work and rings at random moments of the sleeper's way to sleep: a lost ring would cost the whole bound.
void ring_many_times(int rounds, const std::function<void(Parking&, const std::function<bool()>&)>& sleep) {
  prepare_fences();
  Parking parking;
  std::atomic<int> work{0};
  std::atomic<int> done{0};
  std::jthread sleeper([&] {
    while (done < rounds) {
      sleep(parking, [&] { return work > done; });
      if (work > done) ++done;
    }
  });
  const Nanoseconds begin = now();
  for (int i = 1; i <= rounds; ++i) {
    work.store(i, std::memory_order_release);
    light_fence();
    if (parking.anyone()) parking.ring();
    while (done < i) {
      if (now() - begin > seconds(25)) break;  // reported below
    }
  }
  EXPECT_EQ(done, rounds);
  EXPECT_LT(now() - begin, seconds(25));
  work = rounds;
  parking.ring();
}

TEST(Parking, NoRingIsLost) {
  ring_many_times(20000, [](Parking& parking, const auto& has_work) { parking.park(has_work, seconds(30)); });
}

TEST(Parking, NoRingOfANapperIsLost) {
  ring_many_times(5000, [](Parking& parking, const auto& has_work) {
    if (!parking.nap(has_work)) parking.park(has_work, seconds(30));
  });
}

}  // namespace
}  // namespace progress_engine
