// SPDX-License-Identifier: BSD-3-Clause
// An MPI operation under way: what stands behind the request that the program holds, or behind a blocking call.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "mpi/mpi_header.hpp"
#include "offload/communication_thread.hpp"
#include "offload/pool.hpp"
#include "offload/waiter.hpp"

namespace progress_engine::offload {

// Starts the nonblocking form of a call; on the communication thread.
using Start = int (*)(void* closure, MPI_Request* real);

// A member belongs to the communication thread from the submission until `completion`, to the program before and after.
struct Operation : Command {
  static constexpr std::uint32_t not_listed = ~0U;

  Completion completion;
  Start start = nullptr;
  void* closure = nullptr;
  MPI_Request real{};                 // the MPI's own
  std::uint32_t listed = not_listed;  // where in the table of pending ones; the communication thread's
  int code = MPI_SUCCESS;             // what the MPI said when it started or completed
  std::uint64_t order = 0;            // those with the same one move in their order; 0: none
  bool persistent = false;            // made once (MPI_Send_init), never changes
  bool general = false;               // a generalised request: never pending in the table
  bool active = false;                // the program's: not yet waited for
  bool detached = false;              // nobody will wait: it goes back to the pool by itself
  MPI_Status status{};                // valid once complete
};

// Behind a request: with room for the call's arguments, since a nonblocking call returns before it is executed.
struct Proxy : Operation {
  static constexpr std::size_t room = 64;
  static constexpr std::size_t inline_room = 64;

  std::atomic<std::uint32_t> next_free{0};
  std::uint32_t number = 0;
  static constexpr int partitioned_receive = -1;
  int partitions = 0;  // of a partitioned send; partitioned_receive; 0
  int lacking = 0;     // of these, not ready since it was started; of a receive 1 until its first start
  alignas(8) std::array<std::byte, room> arguments;
  alignas(8) std::array<std::byte, inline_room> payload;  // of a small send
};

// What the program holds: an address where requests are pointers (Open MPI), else a small number, which no MPI of the
// MPICH family gives out.
template <typename Handle = MPI_Request>
Handle handle_of(Proxy& proxy) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Handle>(&proxy);
  else
    return static_cast<Handle>(proxy.number + 1);
}

template <typename Handle>
Proxy* proxy_of(const Pool<Proxy>& pool, Handle handle) {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<Proxy*>(handle);
  else
    return pool.find(static_cast<std::uint32_t>(handle) - 1);
}

}  // namespace progress_engine::offload
