// SPDX-License-Identifier: BSD-3-Clause
// mpi.h, whose declarations must stay visible: the interposed functions are this library's.
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop
