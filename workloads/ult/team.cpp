// SPDX-License-Identifier: BSD-3-Clause
#include "ult/team.h"

#include <algorithm>
#include <boost/fiber/barrier.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <latch>
#include <thread>

#include "common/clock.h"
#include "ult/stealing.h"

namespace workloads {
namespace {

namespace fibers = boost::fibers;

thread_local std::size_t worker_index = 0;

/// `count` kernel threads that begin together; the seconds from the first one's beginning until the last has ended.
/// On one CPU the caller may not run again before they have ended: it cannot tell when they began.
double run_threads(std::size_t count, const Body& body) {
  std::latch all_there(static_cast<std::ptrdiff_t>(count));
  std::vector<Clock::time_point> begins(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all_there.arrive_and_wait();
      begins[i] = Clock::now();
      body(i);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return seconds_since(*std::ranges::min_element(begins));
}

}  // namespace

double run_kernel_threads(std::size_t count, const Body& body) { return run_threads(count, body); }

double run_user_level_threads(std::size_t workers, std::size_t count, const Body& body) {
  StealingTeam team(workers);
  fibers::barrier schedulers_ready(workers);
  fibers::barrier all_done(workers);
  return run_threads(workers, [&](std::size_t worker) {
    worker_index = worker;
    fibers::use_scheduling_algorithm<Stealing>(&team, worker);
    schedulers_ready.wait();
    std::vector<fibers::fiber> mine;
    for (std::size_t task = worker; task < count; task += workers) {
      mine.emplace_back(fibers::launch::post, [&body, task] { body(task); });
    }
    for (auto& fiber : mine) {
      fiber.join();
    }
    all_done.wait();
  });
}

void yield_user_level_thread() { boost::this_fiber::yield(); }

// Not inlined: the address of a thread-local value must not be kept across a suspension.
[[gnu::noinline]] std::size_t this_worker() { return worker_index; }

}  // namespace workloads
