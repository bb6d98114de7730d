// SPDX-License-Identifier: BSD-3-Clause
#include "offload/known.hpp"

#include "mpi/mpi_header.hpp"

namespace progress_engine::offload {

KnownTypes& known_types() {
  static auto* types = new KnownTypes;  // never destroyed: threads may send until the process ends
  return *types;
}

KnownCommunicators& known_communicators() {
  static auto* communicators = new KnownCommunicators;
  return *communicators;
}

void KnownTypes::learn() {
  const MpiHandles handles;
  sizes_.clear();
  for (MPI_Datatype type : {handles.byte, handles.char_, handles.int_, handles.double_, handles.float_, handles.long_,
                            handles.unsigned_char, handles.unsigned_, handles.unsigned_long}) {
    int size = 0;
    if (PE_PMPI(MPI_Type_size)(type, &size) == MPI_SUCCESS && size > 0)
      sizes_.emplace_back(type, static_cast<std::size_t>(size));
  }
}

void KnownCommunicators::learn(MPI_Comm comm) {
  if (size_of(comm) > 0) return;
  int between = 0;
  int size = 0;
  if (comm == MpiHandles{}.comm_null || PE_PMPI(MPI_Comm_test_inter)(comm, &between) != MPI_SUCCESS) return;
  const int code = between ? PE_PMPI(MPI_Comm_remote_size)(comm, &size) : PE_PMPI(MPI_Comm_size)(comm, &size);
  if (code != MPI_SUCCESS) return;
  Entry& entry = entries_[place_of(comm)];
  entry.key.store(0, std::memory_order_release);
  entry.size.store(size, std::memory_order_release);
  entry.key.store(key_of(comm), std::memory_order_release);
}

void KnownCommunicators::forget(MPI_Comm comm) {
  Entry& entry = entries_[place_of(comm)];
  std::uintptr_t key = key_of(comm);
  entry.key.compare_exchange_strong(key, 0);
}

}  // namespace progress_engine::offload
