// SPDX-License-Identifier: BSD-3-Clause
// What makes an MPI progress from another thread.
#pragma once

#include <memory>
#include <string>

#include "core/burst.hpp"
#include "mpi/mpi_handles.hpp"

namespace progress_engine {

// Where the driver gets a communicator of this process alone: from MPI_COMM_SELF, which exists once MPI_Init was called,
// or from a session of its own.
enum class Origin { world, session };

class MpiDriver : public Driver {
 public:
  virtual std::string name() const = 0;
};

// The drivers that the loaded library has the symbols for, best first; `wanted` is the setting "driver". Call after
// MPI_Init_thread gave MPI_THREAD_MULTIPLE, destroy before MPI_Finalize. Throws std::runtime_error if there is none.
std::unique_ptr<MpiDriver> make_driver(const std::string& wanted, const MpiHandles& handles, Origin origin);

}  // namespace progress_engine
