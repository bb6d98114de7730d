// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pcontrol has variable arguments, which a profiler below may read: what the registers for arguments hold goes on
// to it, of integers and of floating-point numbers, and on x86-64, which has six for integers, the first two of the
// stack.
#pragma once

#include "mpi/mpi_header.hpp"

#define PE_PCONTROL_PARAMETERS                                                                                \
  Word level, Word a, Word b, Word c, Word d, Word e, Word f, Word g, double p, double q, double r, double s, \
      double t, double u, double v, double w
#define PE_PCONTROL_ARGUMENTS static_cast<int>(level), a, b, c, d, e, f, g, p, q, r, s, t, u, v, w
