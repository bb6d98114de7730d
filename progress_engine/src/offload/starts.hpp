// SPDX-License-Identifier: BSD-3-Clause
// Sends that return early, and calls that are two.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "mpi/mpi_handles.hpp"
#include "offload/calls.hpp"

namespace progress_engine::offload {

// What the program's threads know of handles without asking the MPI, which only the communication thread may.

// The predefined types whose values lie close together in memory.
class KnownTypes {
 public:
  // On the communication thread, after MPI_Init.
  void learn();
  // Bytes of one value; 0 for a type that is not known.
  std::size_t size_of(MPI_Datatype type) const {
    for (const auto& [known, size] : sizes_)
      if (known == type) return size;
    return 0;
  }

 private:
  std::vector<std::pair<MPI_Datatype, std::size_t>> sizes_;
};
KnownTypes& known_types();

// Communicators on which sends have been seen: how many processes can be sent to. A small cache.
class KnownCommunicators {
 public:
  // 0 for one that is not known. Any thread.
  int size_of(MPI_Comm comm) const {
    const Entry& entry = entry_of(comm);
    if (entry.key.load(std::memory_order_acquire) != key_of(comm)) return 0;
    const int size = entry.size.load(std::memory_order_acquire);
    return entry.key.load(std::memory_order_relaxed) == key_of(comm) ? size : 0;
  }
  // On the communication thread.
  void learn(MPI_Comm comm);
  // Before it is freed; any thread.
  void forget(MPI_Comm comm);

 private:
  struct Entry {
    std::atomic<std::uintptr_t> key{0};
    std::atomic<int> size{0};
  };
  static std::uintptr_t key_of(MPI_Comm comm) {
    std::uintptr_t key = 0;
    std::memcpy(&key, &comm, sizeof comm);
    return key;
  }
  static std::size_t place_of(MPI_Comm comm) {
    const auto key = static_cast<std::uint64_t>(key_of(comm));
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 58);
  }
  const Entry& entry_of(MPI_Comm comm) const { return entries_[place_of(comm)]; }

  std::array<Entry, 64> entries_;
};
KnownCommunicators& known_communicators();

// Whether a send of so many bytes may return before it is executed: nothing can be wrong with it, and it is not one too
// many (MPI lets a standard send be buffered: MPI 4.1, section 3.4).
bool may_return_early(std::size_t bytes, int dest, int tag, MPI_Comm comm);
// Remembers the number of processes that can be sent to; on the communication thread.
void learn(MPI_Comm comm);

// A standard-mode blocking send. `isend` is the MPI's MPI_Isend or MPI_Isend_c.
template <typename Isend, typename Count>
int send(Isend isend, const void* buffer, Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const std::size_t size = known_types().size_of(type);
  if (size > 0 && count >= 0 && count <= static_cast<Count>(Proxy::inline_room) &&
      may_return_early(size * static_cast<std::size_t>(count), dest, tag, comm)) {
    Proxy& proxy = take_proxy();
    proxy.detached = true;
    std::memcpy(proxy.payload.data(), buffer, size * static_cast<std::size_t>(count));
    const void* copy = proxy.payload.data();
    return start_in(proxy, nullptr, [=](MPI_Request* real) { return isend(copy, count, type, dest, tag, comm, real); });
  }
  return complete("MPI_Send", MPI_STATUS_IGNORE, [&](MPI_Request* real) {
    learn(comm);
    return isend(buffer, count, type, dest, tag, comm, real);
  });
}

// What a receive from nobody leaves (MPI 4.1, section 3.10): MPICH 4.0's nonblocking one leaves zeros.
inline int received_from(int source, MPI_Status* status, int code) {
  if (source != MPI_PROC_NULL || code != MPI_SUCCESS || !is_wanted(status)) return code;
  status->MPI_SOURCE = MPI_PROC_NULL;
  status->MPI_TAG = MPI_ANY_TAG;
  return code;
}

template <typename Receive>
int receive(int source, MPI_Status* status, Receive receive) {
  const bool with_error = process().table.quirks().receive_sets_error;
  return received_from(source, status, complete("MPI_Recv", status, receive, with_error));
}

// MPI_Sendrecv as a receive and a send: nobody waits behind either.
template <typename Receive, typename Send>
int send_and_receive(int source, MPI_Status* status, Receive receive, Send send_it) {
  auto receive_later = [](void* closure, MPI_Request* real) { return (*static_cast<Receive*>(closure))(real); };
  auto send_later = [](void* closure, MPI_Request* real) { return (*static_cast<Send*>(closure))(real); };
  const int code = complete_both(receive_later, &receive, send_later, &send_it, status, false);
  return received_from(source, status, code);
}

// MPI_Sendrecv_replace as the same with a copy. MPI_Isendrecv_replace gives a status without the message's tag in MPICH
// and Intel MPI, and never ends with MPI_PROC_NULL in MPICH 4.0.
template <typename Count, typename Size, typename Pack, typename Receive, typename Send>
int replace(Count /*tells large counts*/, int source, MPI_Status* status, Size size, Pack pack, Receive receive,
            Send send_it) {
  Count bytes = 0;
  Count packed = 0;
  int code = MPI_SUCCESS;
  std::unique_ptr<char[]> copy;
  auto copy_and_receive = [&](MPI_Request* real) {
    code = size(&bytes);
    if (code == MPI_SUCCESS) copy.reset(new (std::nothrow) char[static_cast<std::size_t>(bytes) + 1]);
    if (code == MPI_SUCCESS) code = copy ? pack(copy.get(), bytes, &packed) : MPI_ERR_NO_MEM;
    return code == MPI_SUCCESS ? receive(real) : code;
  };
  auto send_copy = [&](MPI_Request* real) { return code == MPI_SUCCESS ? send_it(copy.get(), packed, real) : code; };
  using First = decltype(copy_and_receive);
  using Second = decltype(send_copy);
  auto first = [](void* closure, MPI_Request* real) { return (*static_cast<First*>(closure))(real); };
  auto second = [](void* closure, MPI_Request* real) { return (*static_cast<Second*>(closure))(real); };
  const bool with_error = process().table.quirks().replace_sets_error;
  return received_from(source, status, complete_both(first, &copy_and_receive, second, &send_copy, status, with_error));
}

}  // namespace progress_engine::offload
