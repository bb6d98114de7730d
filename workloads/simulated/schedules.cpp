// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "schedule.h"

namespace simulated {

Rounds fixed(std::vector<Round> rounds) {
  return [rounds = std::move(rounds)](std::size_t k, Round& round) {
    if (k >= rounds.size()) {
      return false;
    }
    round = rounds[k];
    return true;
  };
}

Rounds behind(Rounds first, Rounds second) {
  return [first = std::move(first), second = std::move(second), begin = std::size_t{0}, over = false](
             std::size_t k, Round& round) mutable {
    if (!over) {
      if (first(k, round)) {
        return true;
      }
      over = true;
      begin = k;
    }
    return second(k - begin, round);
  };
}

Rounds schedule_of(const std::string& whose, const Collective& collective) {
  return whose == "openmpi" ? openmpi_schedule(collective) : mpich_schedule(collective);
}

Rounds allreduce(const std::string& whose, const Collective& collective) {
  constexpr int many = 128;
  if (whose == "openmpi" && collective.ranks >= many) {
    return openmpi_schedule(
        {.name = "iallreduce", .rank = collective.rank, .ranks = collective.ranks, .bytes = collective.bytes});
  }
  return exchange_all(collective);
}

Rounds barrier(int rank, int ranks) {
  return [=](std::size_t k, Round& round) {
    const auto distance = 1L << k;
    if (distance >= ranks) {
      return false;
    }
    const int far = static_cast<int>(distance);
    round.steps = {{false, (rank - far + ranks) % ranks, 0}, {true, (rank + far) % ranks, 0}};
    return true;
  };
}

}  // namespace simulated
