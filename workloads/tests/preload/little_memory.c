// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a workload's ranks: each may have 4 GB of address space and no more, as a batch system limits it.
#include <sys/resource.h>

__attribute__((constructor)) static void limit(void) {
  const struct rlimit few = {.rlim_cur = 4000000000, .rlim_max = 4000000000};
  setrlimit(RLIMIT_AS, &few);
}
