// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/job.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "mpi/launcher.hpp"
#include "wakeup/host_list.hpp"

namespace progress_engine {
namespace {

std::string in_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int number_in_environment(const char* name) {
  const auto text = in_environment(name);
  int found = 0;
  std::from_chars(text.data(), text.data() + text.size(), found);
  return found;
}

std::string command_line_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The local PMIx library has the answer since its start.
std::vector<std::string> hosts_from_pmix(const std::string& space) {
  constexpr std::size_t longest_name = 255;  // PMIX_MAX_NSLEN
  if (space.empty() || space.size() > longest_name) return {};
  using Resolve = int (*)(const char*, char**);
  auto resolve = reinterpret_cast<Resolve>(dlsym(RTLD_DEFAULT, "PMIx_Resolve_nodes"));
  if (!resolve) {
    void* library = dlopen("libpmix.so.2", RTLD_NOLOAD | RTLD_LAZY);
    if (library) resolve = reinterpret_cast<Resolve>(dlsym(library, "PMIx_Resolve_nodes"));
  }
  std::array<char, longest_name + 1> name{};
  std::ranges::copy(space, name.begin());
  char* list = nullptr;
  if (!resolve || resolve(name.data(), &list) != 0 || !list) return {};
  auto hosts = expand_hosts(list);
  std::free(list);  // NOLINT(cppcoreguidelines-no-malloc,hicpp-no-malloc): PMIx made it so
  return hosts;
}

}  // namespace

std::string option_in(const std::string& command_line, const std::string& name) {
  const auto option = '\0' + name + '\0';
  const auto at = command_line.find(option);
  if (at == std::string::npos) return "";
  const auto begin = at + option.size();
  return command_line.substr(begin, command_line.find('\0', begin) - begin);
}

std::string job_name() { return job_name(command_line_of(launcher_process())); }

std::string job_name(const std::string& launcher) {
  const auto spawned = in_environment("PMI_SPAWNED");
  // Hydra numbers the worlds of a run: that of mpiexec, and one for each call of MPI_Comm_spawn.
  const auto number = option_in(launcher, "--pgid");
  const auto world = number.empty() ? spawned : "world " + number;
  if (const auto space = in_environment("PMIX_NAMESPACE"); !space.empty()) return "pmix " + space;
  if (const auto run = in_environment("I_MPI_HYDRA_UUID"); !run.empty()) return "intel " + run + " " + world;
  if (const auto port = option_in(launcher, "--control-port"); !port.empty()) return "hydra " + port + " " + world;
  if (const auto step = in_environment("SLURM_STEP_ID"); !step.empty())
    return "slurm " + in_environment("SLURM_JOB_ID") + " " + step + " " + spawned;
  return "";
}

int processes_here(int size) {
  int most = 0;
  for (const auto& [here, all] :
       {std::pair{"MPI_LOCALNRANKS", "PMI_SIZE"}, std::pair{"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"}})
    if (number_in_environment(all) == size) most = std::max(most, number_in_environment(here));
  return most;
}

NamesOfHosts names_of_hosts() { return {in_environment("PMIX_NAMESPACE"), in_environment("SLURM_JOB_NODELIST")}; }

std::vector<std::string> job_hosts(const NamesOfHosts& names) {
  if (auto hosts = hosts_from_pmix(names.pmix_space); !hosts.empty()) return hosts;
  return expand_hosts(names.slurm_list);
}

}  // namespace progress_engine
