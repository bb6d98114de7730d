// SPDX-License-Identifier: BSD-3-Clause
// The main of every workload: PROGRAM BENCHMARK --points FILE ..., over a table of benchmarks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/experiment.h"

namespace workloads {

inline constexpr double largest_slowdown = 1000;
inline constexpr double longest_pause = 10;  // seconds

struct Program {
  std::string name;     ///< of the executable, as its messages begin
  std::string purpose;  ///< a sentence for --help
  std::string example;  ///< a command line for --help
  std::vector<const Benchmark*> benchmarks;
};

inline constexpr std::int64_t largest_message = 2'147'483'647;  // MPI-3's count is an int

/// Parses, lists or measures, and returns the exit status: 0 all ok, 1 something failed or was interrupted, 2 wrong
/// use. Initialises and finalises MPI, unless what is asked for (help, a list) needs none.
int run_program(const Program& program, int argc, char** argv);

}  // namespace workloads
