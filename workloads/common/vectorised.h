// SPDX-License-Identifier: BSD-3-Clause
// A function compiled for several instruction sets, the best one chosen when the program starts: a binary that runs on
// every node, with the loops of each at their own width. Nothing where the compiler has no such thing, and under
// sanitizers, which are not ready yet when the choice is made.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WORKLOADS_SEVERAL_INSTRUCTION_SETS
#define WORKLOADS_VECTORISED __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WORKLOADS_VECTORISED
#endif
