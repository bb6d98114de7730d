// SPDX-License-Identifier: BSD-3-Clause
// How an offloaded call fills the program's statuses. A null pointer, too, stands for a status that nobody wants.
#pragma once

#include "mpi/mpi_header.hpp"

namespace progress_engine::offload {

// The two names for no status differ in some MPIs.
inline bool is_wanted(const MPI_Status* status) {
  return status && status != MPI_STATUS_IGNORE && status != MPI_STATUSES_IGNORE;  // NOLINT(misc-redundant-expression)
}

// What a call with one status gives: its MPI_ERROR is not ours to change (MPI 4.1, section 3.2.5).
inline void give(MPI_Status* status, const MPI_Status& value) {
  if (!is_wanted(status)) return;
  const int error = status->MPI_ERROR;
  *status = value;
  status->MPI_ERROR = error;
}

// What one with several gives. MPI_ERROR is set also where all went well: some MPIs do, and programs read it.
inline void give_with(int error, MPI_Status* status, const MPI_Status& value) {
  if (!is_wanted(status)) return;
  *status = value;
  status->MPI_ERROR = error;
}

}  // namespace progress_engine::offload
