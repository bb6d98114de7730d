// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/world_ranks.hpp"

#include "mpi/symbols.hpp"

namespace progress_engine {
namespace {

// The group that ranks in calls with this communicator belong to.
int group_of(MPI_Comm communicator, MPI_Group* group) {
  int between_two = 0;
  if (const int code = PE_PMPI(MPI_Comm_test_inter)(communicator, &between_two); code != MPI_SUCCESS) return code;
  return between_two ? PE_PMPI(MPI_Comm_remote_group)(communicator, group)
                     : PE_PMPI(MPI_Comm_group)(communicator, group);
}

}  // namespace

int WorldRanks::ask(MPI_Comm communicator, int rank, std::uint64_t key) {
  MPI_Group group{};
  MPI_Group world{};
  if (group_of(communicator, &group) != MPI_SUCCESS) return -1;
  PE_PMPI(MPI_Comm_group)(world_, &world);
  int found = MPI_UNDEFINED;
  PE_PMPI(MPI_Group_translate_ranks)(group, 1, &rank, world, &found);
  PE_PMPI(MPI_Group_free)(&group);
  PE_PMPI(MPI_Group_free)(&world);
  if (found < 0) found = -1;  // MPI_UNDEFINED
  Entry& entry = entries_[key % size];
  const auto value = static_cast<std::uint64_t>(found) + 1;
  entry.value.store(value, std::memory_order_relaxed);
  entry.check.store(key ^ value, std::memory_order_relaxed);
  return found;
}

}  // namespace progress_engine
