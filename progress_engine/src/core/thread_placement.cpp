// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread_placement.hpp"

#include <cstdlib>

namespace progress_engine {

ThreadPlacement::ThreadPlacement(const Policy& policy)
    : how(policy.placement),
      cpus(policy.cpus),
      computing_threads(openmp_threads(std::getenv("OMP_NUM_THREADS"), std::getenv("OMP_PLACES"))) {}

Cpus place_this_thread(const ThreadPlacement& placement) {
  if (placement.how == Placement::list) {
    bind_this_thread_to(parse_cpu_list(placement.cpus));
    return allowed_cpus(0);
  }
  Cpus all = allowed_cpus(0);
  if (placement.how != Placement::spare) return all;
  const auto spare = SpareCpus(all, placement.computing_threads).look(now());
  if (!spare.empty()) bind_this_thread_to(spare);
  return all;
}

}  // namespace progress_engine
