// SPDX-License-Identifier: BSD-3-Clause
#include "turns.h"

#include <cmath>
#include <utility>

namespace simulated {

int threads_beside(const AsyncThread& async, int rank, int ranks) {
  return std::cmp_equal(async.beside.size(), ranks) ? async.beside[static_cast<std::size_t>(rank)] : 1;
}

Turns::Turns(const AsyncThread& async, int rank, int ranks)
    : slice_(async.slice), beside_(threads_beside(async, rank, ranks)) {
  int before = 0;  // places for threads are filled in the order of the ranks
  for (int host = 0; host < ranks; ++host) {
    const int there = threads_beside(async, host, ranks);
    if (rank < before + there) {
      beside_thread_ = there;
      place_ = rank - before + 1;
      return;
    }
    before += there;
  }
}

Seconds Turns::computed(Seconds from, Seconds work) const {
  if (beside_ == 0) {
    return from + work;
  }
  const Seconds begin = program_at(from);
  const Seconds cycle = slice_ * (beside_ + 1);
  const Seconds left = slice_ - std::fmod(begin, cycle);  // of the turn that it has then
  if (work <= left) {
    return begin + work;
  }
  const Seconds rest = work - left;
  const double whole = std::ceil(rest / slice_) - 1;  // turns before the last
  return begin + left + (cycle - slice_) + (whole * cycle) + rest - (whole * slice_);
}

Seconds Turns::at(Seconds time, int others, int place) const {
  if (others == 0) {
    return time;
  }
  const Seconds cycle = slice_ * (others + 1);
  const Seconds since = std::fmod(time - (slice_ * place) + cycle, cycle);  // its last turn began
  return since < slice_ ? time : time + cycle - since;
}

}  // namespace simulated
