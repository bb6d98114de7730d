// SPDX-License-Identifier: BSD-3-Clause
// A nonblocking collective is a schedule: rounds of messages, each of which begins when the one before is complete.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "network.h"

namespace simulated {

struct Step {
  bool send;
  int peer;
  Bytes bytes;
  bool operator==(const Step&) const = default;
};

struct Round {
  std::vector<Step> steps;
  Bytes reduced = 0;  ///< added up when its messages are complete, before the next round
  bool operator==(const Round&) const = default;
};

/// Round k of one rank, made when it begins: nobody could keep all rounds of thousands of ranks. False behind the last.
using Rounds = std::function<bool(std::size_t k, Round& round)>;

/// Rounds that are known from the beginning.
Rounds fixed(std::vector<Round> rounds);
/// One behind the other.
Rounds behind(Rounds first, Rounds second);

struct Collective {
  std::string name;  ///< ibcast, ...
  int rank;
  int ranks;
  Bytes bytes;  ///< the vector of ibcast, ireduce, iallreduce; else the block from one rank to another
};

/// What rank does in a collective with root 0, as this MPI's own selection would have it: "mpich" (4.3's and 5.0's
/// table maint/tuning/coll/mpir/generic.json) or "openmpi" (5.0's coll/libnbc). Built-in operations on 8-byte numbers.
Rounds schedule_of(const std::string& whose, const Collective& collective);

/// MPI_Allreduce of a few numbers, which has algorithms of its own: MPICH's doubles, coll/tuned of Open MPI sums at one
/// rank from 128 ranks on.
Rounds allreduce(const std::string& whose, const Collective& collective);

/// A rank's part of MPI_Alltoallv or MPI_Ialltoallv in a group. What it has for itself is copied, and 0 here.
struct Exchanged {
  std::vector<int> ranks;  ///< of the group
  int place;               ///< among them, of this rank
  std::vector<Bytes> out;  ///< to each
  std::vector<Bytes> in;   ///< from each
};
Rounds alltoallv(const std::string& whose, Exchanged exchanged);

/// Dissemination: MPI_Barrier.
Rounds barrier(int rank, int ranks);

/// Sums by powers of two: to all, to rank 0, and of short vectors to all.
Rounds halve_and_double(const Collective& collective);
Rounds halve_and_gather(const Collective& collective);
Rounds exchange_all(const Collective& collective);

/// The two MPIs.
Rounds mpich_schedule(const Collective& collective);
Rounds openmpi_schedule(const Collective& collective);

}  // namespace simulated
