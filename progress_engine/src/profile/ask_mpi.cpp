// SPDX-License-Identifier: BSD-3-Clause
#include "profile/ask_mpi.hpp"

#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace progress_engine::profile {
namespace {

// Of a communicator the ranks in the world of those who are sent to, in its order.
using Ranks = std::vector<int>;

struct Communicators {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Ranks> known;
  std::optional<MPI_Group> world;
};

Communicators& communicators() {
  static auto* all = new Communicators;
  return *all;
}

Ranks ask(MPI_Comm communicator, MPI_Group world) {
  int between = 0;
  int size = 0;
  MPI_Group group{};
  PE_PMPI(MPI_Comm_test_inter)(communicator, &between);
  between ? PE_PMPI(MPI_Comm_remote_group)(communicator, &group) : PE_PMPI(MPI_Comm_group)(communicator, &group);
  PE_PMPI(MPI_Group_size)(group, &size);
  Ranks own(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  Ranks found(own.size(), Stream::unknown);
  PE_PMPI(MPI_Group_translate_ranks)(group, size, own.data(), world, found.data());
  for (int& rank : found) rank = rank < 0 ? Stream::unknown : rank;  // MPI_UNDEFINED, of processes of another world
  PE_PMPI(MPI_Group_free)(&group);
  return found;
}

Stream stream_of(MPI_Comm communicator, int rank, int tag, bool sends) {
  if (rank == MPI_PROC_NULL) return {};
  if (rank < 0 || tag < 0) return {.peer = Stream::anyone};
  auto& [mutex, known, world] = communicators();
  const std::scoped_lock lock(mutex);
  if (!world) return {};
  auto found = known.find(bits(communicator));
  if (found == known.end()) found = known.emplace(bits(communicator), ask(communicator, *world)).first;
  const auto& ranks = found->second;
  const auto at = static_cast<std::size_t>(rank);
  if (at >= ranks.size()) return {};
  return {.peer = ranks[at], .tag = tag, .size = static_cast<int>(ranks.size()), .sends = sends};
}

}  // namespace

Stream sent(MPI_Comm communicator, int rank, int tag) { return stream_of(communicator, rank, tag, true); }

Stream received(MPI_Comm communicator, int rank, int tag) { return stream_of(communicator, rank, tag, false); }

void keep_world(MPI_Group group) {
  const std::scoped_lock lock(communicators().mutex);
  if (auto& world = communicators().world) PE_PMPI(MPI_Group_free)(&*world);
  communicators().world = group;
}

void forget_world() {
  const std::scoped_lock lock(communicators().mutex);
  communicators().known.clear();
  if (auto& world = communicators().world) PE_PMPI(MPI_Group_free)(&*world);
  communicators().world.reset();
}

void forget_communicator(MPI_Comm communicator) {
  auto& [mutex, known, world] = communicators();
  const std::scoped_lock lock(mutex);
  known.erase(bits(communicator));
}

}  // namespace progress_engine::profile
