// SPDX-License-Identifier: BSD-3-Clause
// What one MPI does otherwise than the others, and which releases of it: asked of the library that runs, not of the
// mpi.h with which the engine was compiled, since an ABI is that of many releases and vendors.
#pragma once

#include <string>
#include <string_view>

namespace progress_engine {

struct Quirks {
  // Open MPI, seen in 5.0.11, not known to be mended in any release: its progress walks the list of pending file
  // operations without a lock, so that a poll beside a call that changes or walks the list crashes
  // (mca_common_ompio_progress).
  bool files_alone = false;
  // The same of starts and ends of partitioned operations, where a poll hangs; and a poll takes a send for sent before
  // all its partitions are ready, and posts a receive before it was started.
  bool partitioned_alone = false;
  // Open MPI before 5: its one-sided component for networks without remote memory access refuses MPI_THREAD_MULTIPLE.
  bool windows_below_multiple = false;
  // MPICH before 4.2 over UCX, see mpi/lifecycle.hpp.
  bool ends_together = false;
  // The MPICH family: MPI_Testsome tells of errors MPI_COMM_WORLD's error handler, where MPI_Test tells that of the
  // request's communicator (MPI 4.1, section 9.3); and it takes a persistent request to MPI_PROC_NULL that was started
  // for one that was not, where MPI_Test finds it complete.
  bool testsome_differs = false;
  // Who sets MPI_ERROR in the status of a call, of which the standard says that one status has none (MPI 4.1, section
  // 3.2.5), and programs read it: Intel MPI in MPI_Recv and MPI_Request_get_status_any, the MPICH family in
  // MPI_Sendrecv_replace.
  bool receive_sets_error = false;
  bool replace_sets_error = false;
};

// Of an MPI whose MPI_Get_library_version says so.
Quirks quirks_of(std::string_view description);
// Of this process's.
Quirks quirks_of_this_mpi();

// What this process's MPI says of itself (MPI_Get_library_version), of whatever ABI it is; "" without one. At any time.
std::string description_of_this_mpi();
// "MPICH Version: 5.0.2", "Open MPI v5.0.11": what stands first in it.
std::string short_description(std::string_view description);

}  // namespace progress_engine
