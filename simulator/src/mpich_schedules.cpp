// SPDX-License-Identifier: BSD-3-Clause
// MPICH's schedules for communicators that are not split by node. Where MPICH's blocks may be uneven by a few bytes,
// these are even.
#include <algorithm>
#include <bit>
#include <utility>

#include "schedules.h"

namespace simulated {
namespace {

constexpr Bytes short_reduction = 2048;
constexpr Bytes short_broadcast = 12288;
constexpr Bytes long_broadcast = 524288;
constexpr int few_ranks = 8;
constexpr Bytes long_gathering = 524288;
constexpr Bytes short_gathering = 81920;
constexpr Bytes short_exchange = 2048;
constexpr Bytes medium_exchange = 32768;
constexpr int throttle = 32;
constexpr Bytes word = 8;

bool power_of_two(int n) { return std::has_single_bit(static_cast<unsigned>(n)); }
/// The bit by which a rank hangs in a binomial tree at 0; of the root a bit above all.
int bit_of(int rank, int ranks) {
  return rank == 0 ? static_cast<int>(std::bit_ceil(static_cast<unsigned>(ranks))) : rank & -rank;
}

// ---- trees

/// Everybody below in the tree gets `block` for each rank of its own branch (0: the whole, `bytes`).
Rounds down_the_tree(int rank, int ranks, Bytes bytes, bool personal) {
  const auto branch = [=](int child, int bit) {
    return personal ? bytes * static_cast<Bytes>(std::min(bit, ranks - child)) : bytes;
  };
  std::vector<Round> rounds;
  const int own = bit_of(rank, ranks);
  if (rank != 0) {
    rounds.push_back({.steps = {{false, rank - own, branch(rank, own)}}});
  }
  Round sends;
  for (int bit = own / 2; bit > 0; bit /= 2) {
    if (rank + bit < ranks) {
      sends.steps.push_back({true, rank + bit, branch(rank + bit, bit)});
    }
  }
  if (!sends.steps.empty()) {
    rounds.push_back(std::move(sends));
  }
  return fixed(std::move(rounds));
}

/// The children's data come one after the other, as each is known only then; then all of it goes up.
Rounds up_the_tree(int rank, int ranks, Bytes bytes, bool personal) {
  const auto branch = [=](int child, int bit) {
    return personal ? bytes * static_cast<Bytes>(std::min(bit, ranks - child)) : bytes;
  };
  std::vector<Round> rounds;
  Round all;
  const int own = bit_of(rank, ranks);
  for (int bit = 1; bit < own && rank + bit < ranks; bit *= 2) {
    const Step step{false, rank + bit, branch(rank + bit, bit)};
    if (personal) {
      all.steps.push_back(step);
    } else {
      rounds.push_back({.steps = {step}, .reduced = bytes});
    }
  }
  if (!all.steps.empty()) {
    rounds.push_back(std::move(all));
  }
  if (rank != 0) {
    rounds.push_back({.steps = {{true, rank - own, branch(rank, own)}}});
  }
  return fixed(std::move(rounds));
}

// ---- exchanges

Rounds recursive_doubling(int rank, int ranks, const std::function<Bytes(int)>& bytes) {
  return [=](std::size_t k, Round& round) {
    const int distance = 1 << k;
    if (distance >= ranks) {
      return false;
    }
    const Bytes size = bytes(static_cast<int>(k));
    round.steps = {{false, rank ^ distance, size}, {true, rank ^ distance, size}};
    return true;
  };
}

Rounds ring(int rank, int ranks, Bytes block) {
  return [=](std::size_t k, Round& round) {
    if (static_cast<int>(k) >= ranks - 1) {
      return false;
    }
    round.steps = {{false, (rank - 1 + ranks) % ranks, block}, {true, (rank + 1) % ranks, block}};
    return true;
  };
}

/// Bruck: `blocks(distance)` of them travel that far.
Rounds bruck(int rank, int ranks, Bytes block, bool toward_lower, const std::function<int(int)>& blocks) {
  return [=](std::size_t k, Round& round) {
    const int distance = 1 << k;
    if (distance >= ranks) {
      return false;
    }
    const int up = (rank + distance) % ranks;
    const int down = (rank - distance + ranks) % ranks;
    const Bytes size = block * static_cast<Bytes>(blocks(distance));
    round.steps = {{false, toward_lower ? up : down, size}, {true, toward_lower ? down : up, size}};
    return true;
  };
}

/// How many of `ranks` blocks have this bit in their number.
int with_bit(int bit, int ranks) {
  const int whole = ranks / (2 * bit) * bit;
  return whole + std::max(0, (ranks % (2 * bit)) - bit);
}

// ---- the collectives

bool is_short(const Collective& c) {
  return c.bytes <= short_reduction || c.bytes / word < std::bit_floor(static_cast<unsigned>(c.ranks));
}

Rounds ibcast(const Collective& c) {
  if (c.bytes < short_broadcast || c.ranks < few_ranks) {
    return down_the_tree(c.rank, c.ranks, c.bytes, false);
  }
  const Bytes block = c.bytes / static_cast<Bytes>(c.ranks);
  const Rounds scattered = down_the_tree(c.rank, c.ranks, block, true);
  if (power_of_two(c.ranks) && c.bytes < long_broadcast) {
    return behind(scattered, recursive_doubling(c.rank, c.ranks, [=](int k) { return block << k; }));
  }
  return behind(scattered, ring(c.rank, c.ranks, block));
}

Rounds iallgather(const Collective& c) {
  const Bytes total = c.bytes * static_cast<Bytes>(c.ranks);
  if (power_of_two(c.ranks) && total < long_gathering) {
    return recursive_doubling(c.rank, c.ranks, [bytes = c.bytes](int k) { return bytes << k; });
  }
  if (total < short_gathering) {
    return bruck(c.rank, c.ranks, c.bytes, true,
                 [ranks = c.ranks](int distance) { return std::min(distance, ranks - distance); });
  }
  return ring(c.rank, c.ranks, c.bytes);
}

Rounds ialltoall(const Collective& c) {
  const auto [name, rank, ranks, bytes] = c;
  if (bytes <= short_exchange && ranks >= few_ranks) {
    return bruck(rank, ranks, bytes, false, [=](int distance) { return with_bit(distance, ranks); });
  }
  if (bytes <= medium_exchange) {
    return [=](std::size_t k, Round& round) {
      const int first = static_cast<int>(k) * throttle;
      if (first >= ranks) {
        return false;
      }
      for (int i = first; i < std::min(ranks, first + throttle); ++i) {
        if (i > 0) {  // what a rank sends to itself costs nothing here
          round.steps.push_back({false, (rank + i) % ranks, bytes});
          round.steps.push_back({true, (rank - i + ranks) % ranks, bytes});
        }
      }
      return true;
    };
  }
  return [=](std::size_t k, Round& round) {
    const int i = static_cast<int>(k) + 1;
    if (i >= ranks) {
      return false;
    }
    const int to = power_of_two(ranks) ? rank ^ i : (rank + i) % ranks;
    const int from = power_of_two(ranks) ? to : (rank - i + ranks) % ranks;
    round.steps = {{false, from, bytes}, {true, to, bytes}};
    return true;
  };
}

}  // namespace

Rounds mpich_schedule(const Collective& c) {
  if (c.name == "igather") {
    return up_the_tree(c.rank, c.ranks, c.bytes, true);
  }
  if (c.name == "iscatter") {
    return down_the_tree(c.rank, c.ranks, c.bytes, true);
  }
  if (c.name == "ibcast") {
    return ibcast(c);
  }
  if (c.name == "ireduce") {
    return is_short(c) ? up_the_tree(c.rank, c.ranks, c.bytes, false) : halve_and_gather(c);
  }
  if (c.name == "iallreduce") {
    return is_short(c) ? exchange_all(c) : halve_and_double(c);
  }
  return c.name == "iallgather" ? iallgather(c) : ialltoall(c);
}

}  // namespace simulated
