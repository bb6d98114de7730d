// SPDX-License-Identifier: BSD-3-Clause
// Schedules that both MPIs have: sums by powers of two, everybody with everybody, barriers; and whose is taken.
#include "schedules.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace simulated {

// Sums of vectors by powers of two (Rabenseifner): halve the vector among all, then bring the parts together. MPICH and
// Open MPI do it alike. Parts are even here, where theirs may differ by a number.

namespace {

/// Of the ranks, those beyond a power of two hand theirs to a neighbour before, and get the sum from it.
class Parts {
 public:
  explicit Parts(const Collective& c)
      : rank_(c.rank),
        count_(static_cast<int>(std::bit_floor(static_cast<unsigned>(c.ranks)))),
        surplus_(c.ranks - count_),
        bytes_(c.bytes) {
    if (rank_ >= 2 * surplus_) {
      own_ = rank_ - surplus_;
    } else if (rank_ % 2 == 1) {
      own_ = rank_ / 2;
    }
  }

  [[nodiscard]] int own() const { return own_; }  ///< -1: handed over
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] int surplus() const { return surplus_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  [[nodiscard]] int rank_of(int part) const { return part < surplus_ ? (2 * part) + 1 : part + surplus_; }
  [[nodiscard]] int rounds() const { return own_ < 0 ? 0 : std::countr_zero(static_cast<unsigned>(count_)); }

  /// Both ways with the part that differs in this bit.
  [[nodiscard]] Round exchange(int bit, Bytes bytes, Bytes reduced) const {
    const int peer = rank_of(own_ ^ bit);
    return {.steps = {{false, peer, bytes}, {true, peer, bytes}}, .reduced = reduced};
  }

  [[nodiscard]] Rounds fold() const {
    if (rank_ >= 2 * surplus_) {
      return fixed({});
    }
    return own_ < 0 ? fixed({{.steps = {{true, rank_ + 1, bytes_}}}})
                    : fixed({{.steps = {{false, rank_ - 1, bytes_}}, .reduced = bytes_}});
  }

  [[nodiscard]] Rounds unfold() const {
    if (rank_ >= 2 * surplus_) {
      return fixed({});
    }
    return fixed({{.steps = {own_ < 0 ? Step{false, rank_ + 1, bytes_} : Step{true, rank_ - 1, bytes_}}}});
  }

  [[nodiscard]] Rounds halve() const {
    return [*this](std::size_t k, Round& round) {
      if (static_cast<int>(k) >= rounds()) {
        return false;
      }
      const Bytes half = bytes_ >> (k + 1);
      round = exchange(1 << k, half, half);
      return true;
    };
  }

 private:
  int rank_;
  int count_;
  int surplus_;
  Bytes bytes_;
  int own_ = -1;
};

Rounds join_all(const Parts& parts) {
  return [parts](std::size_t k, Round& round) {
    if (static_cast<int>(k) >= parts.rounds()) {
      return false;
    }
    round =
        parts.exchange(parts.count() >> (k + 1), parts.bytes() >> (static_cast<std::size_t>(parts.rounds()) - k), 0);
    return true;
  };
}

/// Of two parts that differ in a bit, the upper one sends all that it has and is done.
Rounds join_at_first(const Parts& parts) {
  std::vector<Round> rounds;
  for (int k = 0; k < parts.rounds(); ++k) {
    const int bit = parts.count() >> (k + 1);
    const bool sends = (parts.own() & bit) != 0;
    rounds.push_back({.steps = {{sends, parts.rank_of(parts.own() ^ bit),
                                 (parts.bytes() / static_cast<Bytes>(parts.count())) << k}}});
    if (sends) {
      break;
    }
  }
  return fixed(std::move(rounds));
}

}  // namespace

Rounds halve_and_double(const Collective& c) {
  const Parts parts(c);
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): a std::function frees what it holds
  return behind(parts.fold(), behind(parts.halve(), behind(join_all(parts), parts.unfold())));
}

Rounds halve_and_gather(const Collective& c) {
  const Parts parts(c);
  Rounds last = fixed({});
  if (parts.surplus() > 0 && parts.own() == 0) {  // the root has handed over before, and gets the sum at the end
    last = fixed({{.steps = {{true, 0, c.bytes}}}});
  } else if (parts.surplus() > 0 && c.rank == 0) {
    last = fixed({{.steps = {{false, 1, c.bytes}}}});
  }
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): a std::function frees what it holds
  return behind(parts.fold(), behind(parts.halve(), behind(join_at_first(parts), last)));
}

Rounds exchange_all(const Collective& c) {
  const Parts parts(c);
  const Rounds middle = [parts](std::size_t k, Round& round) {
    if (static_cast<int>(k) >= parts.rounds()) {
      return false;
    }
    round = parts.exchange(1 << k, parts.bytes(), parts.bytes());
    return true;
  };
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): a std::function frees what it holds
  return behind(parts.fold(), behind(middle, parts.unfold()));
}

// Everybody of a group with everybody, each message as long as the program says. MPICH's Alltoallv and Ialltoallv post
// 32 receives and sends at a time, libnbc's Ialltoallv all at once. Open MPI's Alltoallv is taken to be as libnbc's:
// that of coll/tuned is in groups of 4 to 63; in pairs, of which a group of 2 has no more than one, in smaller and
// larger ones.

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
