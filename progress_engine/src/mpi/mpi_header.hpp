// SPDX-License-Identifier: BSD-3-Clause
// mpi.h without its C++ bindings. The declarations must stay visible: the interposed functions are this library's.
#pragma once

#define MPICH_SKIP_MPICXX 1
#define OMPI_SKIP_MPICXX 1
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
