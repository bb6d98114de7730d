// SPDX-License-Identifier: BSD-3-Clause
// User-level threads of Boost.Fiber.
#include <boost/fiber/barrier.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>

#include "ult/stealing.h"
#include "ult/team.h"

namespace workloads {
namespace {

namespace fibers = boost::fibers;

thread_local std::size_t worker_index = 0;

}  // namespace

double run_user_level_threads(std::size_t workers, std::size_t count, const Body& body) {
  StealingTeam team(workers);
  fibers::barrier schedulers_ready(workers);
  fibers::barrier all_done(workers);
  return run_kernel_threads(workers, [&](std::size_t worker) {
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

void run_beside(std::size_t count, const Body& body) {
  std::vector<fibers::fiber> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back(fibers::launch::post, [&body, i] { body(i); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

void yield_user_level_thread() { boost::this_fiber::yield(); }

// Not inlined: the address of a thread-local value must not be kept across a suspension.
[[gnu::noinline]] std::size_t this_worker() { return worker_index; }

}  // namespace workloads
