// SPDX-License-Identifier: BSD-3-Clause
#include "supervise.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <sstream>
#include <system_error>
#include <vector>

#include "gathering.hpp"
#include "mpi/launcher.hpp"
#include "telemetry/advice.hpp"

namespace progress_engine {
namespace {

constexpr int usage_error = 2;
constexpr std::array passed_on = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT};

// In memory: a launcher may kill this process, and nothing must stay behind.
class MarkFile {
 public:
  MarkFile() : descriptor_(memfd_create("progress-run", 0)) {
    if (descriptor_ < 0 || fcntl(descriptor_, F_SETFL, O_APPEND) != 0)
      throw std::system_error(errno, std::generic_category(), "memfd_create, for --strict and --report");
    const auto path = fmt::format("/proc/{}/fd/{}", getpid(), descriptor_);
    setenv(mark_variable, describe_mark(descriptor_, path).c_str(), 1);
  }
  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string all;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = pread(descriptor_, part.data(), part.size(), static_cast<off_t>(all.size()))) > 0;)
      all.append(part.data(), static_cast<std::size_t>(got));
    return all;
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

void close_from(int first, int last) {
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0) return;
  for (int one = first; one <= std::min<long>(last, sysconf(_SC_OPEN_MAX)); ++one) close(one);  // Linux before 5.9
}

// A launcher waits until what it has given to its processes is closed. But Hydra's socket stays: closed before this
// process ends it would mean that the rank has failed, and the launcher would kill it.
void close_all_but(std::array<int, 3> kept) {
  std::ranges::sort(kept);
  int next = STDERR_FILENO + 1;
  for (const int one : kept) {
    close_from(next, one - 1);
    next = std::max(next, one + 1);
  }
  close_from(next, INT_MAX);
}

// -1 where the variable holds no number of a descriptor's.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  int descriptor = -1;
  if (text) std::from_chars(text, text + std::strlen(text), descriptor);
  return descriptor;
}

// What the engines of this node's ranks have left.
struct Marks {
  bool began = false;
  bool speak_for_all = false;
  std::size_t unheard = 0;
  std::vector<Report> reports;

  void add(const std::string& text, int rank) {
    speak_for_all = speak_for_all || rank <= 0;
    const auto before = reports.size();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      began = began || line + '\n' == mark_of_begin;
      try {
        if (line.starts_with('{')) reports.push_back(from_json(line));
      } catch (const std::exception&) {
        continue;  // cut off, as where its process was killed
      }
    }
    if (reports.size() == before) ++unheard;
  }
};

void say(Marks& marks, const Watch& watch) {
  std::ranges::stable_sort(marks.reports, {}, &Report::rank);
  if (marks.speak_for_all && !marks.reports.empty())
    std::fputs(sentences(marks.reports, marks.unheard).c_str(), stderr);
  if (watch.report != Reporting::full) return;
  for (const auto& report : marks.reports) std::fprintf(stderr, "%s\n", to_line(report).c_str());
}

void say_that_none_began(const std::string& program, const Watch& watch) {
  std::fprintf(stderr,
               "progress-run: %s has ended, and the engine saw MPI begin in none of its processes: there is no MPI, or "
               "the loader has dropped LD_PRELOAD on the way, as in a sandbox that does not show the engine's folder"
               "%s.\n",
               program.c_str(), watch.strict ? " (--strict)" : "");
}

}  // namespace

void supervise(const std::string& program, const Watch& watch) {
  if (!watch.strict && leave_mark("")) return;
  const MarkFile mark;
  const int rank = rank_by_launcher();
  Gathering gathering(program_key(), watch.report == Reporting::none ? -1 : rank);
  const auto set = signals();
  sigset_t before{};
  sigprocmask(SIG_BLOCK, &set, &before);
  // Where whoever has started this process ignores it, the kernel would forget how the program has ended.
  const auto at_child = std::signal(SIGCHLD, SIG_DFL);
  setenv("PROGRESS_ENGINE_LAUNCHER", std::to_string(getppid()).c_str(), 1);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork, for --strict and --report");
  if (child == 0) {
    std::signal(SIGCHLD, at_child);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) std::_Exit(usage_error);
    setenv("PROGRESS_ENGINE_TARGET", std::to_string(getpid()).c_str(), 1);
    return;
  }
  close_all_but({mark.descriptor(), gathering.descriptor(), number_in("PMI_FD")});
  const int status = wait_for(child, set);
  const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  sigprocmask(SIG_UNBLOCK, &set, nullptr);  // while it waits for others a launcher may end it
  const auto text = mark.text();
  Marks marks;
  marks.add(text, rank);
  const bool dropped = well && watch.strict && !marks.began;
  if (!gathering.hears()) gathering.tell(text);
  if (gathering.hears()) {
    for (const auto& [other, words] : gathering.hear(well)) marks.add(words, other);
    if (watch.report != Reporting::none) say(marks, watch);
  }
  const bool silent = !marks.began && marks.reports.empty() && marks.speak_for_all && gathering.hears();
  if (dropped || (well && silent)) say_that_none_began(program, watch);
  if (dropped) std::_Exit(usage_error);
  end_as(status, set);
}

}  // namespace progress_engine
