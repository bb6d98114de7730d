// SPDX-License-Identifier: BSD-3-Clause
#include "platform/placement.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace progress_engine {
namespace {

TEST(CpuList, IsReadAsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (Cpus{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_cpu_list("5"), (Cpus{5}));
  EXPECT_EQ(parse_cpu_list("7,1,1-2"), (Cpus{1, 2, 7}));
  EXPECT_EQ(format_cpu_list({1, 2, 7}), "1,2,7");
}

TEST(CpuList, WhatIsNoListIsEmpty) {
  for (const char* text : {"", "a", "1-", "-1", "3-1", "1,,2", "1;2", "99999"})
    EXPECT_TRUE(parse_cpu_list(text).empty());
}

TEST(SpareCpus, AreWhatTheProcessDoesNotNeedItself) {
  EXPECT_EQ(spare_cpus({0, 1}, {}), (Cpus{1}));
  EXPECT_TRUE(spare_cpus({3}, {}).empty());
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
