// SPDX-License-Identifier: BSD-3-Clause
// Where the threads that progress communication run beside the application's: the engine's and the MPI's own alike, as
// the process finds them (study placement, after the plans of Miwa et al.).
#pragma once

#include <sched.h>

#include <map>
#include <string>

#include "common/noncopyable.h"
#include "common/parameters.h"

namespace workloads {

/// "placement": free (as found), shared (all threads of the rank on one CPU), smt-sibling (the others on another
/// hardware thread of the application's core), dedicated (on other cores).
Parameter separation_parameter();

/// Binds the threads of this process as long as it lives, then lets them run where they ran before. Threads that start
/// meanwhile inherit their maker's CPUs. Used from the application's thread.
class Separation : NonCopyable {
 public:
  /// `placement`: a value of separation_parameter(). Collective over all ranks: those of one node share its CPUs.
  explicit Separation(const std::string& placement);
  ~Separation();

  /// Why this rank's CPUs do not allow it, a sentence; empty if they do.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  void bind(int thread, const cpu_set_t& cpus);

  std::map<int, cpu_set_t> before_;  ///< by the thread's number
  std::string problem_;
};

}  // namespace workloads
