// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/launcher.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include "eventually.hpp"
#include "tools/gathering.hpp"

namespace progress_engine {
namespace {

// Sets variables of the environment, and nothing else of a launcher's, while it lives.
class Launched : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : names) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : names) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  static constexpr const char* names[] = {"PMI_FD",
                                          "PMI_RANK",
                                          "PMI_SIZE",
                                          "PMI_SPAWNED",
                                          "MPI_LOCALNRANKS",
                                          "PMIX_NAMESPACE",
                                          "PMIX_RANK",
                                          "SLURM_JOB_ID",
                                          "SLURM_STEP_ID",
                                          "SLURM_PROCID",
                                          "OMPI_COMM_WORLD_RANK",
                                          "OMPI_COMM_WORLD_SIZE",
                                          "OMPI_COMM_WORLD_LOCAL_SIZE",
                                          "MV2_COMM_WORLD_RANK"};
  std::map<std::string, std::string> before_;
};

TEST_F(Launched, AProgramHasAKeyOfItsOwn) {
  EXPECT_EQ(program_key(), "parent " + std::to_string(getppid()) + " ");
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_STEP_ID", "2", 1);
  EXPECT_EQ(program_key(), "slurm 7 2 ");
  setenv("PMI_SPAWNED", "1", 1);
  EXPECT_EQ(program_key(), "slurm 7 2 1") << "what was spawned has ranks of its own";
  setenv("PMIX_NAMESPACE", "prterun-n1-5@1", 1);
  EXPECT_EQ(program_key(), "pmix prterun-n1-5@1");
}

// mpiexec of MPICH inside a job of another launcher's: that one's variables stay. Its own socket says who it is.
TEST_F(Launched, AnOpenSocketGoesBeforeWhatALauncherFurtherOutLeftBehind) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  setenv("PMIX_NAMESPACE", "prterun-n1-5@1", 1);
  setenv("PMIX_RANK", "0", 1);
  setenv("PMI_RANK", "3", 1);
  setenv("PMI_FD", std::to_string(ends[0]).c_str(), 1);
  EXPECT_TRUE(program_key().starts_with("launcher ")) << program_key();
  EXPECT_EQ(rank_by_launcher(), 3);
  for (const int end : ends) close(end);
  EXPECT_EQ(program_key(), "pmix prterun-n1-5@1") << "it is the other way round: the socket's number was left behind";
  EXPECT_EQ(rank_by_launcher(), 0);
}

// By what stands for them as files, from Linux 6.9 on.
bool are_told_apart_everywhere() {
  constexpr auto file_system_of_processes = 0x50494446;
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  struct statfs found{};
  const bool known = process >= 0 && fstatfs(process, &found) == 0;
  close(process);
  return known && found.f_type == file_system_of_processes;
}

// Containers of one rank each do not see their launcher's number.
TEST_F(Launched, IsTheSameInEveryNamespaceOfProcesses) {
  std::array<int, 2> first{};
  std::array<int, 2> second{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, first.data()), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, second.data()), 0);
  setenv("PMI_FD", std::to_string(first[0]).c_str(), 1);
  const auto key = program_key();
  setenv("PMI_FD", std::to_string(second[0]).c_str(), 1);
  EXPECT_EQ(program_key(), key);
  const int elsewhere = status_of(start_in_namespaces(CLONE_NEWUSER | CLONE_NEWPID, [&] {
    return program_key() == (are_told_apart_everywhere() ? key : "launcher 0 ");
  }));
  for (const int end : {first[0], first[1], second[0], second[1]}) close(end);
  if (elsewhere == forbidden) GTEST_SKIP() << "no namespaces can be made here";
  EXPECT_EQ(elsewhere, 1);
}

TEST_F(Launched, ARankIsTheOneThatAnybodySays) {
  EXPECT_EQ(rank_by_launcher(), -1);
  EXPECT_TRUE(speaks_for_all());
  setenv("PMI_RANK", "2", 1);
  EXPECT_EQ(rank_by_launcher(), 2) << "of a launcher without a socket";
  EXPECT_FALSE(speaks_for_all());
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_EQ(rank_by_launcher(), 0);
}

TEST_F(Launched, ProcessesHereAreThoseThatALauncherCounts) {
  EXPECT_EQ(processes_here(8), 0);
  setenv("MPI_LOCALNRANKS", "2", 1);
  setenv("PMI_SIZE", "8", 1);
  EXPECT_EQ(processes_here(8), 2);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);
  EXPECT_EQ(processes_here(8), 4);
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "many", 1);
  EXPECT_EQ(processes_here(8), 2);
}

TEST_F(Launched, ProcessesHereAreNotThoseOfALauncherFurtherOut) {
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
  EXPECT_EQ(processes_here(64), 0) << "a script under mpirun -n 1 that calls srun -n 64";
}

// ---- the ranks of a node tell one of them

std::map<int, std::string> heard_by(Gathering& gathering, bool waits = true) {
  std::map<int, std::string> heard;
  for (const auto& [rank, words] : gathering.hear(waits)) heard[rank] = words;
  return heard;
}

std::string own_key(const char* of) { return "test " + std::to_string(getpid()) + of; }

TEST(Gathering, IsByTheFirst) {
  Gathering first(own_key("a"), 2);
  Gathering second(own_key("a"), 0);
  Gathering third(own_key("a"), 1);
  Gathering elsewhere(own_key("b"), 0);
  EXPECT_TRUE(first.hears() && !second.hears() && !third.hears() && elsewhere.hears());
  second.tell("one\ntwo\n");
  std::thread later([&] { third.tell(""); });
  EXPECT_EQ(heard_by(first), (std::map<int, std::string>{{0, "one\ntwo\n"}, {1, ""}}));
  later.join();
  EXPECT_EQ(heard_by(elsewhere), (std::map<int, std::string>{}));
}

TEST(Gathering, WaitsForNobodyWhereItsOwnProgramHasFailed) {
  Gathering first(own_key("c"), 0);
  Gathering second(own_key("c"), 1);
  Gathering third(own_key("c"), 2);
  third.tell("word");
  EXPECT_EQ(heard_by(first, false), (std::map<int, std::string>{{1, ""}, {2, "word"}}));
}

// A script on each rank that starts one program after the other: who is fast must not wait for itself.
TEST(Gathering, OfAProgramHearsNothingOfTheNext) {
  Gathering first(own_key("d"), 0);
  Gathering second(own_key("d"), 1);
  Gathering next_of_second(own_key("d"), 1);
  second.tell("first");
  EXPECT_EQ(heard_by(first), (std::map<int, std::string>{{1, "first"}}));
  Gathering next(own_key("d"), 0);
  EXPECT_TRUE(next.hears());
  next_of_second.tell("next");
  EXPECT_FALSE(next_of_second.hears());
  EXPECT_EQ(heard_by(next), (std::map<int, std::string>{{1, "next"}}));
}

TEST(Gathering, IsAloneWithoutALauncher) {
  Gathering first(own_key("e"), -1);
  Gathering second(own_key("e"), -1);
  EXPECT_TRUE(first.hears() && second.hears());
  EXPECT_EQ(first.descriptor(), -1);
}

}  // namespace
}  // namespace progress_engine
