// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/launcher.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>

namespace progress_engine {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int number_said_by(const char* name) {
  const auto text = variable(name);
  int found = -1;
  std::from_chars(text.data(), text.data() + text.size(), found);
  return found;
}

template <typename Answer>
bool ask_socket(int descriptor, int option, Answer& answer) {
  socklen_t size = sizeof answer;
  return getsockopt(descriptor, SOL_SOCKET, option, &answer, &size) == 0;
}

// Who made a connected socket's other end: what tells a process in every PID namespace, from Linux 6.9 on, or else its
// number, which is 0 in a namespace that does not show it. Empty for other descriptors.
std::string peer_of(int descriptor) {
  constexpr uid_t no_user = std::numeric_limits<uid_t>::max();
  constexpr int peer_as_descriptor = 77;     // SO_PEERPIDFD of newer headers
  constexpr auto of_processes = 0x50494446;  // PID_FS_MAGIC: else all such descriptors have one inode
  ucred peer{};
  if (!ask_socket(descriptor, SO_PEERCRED, peer) || peer.uid == no_user) return "";
  std::string number = std::to_string(peer.pid);
  int process = -1;
  if (!ask_socket(descriptor, peer_as_descriptor, process)) return number;
  struct stat file{};
  struct statfs system{};
  if (fstat(process, &file) == 0 && fstatfs(process, &system) == 0 && system.f_type == of_processes)
    number = std::to_string(file.st_ino);
  close(process);
  return number;
}

// Of the socket that MPICH's launchers leave open for their processes: one proxy a job and node.
std::string of_hydra() {
  const auto proxy = peer_of(number_said_by("PMI_FD"));
  return proxy.empty() ? "" : "launcher " + proxy + " " + variable("PMI_SPAWNED");
}

std::string of_pmix() {
  const auto space = variable("PMIX_NAMESPACE");
  return space.empty() ? "" : "pmix " + space;
}

std::string of_slurm() {
  const auto step = variable("SLURM_STEP_ID");
  return step.empty() ? "" : "slurm " + variable("SLURM_JOB_ID") + " " + step + " " + variable("PMI_SPAWNED");
}

// Processes that were spawned are another program with ranks of its own, though the same launcher may start them.
std::string of_parent() { return "parent " + std::to_string(launcher_process()) + " " + variable("PMI_SPAWNED"); }

// What a launcher further out said of its own program stays in the environment. So first comes who shows that it is
// there: a socket is open only to the processes of the launcher that made it.
struct Launcher {
  std::string (*key)();  // of the program; empty: it did not start this process
  const char* rank;      // the variables in which it says so
  const char* here;      // processes of the program on this node, with
  const char* all;       // their number; null: it does not say
};
constexpr std::array launchers = {
    Launcher{of_hydra, "PMI_RANK", "MPI_LOCALNRANKS", "PMI_SIZE"},
    Launcher{of_pmix, "PMIX_RANK", nullptr, nullptr},
    Launcher{of_slurm, "SLURM_PROCID", nullptr, nullptr},
    Launcher{of_parent, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE"},
    Launcher{of_parent, "MV2_COMM_WORLD_RANK", nullptr, nullptr},
};

}  // namespace

// progress-run --strict stays between the two, see tools/supervise.hpp.
pid_t launcher_process() {
  const int given = number_said_by("PROGRESS_ENGINE_LAUNCHER");
  return given > 0 && is_target() ? given : getppid();
}

bool is_target() { return number_said_by("PROGRESS_ENGINE_TARGET") == getpid(); }

long page_faults_of_children() {
  rusage usage{};
  return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_minflt : 0;
}

std::string program_key() {
  for (const auto& launcher : launchers)
    if (auto key = launcher.key(); !key.empty()) return key;
  return {};
}

int rank_by_launcher() {
  for (const auto& launcher : launchers)
    if (const int rank = number_said_by(launcher.rank); rank >= 0 && !launcher.key().empty()) return rank;
  for (const auto& launcher : launchers)
    if (const int rank = number_said_by(launcher.rank); rank >= 0) return rank;
  return -1;
}

int processes_here(int size) {
  int most = 0;
  for (const auto& launcher : launchers)
    if (launcher.all && number_said_by(launcher.all) == size) most = std::max(most, number_said_by(launcher.here));
  return most;
}

std::string other_poller() {
  constexpr std::array names = {"MPIR_CVAR_ASYNC_PROGRESS", "MPICH_ASYNC_PROGRESS", "I_MPI_ASYNC_PROGRESS",
                                "MV2_ASYNC_PROGRESS", "MPICH_NEMESIS_ASYNC_PROGRESS"};
  constexpr std::array<std::string_view, 7> off = {"", "0", "no", "off", "false", "disable", "n"};
  for (const char* name : names)
    if (const auto value = variable(name); std::ranges::find(off, std::string_view(value)) == off.end())
      return std::string(name).append("=").append(value);
  return "";
}

// ---- the mark

namespace {

// Which file it is: the descriptor's number may be another one's by now.
std::string identity(int descriptor) {
  struct stat found{};
  if (fstat(descriptor, &found) != 0) return "";
  return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

bool append_to(int descriptor, const std::string& wanted, const std::string& lines) {
  return identity(descriptor) == wanted &&
         write(descriptor, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
}

}  // namespace

std::string describe_mark(int descriptor, const std::string& path) {
  return std::to_string(descriptor) + " " + identity(descriptor) + " " + path;
}

bool leave_mark(const std::string& lines) {
  const char* described = std::getenv(mark_variable);
  if (!described) return false;
  std::istringstream words(described);
  int inherited = -1;
  std::string wanted;
  std::string path;
  std::getline(words >> inherited >> wanted >> std::ws, path);
  if (append_to(inherited, wanted, lines)) return true;
  const int opened = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (opened < 0) return false;
  const bool left = append_to(opened, wanted, lines);
  close(opened);
  return left;
}

}  // namespace progress_engine
