// SPDX-License-Identifier: BSD-3-Clause
// Which of the calls that arrive at the interposed functions go to the communication thread, and how they get there.
#pragma once

#include "core/inlining.hpp"
#include "mpi/hooks.hpp"
#include "offload/active.hpp"
#include "offload/agent.hpp"

namespace progress_engine {

// Asked first in every interposed call: with the preset `off`, or before MPI_Init, there is nothing between the program
// and its MPI but this and a jump.
PE_ALWAYS_INLINE bool anything_active() {
  const auto offload = reinterpret_cast<std::uintptr_t>(offload::active_process.load(std::memory_order_acquire));
  return (offload | reinterpret_cast<std::uintptr_t>(active_runtime.load(std::memory_order_acquire))) != 0;
}

}  // namespace progress_engine

namespace progress_engine::offload {

// Whether `caller`, an address in code, belongs to the MPI library or one of its components.
bool is_of_the_mpi(const void* caller);

// A call of MPI_*. On the communication thread it comes from a callback of the program, or from within the MPI itself
// (input and output call other functions of MPI): the latter goes straight on.
PE_ALWAYS_INLINE bool takes(const void* caller) {
  return active() && !(on_communication_thread() && is_of_the_mpi(caller));
}
// A call of PMPI_*: on the communication thread it can only come from below us, a tool or the MPI itself.
PE_ALWAYS_INLINE bool takes_profiled() { return active() && !on_communication_thread(); }

// Calls a route with arguments that are still words.
template <typename... Parameters, typename... Words>
int hand_over(int (*route)(Parameters...), Words... words) {
  return route(as<Parameters>(words)...);
}

}  // namespace progress_engine::offload
