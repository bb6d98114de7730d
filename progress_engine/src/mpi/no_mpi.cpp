// SPDX-License-Identifier: BSD-3-Clause
// A program that progress-run has started and that ends without having begun MPI: nothing was helped, and whoever asked
// for a report, or for no run without the engine, is told.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "mpi/mpi_header.hpp"
#include "mpi/report.hpp"
#include "mpi/runtime.hpp"

namespace progress_engine {
namespace {

// The process that progress-run became; not those that it has started or forked.
bool is_target() {
  const char* target = std::getenv("PROGRESS_ENGINE_TARGET");
  return target && std::strtol(target, nullptr, 10) == getpid();
}

// What the children that have ended took: no two of these are the same if one has ended in between.
long page_faults_of_children() {
  rusage usage{};
  return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_minflt : 0;
}
long page_faults_at_first = 0;  // progress-run has had children in this very process

// As a shell, an interpreter or a debugger does: what they start is what was meant.
bool has_started_others() { return page_faults_of_children() != page_faults_at_first; }

// The MPI itself may be asked at any time (MPI 4.1, section 11.4).
const char* why_it_never_began() {
  if (!find_symbol("PMPI_Init")) return "the program has no MPI: there was nothing to help";
  const auto initialized = reinterpret_cast<int (*)(int*)>(find_symbol("PMPI_Initialized"));
  int began = 0;
  if (initialized) initialized(&began);
  return began ? "MPI began unseen by the engine, which saw no call: a library that calls MPI was loaded with "
                 "RTLD_DEEPBIND, or takes MPI's functions from the MPI's own file"
               : "the program never called MPI_Init: there was nothing to help";
}

// glibc calls it twice if what it calls registers a function for the end.
void at_end(int code, void* /*unused*/) {
  static bool done = false;
  if (std::exchange(done, true) || status().began || !is_target() || has_started_others()) return;
  const bool refused_settings = !read_policy() && status().wanted;
  if (!status().wanted && !status().report && status().report_file.empty()) return;
  if (status().wanted && !refused_settings) status().reason = why_it_never_began();
  write_report();
  if (!status().strict || !status().wanted) return;
  std::fprintf(stderr, "progress engine: %s (strict=1).\n", status().reason.c_str());
  std::fflush(nullptr);
  if (code == EXIT_SUCCESS) _exit(refused);
}

[[gnu::constructor]] void look_at_the_end() {
  page_faults_at_first = page_faults_of_children();
  if (is_target()) on_exit(at_end, nullptr);
}

}  // namespace
}  // namespace progress_engine
