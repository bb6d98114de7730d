// SPDX-License-Identifier: BSD-3-Clause
// mpi.h and what Open MPI has beside it, whose declarations must stay visible: the interposed functions are this
// library's.
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#pragma GCC visibility pop

#include <cstdint>
#include <type_traits>

#include "platform/platform.hpp"

namespace progress_engine {

// An argument as the calling convention passes it: an integer, a handle or a pointer, in one register or stack slot.
using Word = std::intptr_t;

// The argument as what mpi.h declares it to be.
template <typename Type>
Type as(Word word) {
  if constexpr (std::is_pointer_v<Type>)
    return reinterpret_cast<Type>(word);
  else
    return static_cast<Type>(word);
}

}  // namespace progress_engine

// A call of the MPI's own function, past every tool: what the engine itself does is not the program's.
#define PE_PMPI(name)                                                             \
  ([]() -> decltype(&P##name) {                                                   \
    static constinit ::progress_engine::Next<decltype(&P##name)> next("P" #name); \
    return next.get();                                                            \
  }())

// MPI_Pcontrol has variable arguments, which a profiler below may read: what the registers for arguments hold goes on
// to it, of integers and of floating-point numbers, and on x86-64, which has six for integers, the first two of the
// stack.

#define PE_PCONTROL_PARAMETERS                                                                                \
  Word level, Word a, Word b, Word c, Word d, Word e, Word f, Word g, double p, double q, double r, double s, \
      double t, double u, double v, double w
#define PE_PCONTROL_ARGUMENTS static_cast<int>(level), a, b, c, d, e, f, g, p, q, r, s, t, u, v, w
