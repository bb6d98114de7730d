// SPDX-License-Identifier: BSD-3-Clause
// A launch's record, in the form of every workload's, but that each line of it comes from a simulation and says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launched.h"
#include "run.h"

namespace simulated {

/// What was simulated with: for the header.
struct Source {
  std::string platform;
  std::string model_file;
  Json files;  ///< the names of both, and the SHA-256 of what was read
  std::uint64_t draw = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  /// Seconds that the simulation has taken, not those that it simulated.
  [[nodiscard]] double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
};

/// All of it at once, when the simulation is over. `left_out`: points that cannot be simulated, and why.
void write_record(const Launched& launched, const Source& source, const Model& model, const Run* run, int ranks,
                  const std::vector<std::pair<const Pattern*, Json>>& points,
                  const std::vector<std::vector<Measured>>& results,
                  const std::vector<std::pair<Json, std::string>>& left_out);

}  // namespace simulated
