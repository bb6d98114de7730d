// SPDX-License-Identifier: BSD-3-Clause
// Everybody of a group with everybody, each message as long as the program says. MPICH's Alltoallv and Ialltoallv post
// 32 receives and sends at a time, libnbc's Ialltoallv all at once. Open MPI's Alltoallv is taken to be as libnbc's:
// that of coll/tuned is in groups of 4 to 63; in pairs, of which a group of 2 has no more than one, in smaller and
// larger ones.
#include <algorithm>
#include <utility>

#include "schedule.h"

namespace simulated {
namespace {

constexpr int throttle = 32;

void add(Round& round, const Exchanged& exchanged, int place, bool send) {
  const auto at = static_cast<std::size_t>(place);
  const Bytes bytes = (send ? exchanged.out : exchanged.in)[at];
  if (bytes > 0) {  // neither sends what is empty
    round.steps.push_back({send, exchanged.ranks[at], bytes});
  }
}

}  // namespace

Rounds alltoallv(const std::string& whose, Exchanged exchanged) {
  const auto count = static_cast<int>(exchanged.ranks.size());
  if (whose == "openmpi") {
    Round all;
    for (int place = 0; place < count; ++place) {
      add(all, exchanged, place, false);
      add(all, exchanged, place, true);
    }
    return fixed({std::move(all)});
  }
  return [count, exchanged = std::move(exchanged)](std::size_t k, Round& round) {
    const int first = static_cast<int>(k) * throttle;
    const int end = std::min(count, first + throttle);
    if (first >= count) {
      return false;
    }
    for (int i = first; i < end; ++i) {
      add(round, exchanged, (exchanged.place + i) % count, false);
    }
    for (int i = first; i < end; ++i) {
      add(round, exchanged, (exchanged.place - i + count) % count, true);
    }
    return true;
  };
}

}  // namespace simulated
