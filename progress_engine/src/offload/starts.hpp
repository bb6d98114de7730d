// SPDX-License-Identifier: BSD-3-Clause
// Sends that return early, and calls that are two.
#pragma once

#include "offload/calls.hpp"
#include "offload/known.hpp"

namespace progress_engine::offload {

// Whether a send of so many bytes may return before it is executed: nothing can be wrong with it, and it is not one too
// many (engine.md: "small sends copy inline"; MPI lets a standard send be buffered).
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

// MPI_Sendrecv as a receive and a send: nobody waits behind either.
template <typename Receive, typename Send>
int send_and_receive(MPI_Status* status, Receive receive, Send send_it) {
  auto receive_later = [](void* closure, MPI_Request* real) { return (*static_cast<Receive*>(closure))(real); };
  auto send_later = [](void* closure, MPI_Request* real) { return (*static_cast<Send*>(closure))(real); };
  return complete_both(receive_later, &receive, send_later, &send_it, status);
}

}  // namespace progress_engine::offload
