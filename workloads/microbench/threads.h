// SPDX-License-Identifier: BSD-3-Clause
// Threads beside a rank's own: those that do nothing but compute, and those that communicate at the same time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "common/noncopyable.h"
#include "common/parameters.h"
#include "microbench/pair.h"
#include "microbench/ping_pong.h"

namespace workloads {

// Threads that do nothing but compute: what a communication has to compete with.

/// They run where the process may run, and sleep until started. Used from one thread.
class ComputingThreads : NonCopyable {
 public:
  /// std::bad_alloc if there is no memory for their work, std::system_error if there can be no such thread.
  ComputingThreads(int count, WorkKind kind);
  ~ComputingThreads();

  /// Returns when all of them compute.
  void start();

  /// Returns when none of them does any more. Units of work a second, of all together, since start().
  double stop();

 private:
  enum class Order : std::uint8_t { sleep, compute, end };
  struct Member {
    std::unique_ptr<FixedWork> work;
    std::atomic<std::uint64_t> units = 0;
    std::thread thread;
  };

  void give(Order order);
  void live(Member& member);
  /// Sleeps, in small steps, until so many of them compute.
  void await_computing(int count) const;
  [[nodiscard]] std::uint64_t units() const;

  std::atomic<Order> order_ = Order::sleep;
  std::atomic<int> computing_ = 0;
  std::vector<Member> members_;
  Clock::time_point started_;
  std::uint64_t units_at_start_ = 0;
};

// Several threads that communicate at the same time.

/// "receivers", "pairs": a number of threads that the point must give.
Parameter threads_parameter(const std::string& name, const std::string& meaning);

/// This rank's sides of `count` ping-pongs with its partner, each with a tag of its own.
std::vector<PingPong> make_ping_pongs(const Pair& pair, int count, std::size_t bytes);

/// Runs body(0) ... body(count - 1), each in a thread of its own, none before all threads are there. Returns when all
/// are done. `body` must not throw. std::system_error if there can be no such thread.
void run_together(std::size_t count, const std::function<void(std::size_t)>& body);

/// The first non-empty sentence that `problem_of` says of one of `things`; empty if there is none.
template <class Things, class ProblemOf>
std::string first_problem(Things& things, ProblemOf problem_of) {
  std::string first;
  for (auto& thing : things) {
    first = first.empty() ? problem_of(thing) : first;
  }
  return first;
}

}  // namespace workloads
