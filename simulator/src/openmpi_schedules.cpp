// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's schedules (coll/libnbc): mostly everybody with everybody at once.
#include <algorithm>
#include <bit>
#include <utility>

#include "schedules.h"

namespace simulated {
namespace {

constexpr Bytes small = 65536;
constexpr Bytes medium = 524288;
constexpr Bytes word = 8;

int floor_of_two(int n) { return static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); }

/// To or from everybody else, in the order of their numbers, at once.
Rounds with_all(int rank, int ranks, Bytes bytes, bool sends, bool receives) {
  return [=](std::size_t k, Round& round) {
    if (k > 0) {
      return false;
    }
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer != rank && receives) {
        round.steps.push_back({false, peer, bytes});
      }
      if (peer != rank && sends) {
        round.steps.push_back({true, peer, bytes});
      }
    }
    return true;
  };
}

Rounds with_root(const Collective& c, bool root_sends) {
  if (c.rank == 0) {
    return with_all(0, c.ranks, c.bytes, root_sends, !root_sends);
  }
  return fixed({{.steps = {{!root_sends, 0, c.bytes}}}});
}

/// The binomial tree whose nearest children are the nearest numbers: rank r receives from r without its highest bit.
Rounds binomial_broadcast(int rank, int ranks, Bytes bytes) {
  std::vector<Round> rounds;
  if (rank != 0) {
    rounds.push_back({.steps = {{false, rank - floor_of_two(rank), bytes}}});
  }
  Round sends;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if (rank < bit && rank + bit < ranks) {
      sends.steps.push_back({true, rank + bit, bytes});
    }
  }
  if (!sends.steps.empty()) {
    rounds.push_back(std::move(sends));
  }
  return fixed(std::move(rounds));
}

Rounds binomial_reduction(int rank, int ranks, Bytes bytes) {
  std::vector<Round> rounds;
  for (int bit = 1; bit < ranks; bit *= 2) {
    if (rank % (2 * bit) != 0) {
      rounds.push_back({.steps = {{true, rank - bit, bytes}}});
      break;
    }
    if (rank + bit < ranks) {
      rounds.push_back({.steps = {{false, rank + bit, bytes}}, .reduced = bytes});
    }
  }
  return fixed(std::move(rounds));
}

/// Piece by piece along the ranks: of each but the first piece the sending begins with the next receive.
Rounds chain(int rank, int ranks, Bytes bytes, Bytes segment, bool downward) {
  const auto pieces = static_cast<std::size_t>((bytes + segment - 1) / segment);
  const Bytes piece = bytes / pieces;
  const int before = downward ? rank - 1 : rank + 1;
  const int after = downward ? rank + 1 : rank - 1;
  const auto there = [=](int peer) { return peer >= 0 && peer < ranks; };
  const auto size = [=](std::size_t k) { return k + 1 == pieces ? bytes - (piece * (pieces - 1)) : piece; };
  return [=](std::size_t k, Round& round) {
    const std::size_t last = there(before) && there(after) ? pieces : pieces - 1;
    if (k > last) {
      return false;
    }
    const std::size_t sent = there(before) ? k - 1 : k;
    if (there(before) && k < pieces) {
      round.steps.push_back({false, before, size(k)});
      round.reduced = downward ? 0 : size(k);
    }
    if (there(after) && (there(before) ? k > 0 : k < pieces)) {
      round.steps.push_back({true, after, size(sent)});
    }
    return true;
  };
}

Rounds ireduce(const Collective& c) {
  if (c.ranks > 2 && c.bytes / word >= static_cast<Bytes>(floor_of_two(c.ranks))) {
    return halve_and_gather(c);
  }
  if (c.ranks > 4 || c.bytes < small) {
    return binomial_reduction(c.rank, c.ranks, c.bytes);
  }
  constexpr Bytes segment = 8192;
  return chain(c.rank, c.ranks, c.bytes, segment, false);
}

Rounds iallreduce(const Collective& c) {
  if (c.ranks < 4 || c.bytes < small || c.bytes / word < static_cast<Bytes>(floor_of_two(c.ranks))) {
    return behind(binomial_reduction(c.rank, c.ranks, c.bytes), binomial_broadcast(c.rank, c.ranks, c.bytes));
  }
  return halve_and_double(c);
}

Rounds ibcast(const Collective& c) {
  constexpr int few_ranks = 4;
  if (c.ranks <= few_ranks) {
    return with_root(c, true);
  }
  if (c.bytes < small) {
    return binomial_broadcast(c.rank, c.ranks, c.bytes);
  }
  constexpr Bytes short_segment = 8192;
  constexpr Bytes long_segment = 32768;
  return chain(c.rank, c.ranks, c.bytes, c.bytes < medium ? short_segment : long_segment, true);
}

}  // namespace

Rounds openmpi_schedule(const Collective& c) {
  if (c.name == "igather" || c.name == "iscatter") {
    return with_root(c, c.name == "iscatter");
  }
  if (c.name == "ibcast") {
    return ibcast(c);
  }
  if (c.name == "ireduce") {
    return ireduce(c);
  }
  if (c.name == "iallreduce") {
    return iallreduce(c);
  }
  return with_all(c.rank, c.ranks, c.bytes, true, true);
}

}  // namespace simulated
