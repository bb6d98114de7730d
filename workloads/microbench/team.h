// SPDX-License-Identifier: BSD-3-Clause
// Several threads that communicate at the same time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/parameters.h"
#include "microbench/pair.h"
#include "microbench/ping_pong.h"

namespace workloads {

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
