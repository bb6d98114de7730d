// SPDX-License-Identifier: BSD-3-Clause
// Which error handler is told what the MPI finds wrong with an operation: that of its communicator (MPI 4.1, section
// 9.3). MPICH's MPI_Testsome tells none of those, but that of MPI_COMM_WORLD or MPI_COMM_SELF, which ends the program
// also where the errors of the operation's communicator return.
#pragma once

#include "mpi/mpi_handles.hpp"
#include "mpi/mpi_header.hpp"

namespace progress_engine::offload {

// While it lives, what a call with requests of several communicators finds wrong is returned.
class ErrorsReturn {
 public:
#ifdef OPEN_MPI
  static constexpr bool is_needless = true;  // tells the communicator's own
#else
  static constexpr bool is_needless = false;
#endif
  explicit ErrorsReturn(const MpiHandles& handles);
  ~ErrorsReturn();
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  struct Handler {
    MPI_Comm communicator;
    MPI_Errhandler before;
  };
  Handler world_;
  Handler self_;
};

// Errors that belong to no communicator go to MPI_COMM_SELF's.
void tell_error_handler(const MpiHandles& handles, MPI_Comm communicator, int code);

}  // namespace progress_engine::offload
