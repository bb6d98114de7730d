// SPDX-License-Identifier: BSD-3-Clause
// The seconds that a simulated program is in its MPI calls, as common/phases.h measures those of a real one.
#pragma once

#include <utility>

#include "run.h"

namespace simulated {

/// What `call` returns; what it took is added to `spent`.
template <class Call>
auto timed(const Rank& rank, Seconds& spent, Call call) {
  const Seconds begin = rank.free_at();
  auto result = call();
  spent += rank.free_at() - begin;
  return result;
}

/// co_await: until `request` is complete, if there is one.
inline Task timed_wait(Rank& rank, RequestPtr request, Seconds& spent) {
  if (request) {
    const Seconds begin = rank.free_at();
    co_await rank.wait(std::move(request));
    spent += rank.now() - begin;
  }
}

}  // namespace simulated
