// SPDX-License-Identifier: BSD-3-Clause
// Sums of vectors by powers of two (Rabenseifner): halve the vector among all, then bring the parts together. MPICH and
// Open MPI do it alike. Parts are even here, where theirs may differ by a number.
#include <bit>
#include <utility>

#include "schedule.h"

namespace simulated {
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
  return behind(parts.fold(), behind(middle, parts.unfold()));
}

}  // namespace simulated
