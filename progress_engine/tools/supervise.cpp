// SPDX-License-Identifier: BSD-3-Clause
#include "supervise.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "mpi/launcher.hpp"

namespace progress_engine {
namespace {

constexpr int usage_error = 2;
constexpr std::array passed_on = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};

// In memory: a launcher may kill this process, and nothing must stay behind.
class MarkFile {
 public:
  MarkFile() : descriptor_(memfd_create("progress-run", 0)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create, for --strict");
    const auto path = fmt::format("/proc/{}/fd/{}", getpid(), descriptor_);
    setenv(mark_variable, describe_mark(descriptor_, path).c_str(), 1);
  }
  int descriptor() const { return descriptor_; }
  bool left() const {
    struct stat found{};
    return fstat(descriptor_, &found) == 0 && found.st_size > 0;
  }

 private:
  int descriptor_;
};

sigset_t signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (const int number : passed_on) sigaddset(&set, number);
  return set;
}

// The program's wait status. The terminal sends its signals to the program as well: only what others send is passed on.
int wait_for(pid_t program, const sigset_t& set) {
  int status = 0;
  while (waitpid(program, &status, WNOHANG) == 0) {
    siginfo_t signal{};
    if (sigwaitinfo(&set, &signal) > 0 && signal.si_signo != SIGCHLD && signal.si_code != SI_KERNEL)
      kill(program, signal.si_signo);
  }
  return status;
}

[[noreturn]] void end_as(int status, const sigset_t& set) {
  if (WIFEXITED(status)) std::_Exit(WEXITSTATUS(status));
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  std::signal(WTERMSIG(status), SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  raise(WTERMSIG(status));
  std::_Exit(128 + WTERMSIG(status));
}

// A launcher waits until what it has given to its processes is closed.
void close_all_but(int kept) {
  syscall(SYS_close_range, STDERR_FILENO + 1, kept - 1, 0);
  syscall(SYS_close_range, kept + 1, INT_MAX, 0);
}

}  // namespace

void supervise(const std::string& program) {
  const MarkFile mark;
  const auto set = signals();
  sigset_t before{};
  sigprocmask(SIG_BLOCK, &set, &before);
  // Where whoever has started this process ignores it, the kernel would forget how the program has ended.
  const auto at_child = std::signal(SIGCHLD, SIG_DFL);
  setenv("PROGRESS_ENGINE_LAUNCHER", std::to_string(getppid()).c_str(), 1);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork, for --strict");
  if (child == 0) {
    std::signal(SIGCHLD, at_child);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(usage_error);
    setenv("PROGRESS_ENGINE_TARGET", std::to_string(getpid()).c_str(), 1);
    return;
  }
  close_all_but(mark.descriptor());
  const int status = wait_for(child, set);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !mark.left()) {
    std::fprintf(
        stderr,
        "progress-run: %s has ended, and the engine saw MPI begin in none of its processes: there is no MPI, or "
        "the loader has dropped LD_PRELOAD on the way, as in a sandbox that does not show the engine's folder "
        "(--strict).\n",
        program.c_str());
    std::_Exit(usage_error);
  }
  end_as(status, set);
}

}  // namespace progress_engine
