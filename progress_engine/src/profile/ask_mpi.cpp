// SPDX-License-Identifier: BSD-3-Clause
#include "profile/ask_mpi.hpp"

#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace progress_engine::profile {
namespace {

// Of a communicator the ranks in the world of those who are sent to, in its order.
struct Ranks {
  std::vector<int> all;
  std::uint64_t number = 0;  // of the same ranks the same; 0: who sends to them are others
};

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
  std::vector<int> own(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  std::vector<int> found(own.size(), Stream::unknown);
  PE_PMPI(MPI_Group_translate_ranks)(group, size, own.data(), world, found.data());
  for (int& rank : found) rank = rank < 0 ? Stream::unknown : rank;  // MPI_UNDEFINED, of processes of another world
  PE_PMPI(MPI_Group_free)(&group);
  if (between) return {std::move(found)};
  std::uint64_t number = 14695981039346656037U;  // FNV-1a, by rank
  for (const int rank : found) number = (number ^ static_cast<std::uint64_t>(rank)) * 1099511628211U;
  return {std::move(found), number};
}

// `use(ranks)` of a communicator; nothing where no world is known.
template <typename Use>
Stream with_ranks(MPI_Comm communicator, Use&& use) {
  auto& [mutex, known, world] = communicators();
  const std::scoped_lock lock(mutex);
  if (!world) return {};
  auto found = known.find(bits(communicator));
  if (found == known.end()) found = known.emplace(bits(communicator), ask(communicator, *world)).first;
  return use(found->second);
}

Stream stream_of(MPI_Comm communicator, int rank, int tag, bool sends) {
  if (rank == MPI_PROC_NULL) return {};
  if (rank < 0 || tag < 0) return {.peer = Stream::anyone};
  return with_ranks(communicator, [&](const Ranks& ranks) -> Stream {
    const auto at = static_cast<std::size_t>(rank);
    if (at >= ranks.all.size()) return {};
    return {.peer = ranks.all[at], .tag = tag, .size = static_cast<int>(ranks.all.size()), .sends = sends};
  });
}

}  // namespace

Stream sent(MPI_Comm communicator, int rank, int tag) { return stream_of(communicator, rank, tag, true); }

Stream received(MPI_Comm communicator, int rank, int tag) { return stream_of(communicator, rank, tag, false); }

Stream collective(MPI_Comm communicator, std::uint16_t function) {
  return with_ranks(communicator, [function](const Ranks& ranks) -> Stream {
    if (ranks.number == 0) return {};
    const auto size = static_cast<int>(ranks.all.size());
    return {.peer = Stream::everyone, .tag = function, .size = size, .group = ranks.number};
  });
}

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
