// SPDX-License-Identifier: BSD-3-Clause
// The command that a launcher would start on every rank, read instead of run: which workload, with which points, under
// which variant.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "run.h"

namespace simulated {

struct Launched {
  std::string program;                 ///< microbench
  std::string benchmark;               ///< overlap
  std::vector<std::string> arguments;  ///< of the workload, for its record
  Variant variant;
  bool calibrate = false;
  std::vector<Json> points;
  std::vector<std::int64_t> sizes;  ///< of messages, with --calibrate
  Json context = Json::object();
  std::string output;
  double slowdown = 1;
  double settle = 0;  ///< seconds of pause before each timed transfer
};

/// The file that an option names. UsageError if it cannot be read.
std::string text_of(const std::string& option, const std::string& path);

/// Reads `[progress-run --variant V [--set K=V]... --] WORKLOAD BENCHMARK [options]`. `own_thread`: the MPI's
/// own progress thread is on. UsageError where it is no workload's command.
Launched read_command(const std::vector<std::string>& all, bool own_thread);

}  // namespace simulated
