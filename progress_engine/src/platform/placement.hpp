// SPDX-License-Identifier: BSD-3-Clause
// On which CPUs an engine thread may run. Without hwloc, which must stay out of the preloaded library: masks and /proc
// tell enough.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/platform.hpp"

namespace progress_engine {

using Cpus = std::vector<int>;  // the system's numbers, ascending

// "0-3,8" -> {0, 1, 2, 3, 8}, as in /sys and taskset. Empty if the text is no such list.
Cpus parse_cpu_list(std::string_view text);
std::string format_cpu_list(const Cpus& cpus);

// The CPUs of `own` that are left when each of this process's threads that compute (the CPUs it may use) and of each
// neighbour's takes one for itself: the most restricted first, so that whoever can go elsewhere does. Neighbours are
// taken to have as many threads as this process, at least `wanted`: they run the same program.
Cpus spare_cpus(const Cpus& own, const std::vector<Cpus>& neighbours, const std::vector<Cpus>& threads = {},
                std::size_t wanted = 1);

// The CPUs that a thread (0: the calling one) may use, however many the machine has; none if the kernel does not say.
Cpus allowed_cpus(int tid);
// The CPUs that this process may use: those with which it was started, or to which its MPI has bound it since. The mask
// of a thread says less: OpenMP's library binds the program's first thread before main where OMP_PROC_BIND or
// OMP_PLACES are set. Of a program that loads the engine as a plug-in, or binds itself before that, only what is left
// is known.
const Cpus& cpus_of_process();
// By who knows it better: after MPI_Init, and in a library that was loaded later.
void set_cpus_of_process(Cpus cpus);
// How many they are; the machine's where the kernel does not say.
int number_of_cpus();
// The CPUs of the other processes on this node that run the same program, as far as /proc shows them.
std::vector<Cpus> cpus_of_neighbours();

// With how many threads a program of OpenMP will compute, as far as its environment says it: OMP_NUM_THREADS (of a list
// for nested regions the first), else the number of places in OMP_PLACES. 1 where neither names a number.
std::size_t openmp_threads(const char* num_threads, const char* places);

// The threads of this process that compute, but for the engine's.
class ComputingThreads {
 public:
  // The CPUs that each of them may use. Who computes: since the last look it used an eighth at least of what the
  // busiest one did; an MPI's and a launcher's helpers sleep. Some microseconds a thread.
  std::vector<Cpus> look();

 private:
  std::map<int, Nanoseconds> used_;
};

// The spare CPUs among `own`, which may change while the program runs: OpenMP's threads begin with its
// first parallel region.
class SpareCpus {
 public:
  // `wanted`: OpenMP's threads, see openmp_threads(). The environment is read before the engine's threads begin: later
  // the program may change it.
  SpareCpus(Cpus own, std::size_t wanted) : own_(std::move(own)), wanted_(wanted) {}
  // Whether it is time to look, at first and again: a second after the last look, then two, four, up to a minute.
  bool due(Nanoseconds time) const { return time >= next_look_; }
  const Cpus& look(Nanoseconds time);
  // As of the last look.
  const Cpus& cpus() const { return spare_; }

 private:
  const Cpus own_;
  const std::size_t wanted_;
  ComputingThreads threads_;
  std::vector<Cpus> neighbours_;
  Cpus spare_;
  bool looked_ = false;
  Nanoseconds next_look_ = 0;
  Nanoseconds pause_ = seconds(1);
};

// Binds the calling thread; false if the kernel refuses (CPUs that the process may not have).
bool bind_this_thread_to(const Cpus& cpus);

}  // namespace progress_engine
