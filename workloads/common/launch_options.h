// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "common/mpi_process.h"
#include "common/stop_rule.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's name
class App;
}

namespace workloads {

inline constexpr double largest_slowdown = 1000;
inline constexpr double longest_pause = 10;  // seconds

/// The options that every workload has.
struct LaunchOptions {
  std::string points_file;
  std::vector<std::string> points;  ///< key=value,... each
  std::string context_file;
  std::string output;
  SamplerOptions sampler;
  std::string thread_level = "single";
  double slowdown = 1.0;
  /// A rate limiter lets the first bytes after a pause pass at once. With a pause before each timed transfer, as long
  /// as its bucket takes to fill, every transfer finds the network in the same state.
  double settle_s = 0;
};

/// Adds them to a command; `options` must outlive the parsing.
void add_launch_options(CLI::App& command, LaunchOptions& options);

}  // namespace workloads
