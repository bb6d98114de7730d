// SPDX-License-Identifier: BSD-3-Clause
// A communicator of this process alone, for the engine's own messages to itself.
#pragma once

#include <memory>

#include "mpi/driver.hpp"

namespace progress_engine {

class OwnCommunicator {
 public:
  OwnCommunicator() = default;
  virtual ~OwnCommunicator() = default;
  OwnCommunicator(const OwnCommunicator&) = delete;
  OwnCommunicator& operator=(const OwnCommunicator&) = delete;
  MPI_Comm communicator() const { return communicator_; }

 protected:
  MPI_Comm communicator_{};
};

// Freed with the object, which must go before MPI does. Throws std::runtime_error.
std::unique_ptr<OwnCommunicator> make_own_communicator(const MpiHandles& handles, Origin origin);

}  // namespace progress_engine
