// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/launcher.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace progress_engine {
namespace {

int number_said_by(const char* name) {
  const char* value = std::getenv(name);
  const std::string_view text = value ? value : "";
  int found = -1;
  std::from_chars(text.data(), text.data() + text.size(), found);
  return found;
}

}  // namespace

// progress-run --strict stays between the two, see tools/supervise.hpp.
pid_t launcher_process() {
  const int given = number_said_by("PROGRESS_ENGINE_LAUNCHER");
  return given > 0 && number_said_by("PROGRESS_ENGINE_TARGET") == getpid() ? given : getppid();
}

int rank_by_launcher() {
  for (const char* name : {"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const int rank = number_said_by(name); rank >= 0) return rank;
  return -1;
}

}  // namespace progress_engine
