// SPDX-License-Identifier: BSD-3-Clause
#include "platform/placement.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <latch>
#include <thread>

#include "refuse_call.h"

namespace progress_engine {
namespace {

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (Cpus{5}));
  EXPECT_EQ(parse_cpu_list("2047-2048"), (Cpus{2047, 2048}));
  EXPECT_EQ(parse_cpu_list("7,1,1-2"), (Cpus{1, 2, 7}));
  EXPECT_EQ(format_cpu_list({1, 2, 7}), "1,2,7");
}

TEST(CpuList, WhatIsNoListIsEmpty) {
  for (const char* text : {"", "a", "1-", "-1", "3-1", "1,,2", "1;2", "9999999"})
    EXPECT_TRUE(parse_cpu_list(text).empty());
}

// A kernel for more than 1024 CPUs refuses a shorter mask than its own.
TEST(AllowedCpusDeathTest, AreKnownHoweverManyTheMachineMayHave) {
  const Cpus own = allowed_cpus(0);
  EXPECT_EQ(number_of_cpus(), static_cast<int>(own.size()));
  EXPECT_EXIT(std::_Exit(refuse_call(SYS_sched_getaffinity, EINVAL, 0, sizeof(cpu_set_t)) && allowed_cpus(0) != own),
              testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::_Exit(refuse_call(SYS_sched_getaffinity, EPERM, 0, UINT_MAX) && number_of_cpus() < 1),
              testing::ExitedWithCode(0), "");
}

TEST(SpareCpus, AreWhatTheProcessDoesNotNeedItself) {
  EXPECT_EQ(spare_cpus({0, 1}, {}), (Cpus{1}));
  EXPECT_TRUE(spare_cpus({3}, {}).empty());
}

TEST(SpareCpus, AreKnownHoweverManyTheMachineMayHave) {
  EXPECT_EQ(spare_cpus({1023, 1024, 1025}, {{1024, 1025}}), (Cpus{1025}));
}

TEST(SpareCpus, NeighboursWithTheSameMaskTakeOneEach) {
  EXPECT_TRUE(spare_cpus({0, 1}, {{0, 1}}).empty());
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {{0, 1, 2, 3}}), (Cpus{2, 3}));
}

TEST(SpareCpus, ABoundNeighbourTakesNothingElsewhere) {
  EXPECT_EQ(spare_cpus({0, 1}, {{2}, {3}}), (Cpus{1}));
  EXPECT_EQ(spare_cpus({0, 1, 2}, {{1}}), (Cpus{2}));
}

// Three processes on two CPUs: the third has none, and takes none from the others.
TEST(SpareCpus, ThereAreNoneWhereCpusAreTooFew) { EXPECT_TRUE(spare_cpus({0, 1}, {{0, 1}, {0, 1}}).empty()); }

TEST(SpareCpus, EveryThreadThatComputesTakesOne) {
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {}, {{0, 1, 2, 3}, {0, 1, 2, 3}}), (Cpus{2, 3}));
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {}, {{3}, {1}}), (Cpus{0, 2})) << "bound, as by OMP_PLACES";
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {}, {}, 3), (Cpus{3})) << "they are to come";
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {}, {{2}}, 3), (Cpus{3})) << "one is there";
  EXPECT_TRUE(spare_cpus({0, 1}, {}, {}, 8).empty());
}

TEST(SpareCpus, NeighboursHaveAsManyThreads) {
  EXPECT_TRUE(spare_cpus({0, 1, 2, 3}, {{0, 1, 2, 3}}, {}, 2).empty());
  EXPECT_EQ(spare_cpus({0, 1, 2, 3, 4}, {{0, 1, 2, 3, 4}}, {}, 2), (Cpus{4}));
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {{4, 5, 6, 7}}, {}, 3), (Cpus{3})) << "a neighbour elsewhere";
  EXPECT_EQ(spare_cpus({0, 1, 2, 3}, {{0}}, {}, 2), (Cpus{3})) << "one on a single CPU takes no more";
}

TEST(OpenMp, IsAsItsEnvironmentSays) {
  EXPECT_EQ(openmp_threads(nullptr, nullptr), 1U);
  EXPECT_EQ(openmp_threads("6", nullptr), 6U);
  EXPECT_EQ(openmp_threads(" 4,2", "{0},{1}"), 4U) << "two levels of parallel regions";
  EXPECT_EQ(openmp_threads("many", nullptr), 1U);
  EXPECT_EQ(openmp_threads("", "{0:4},{4:4}"), 2U);
  EXPECT_EQ(openmp_threads(nullptr, "{0:4}:8:4"), 8U);
  EXPECT_EQ(openmp_threads(nullptr, "{0,1}, {2,3} : 3 : 2"), 4U);
  EXPECT_EQ(openmp_threads(nullptr, "cores(6)"), 6U);
  EXPECT_EQ(openmp_threads(nullptr, "threads"), 1U) << "no number";
  EXPECT_EQ(openmp_threads("0", "cores()"), 1U);
}

// Computes for so long that it counts.
void compute() {
  const Nanoseconds begin = cpu_time_of_this_thread();
  while (cpu_time_of_this_thread() - begin < microseconds(100'000)) {
  }
}

TEST(ComputingThreads, AreThoseThatUseTheirCpuAndNotTheEngines) {
  ComputingThreads threads;
  threads.look();       // what this process did until now does not count
  std::latch ready(4);  // who waits for it sleeps: this thread must not count
  std::atomic<bool> over{false};
  const Cpus all = allowed_cpus(0);
  const auto run = [&](bool computes, const char* name, bool bound) {
    if (name) pthread_setname_np(pthread_self(), name);
    if (bound) bind_this_thread_to({all.back()});
    if (computes) compute();
    ready.count_down();
    over.wait(false);
  };
  {
    const std::jthread one(run, true, nullptr, false);
    const std::jthread bound(run, true, nullptr, true);
    const std::jthread sleeper(run, false, nullptr, false);
    const std::jthread ours(run, true, "pe-progress", false);
    ready.wait();
    auto found = threads.look();
    over = true;
    over.notify_all();
    std::ranges::sort(found, {}, &Cpus::size);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0], (Cpus{all.back()}));
    EXPECT_EQ(found[1], all);
  }
  EXPECT_LE(threads.look().size(), 1U) << "they have ended";
}

TEST(SpareCpus, AreLookedForNowAndThen) {
  SpareCpus spare(allowed_cpus(0), 1);
  EXPECT_TRUE(spare.due(now()));
  const Nanoseconds begin = now();
  spare.look(begin);
  EXPECT_FALSE(spare.due(begin + microseconds(900'000)));
  EXPECT_TRUE(spare.due(begin + seconds(1)));
  spare.look(begin + seconds(1));
  EXPECT_FALSE(spare.due(begin + seconds(2)));
  EXPECT_LT(spare.cpus().size(), allowed_cpus(0).size()) << "this thread has one";
}

TEST(SpareCpus, AreNoneWhereOpenMpWillHaveThemAll) {
  EXPECT_TRUE(SpareCpus(allowed_cpus(0), openmp_threads("1024", nullptr)).look(now()).empty());
}

TEST(Binding, HoldsForTheCallingThreadAlone) {
  const Cpus before = allowed_cpus(0);
  ASSERT_FALSE(before.empty());
  std::thread([&] {
    EXPECT_TRUE(bind_this_thread_to({before.back()}));
    EXPECT_EQ(allowed_cpus(0), (Cpus{before.back()}));
  }).join();
  EXPECT_EQ(allowed_cpus(0), before);
}

TEST(Neighbours, RunTheSameProgram) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_GE(cpus_of_neighbours().size(), 1U);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace progress_engine
