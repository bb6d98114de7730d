// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/program_key.hpp"

#include <sys/socket.h>

#include <array>
#include <cstdlib>

#include "mpi/launcher.hpp"

namespace progress_engine {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Who holds the other end of the socket that MPICH's launchers leave open for their processes: one proxy a job and
// node.
int launcher_of(const std::string& descriptor) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool known = !descriptor.empty() && getsockopt(static_cast<int>(std::strtol(descriptor.c_str(), nullptr, 10)),
                                                       SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known ? peer.pid : 0;
}

}  // namespace

std::string program_key() {
  // Processes that were spawned are another program with ranks of its own, though the same launcher may start them.
  const auto spawned = variable("PMI_SPAWNED");
  if (const auto space = variable("PMIX_NAMESPACE"); !space.empty()) return "pmix " + space;
  if (const auto step = variable("SLURM_STEP_ID"); !step.empty())
    return "slurm " + variable("SLURM_JOB_ID") + " " + step + " " + spawned;
  if (const int launcher = launcher_of(variable("PMI_FD")); launcher > 0)
    return "launcher " + std::to_string(launcher) + " " + spawned;
  return "parent " + std::to_string(launcher_process()) + " " + spawned;
}

}  // namespace progress_engine
