// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/job.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace progress_engine {
namespace {

using namespace std::string_literals;

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
  static constexpr const char* names[] = {"PMIX_NAMESPACE",      "I_MPI_HYDRA_UUID",           "SLURM_STEP_ID",
                                          "SLURM_JOB_ID",        "SLURM_JOB_NODELIST",         "PMI_SPAWNED",
                                          "MPI_LOCALNRANKS",     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE",
                                          "OMPI_COMM_WORLD_SIZE"};
  std::map<std::string, std::string> before_;
};

TEST_F(Launched, AJobHasTheNameThatItsLauncherGivesIt) {
  EXPECT_EQ(job_name(), "");
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_STEP_ID", "2", 1);
  EXPECT_EQ(job_name(), "slurm 7 2 ");
  setenv("I_MPI_HYDRA_UUID", "ab-cd", 1);
  EXPECT_EQ(job_name(), "intel ab-cd ");
  setenv("PMI_SPAWNED", "1", 1);
  EXPECT_EQ(job_name(), "intel ab-cd 1") << "what was spawned has ranks of its own";
  setenv("PMIX_NAMESPACE", "prterun-n1-5@1", 1);
  EXPECT_EQ(job_name(), "pmix prterun-n1-5@1");
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

TEST_F(Launched, HostsAreThoseOfSlurmOrUnknown) {
  EXPECT_TRUE(job_hosts(names_of_hosts()).empty());
  setenv("SLURM_JOB_NODELIST", "n[1-2]", 1);
  EXPECT_EQ(job_hosts(names_of_hosts()), (std::vector<std::string>{"n1", "n2"}));
  setenv("PMIX_NAMESPACE", "none that a PMIx library here knows", 1);
  EXPECT_EQ(job_hosts(names_of_hosts()).size(), 2U);
}

TEST_F(Launched, HydrasProxyTellsItsControlPort) {
  const std::string port = "--control-port";
  EXPECT_EQ(option_in("/bin/hydra_pmi_proxy\0--control-port\0n1:46431\0--rmk\0user\0"s, port), "n1:46431");
  EXPECT_EQ(option_in("sh\0-c\0echo --control-port n1:1\0"s, port), "");
  EXPECT_EQ(option_in("", port), "");
}

// Two that a program spawned one after the other: both have ranks from 0 on, and the same launcher.
TEST_F(Launched, EachWorldOfARunHasANameOfItsOwn) {
  const auto proxy = [](const std::string& group) {
    return "/bin/hydra_pmi_proxy\0--control-port\0n1:46431\0--pgid\0"s + group + "\0--proxy-id\0"s + "0\0"s;
  };
  setenv("PMI_SPAWNED", "1", 1);
  EXPECT_EQ(job_name(proxy("1")), "hydra n1:46431 world 1");
  EXPECT_NE(job_name(proxy("1")), job_name(proxy("2")));
  setenv("I_MPI_HYDRA_UUID", "ab-cd", 1);
  EXPECT_NE(job_name(proxy("1")), job_name(proxy("2")));
}

}  // namespace
}  // namespace progress_engine
