// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/partner.hpp"

namespace progress_engine {

namespace {

// From this length on MPIs ask the receiver on their node before they send (docs/explanation/engine.md).
constexpr long asks_from_bytes = 4096;

std::uint64_t key_of(const Runtime& runtime, MPI_Datatype type) {
  return runtime.sizes.key_of((std::uint64_t)type, 0);  // a pointer or an integer
}

}  // namespace

Partner::Does Partner::ring_before(Call& call, MPI_Comm communicator, int rank, long count, MPI_Datatype type) {
  const Runtime& runtime = call.runtime();
  if (!runtime.doorbell->has_neighbours()) return Does::look;
  if (count == 0) return Does::ring;  // the type of nothing may be no type
  const int size = runtime.sizes.find(key_of(runtime, type));
  if (size == RankCache::unknown) return Does::learn;
  if (count * size < asks_from_bytes) return Does::ring;
  const int world = call.known_world_rank(communicator, rank);
  if (world >= 0) call.ring(world, WakeupLine::Ring::coming);
  return world == RankCache::unknown ? Does::learn : Does::ring;
}

void Partner::learn(Call& call, int code, MPI_Comm communicator, int rank, MPI_Datatype type) {
  Runtime& runtime = call.runtime();
  if (code != MPI_SUCCESS) return;
  call.world_rank(communicator, rank);
  int size = 0;
  PE_PMPI(MPI_Type_size)(type, &size);
  runtime.sizes.remember(key_of(runtime, type), size < 0 ? 0 : size);
}

// Memory that the MPI itself allocated it shares between the processes of a node: operations need nobody there, and
// locks alone are asked for by messages. So it is in MPICH, Intel MPI and Open MPI.
bool Target::needs_answers() const {
  RankCache& ranks = call_.runtime().ranks;
  if (const int known = ranks.find(key(all)); known != RankCache::unknown) return known != 0;
  int* flavour = nullptr;
  int found = 0;
  PE_PMPI(MPI_Win_get_attr)(window_, MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&flavour), &found);
  const bool shared = found && (*flavour == MPI_WIN_FLAVOR_ALLOCATE || *flavour == MPI_WIN_FLAVOR_SHARED);
  ranks.remember(key(all), shared ? 0 : 1);
  return !shared;
}

int Target::learn_world_rank() const {
  if (rank_ < 0) return -1;
  const auto place = key(rank_);
  if (const int known = call_.runtime().ranks.find(place); known != RankCache::unknown) return known;
  return call_.learn_world_rank((std::uint64_t)window_, rank_, place,
                                [this](MPI_Group* group) { return PE_PMPI(MPI_Win_get_group)(window_, group); });
}

void Target::ring_known() const {
  const RankCache& ranks = call_.runtime().ranks;
  if (rank_ == all && ranks.find(key(all)) > 0)
    call_.doorbell()->ring_partners();
  else if (const int world = rank_ < 0 ? -1 : ranks.find(key(rank_)); world >= 0)
    call_.ring(world, WakeupLine::Ring::coming);
}

void Target::ring_if_asked() const {
  if (!needs_answers()) return;
  if (const int world = learn_world_rank(); world >= 0) call_.ring(world, WakeupLine::Ring::sent);
}

}  // namespace progress_engine
