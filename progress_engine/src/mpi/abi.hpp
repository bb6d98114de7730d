// SPDX-License-Identifier: BSD-3-Clause
// Which MPI libraries can stand for each other. Handles are integers in one, pointers in another: an engine that was
// built for one of them must not touch the other's.
#pragma once

#include <string>
#include <string_view>

namespace progress_engine {

// True for the name of a library that holds MPI's C functions: libmpi.so.40, libmpich.so.12, libmpi_gnu_91.so.12,
// libmpi_abi.so.1.
bool is_mpi_library(std::string_view name);

// True if programs linked with the one run with the other: Debian calls MPICH's ABI libmpich.so.12, all others
// libmpi.so.12.
bool same_abi(std::string_view one, std::string_view other);

// The soname of the library in this process that holds `address`; its file's name if it has none, "" if there is none.
std::string library_of(const void* address);

}  // namespace progress_engine
