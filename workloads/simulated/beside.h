// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks of overlap share: a communication alone, a computation alone, and both at the same time.
#pragma once

#include <vector>

#include "run.h"

namespace simulated {

struct Times {
  Seconds total = 0;
  Seconds inside = 0;
  Seconds wait = 0;
};

/// A point's computation: `part` seconds of it, then a test of the requests, and so on; 0: none before its end.
struct Work {
  Seconds all = 0;
  Seconds part = 0;
  bool asleep = false;  ///< it sleeps instead
};
Work work_of(const Json& point, const Model& model);

/// co_await: computes, with the tests that are wished.
Task compute_beside(Rank& rank, Work work, std::vector<RequestPtr> requests);
/// co_await: until all of them are complete.
Task wait_all(Rank& rank, std::vector<RequestPtr> requests);

/// As every benchmark of overlap records it. `closing`: what the closing of the total takes by itself.
void record(Measured& measured, const Times& alone, Seconds computation, const Times& beside, Seconds closing);

}  // namespace simulated
