// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "core/progress.hpp"
#include "mpi/abi.hpp"

namespace progress_engine {
namespace {

using State = PersistentRequests::State;

TEST(PersistentRequests, AreActiveBetweenStartAndCompletion) {
  PersistentRequests requests;
  EXPECT_TRUE(requests.empty());
  requests.add(7);
  EXPECT_FALSE(requests.deactivate(7));
  EXPECT_TRUE(requests.activate(7));
  EXPECT_TRUE(requests.deactivate(7));
  EXPECT_FALSE(requests.deactivate(7));  // waiting twice completes nothing twice
}

TEST(PersistentRequests, OneThatCameBehindOurBackIsTakenIn) {
  PersistentRequests requests;
  EXPECT_TRUE(requests.activate(9));
  EXPECT_FALSE(requests.activate(9));
  EXPECT_TRUE(requests.deactivate(9));
}

TEST(PersistentRequests, FreeingSaysWhatItWas) {
  PersistentRequests requests;
  EXPECT_EQ(requests.remove(1), State::unknown);
  requests.add(1);
  EXPECT_EQ(requests.remove(1), State::inactive);
  EXPECT_EQ(requests.remove(1), State::unknown);
  requests.activate(1);
  EXPECT_EQ(requests.remove(1), State::active);
  EXPECT_TRUE(requests.empty());
}

// MPI_Start says nothing but the request.
TEST(PersistentRequests, RememberWhetherAStartConcernsAll) {
  PersistentRequests requests;
  requests.concerns_all(1);  // of one that is not known
  EXPECT_TRUE(requests.empty());
  requests.add(1);
  bool all = false;
  EXPECT_TRUE(requests.activate(1, &all));
  EXPECT_FALSE(all);
  requests.concerns_all(1);
  requests.activate(1, &all);
  EXPECT_TRUE(all);
  requests.remove(1);
  requests.add(1);
  all = false;
  requests.activate(1, &all);
  EXPECT_FALSE(all) << "the handle was given out again";
}

TEST(PersistentRequests, HandlesMayBePointers) {
  PersistentRequests requests;
  int one = 0;
  int two = 0;
  requests.add(&one);
  EXPECT_TRUE(requests.activate(&one));
  EXPECT_FALSE(requests.deactivate(&two));
}

TEST(Partitioned, ASendWaitsFromItsStartToItsLastPartition) {
  PartitionedRequests<int> requests;
  EXPECT_TRUE(requests.empty());
  requests.add(7, 3);
  EXPECT_FALSE(requests.ready(7, 1)) << "it was not started";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(requests.started(7), 1);
    EXPECT_FALSE(requests.ready(7, 2));
    EXPECT_TRUE(requests.ready(7, 1));
    EXPECT_FALSE(requests.ready(7, 1)) << "it waited no more";
  }
}

TEST(Partitioned, AReceiveWaitsForItsFirstStartAndOthersNever) {
  PartitionedRequests<int> requests;
  EXPECT_TRUE(requests.add(1, 0));
  EXPECT_EQ(requests.started(1), -1);
  EXPECT_EQ(requests.started(1), 0);
  EXPECT_EQ(requests.started(2), 0);
  EXPECT_FALSE(requests.ready(2, 1));
}

TEST(Partitioned, AReceiveThatWasNeverStartedStillWaits) {
  PartitionedRequests<int> requests;
  EXPECT_TRUE(requests.add(1, 0));
  EXPECT_TRUE(requests.remove(1));
}

TEST(Partitioned, KnowsItsOwnAndForgetsThem) {
  PartitionedRequests<int> requests;
  requests.add(1, 0);
  EXPECT_FALSE(requests.add(2, 4)) << "it waits when it was started";
  EXPECT_EQ(requests.started(1), -1);
  const int others[] = {8, 9};
  const int some[] = {8, 2};
  EXPECT_FALSE(requests.has_any_of(2, others));
  EXPECT_TRUE(requests.has_any_of(2, some));
  EXPECT_EQ(requests.started(2), 1);
  EXPECT_TRUE(requests.remove(2)) << "it still waited";
  EXPECT_FALSE(requests.remove(1));
  EXPECT_TRUE(requests.empty());
}

TEST(NearRanks, AreAskedForOnceAndAgainWhereMoreNeighboursAreKnown) {
  NearRanks near;
  EXPECT_EQ(near.find(1, 0, 2), std::nullopt);
  EXPECT_EQ(near.add(1, 0, 2, {{5, 50}, {0, 7}}), 7);
  EXPECT_EQ(near.find(1, 5, 2), 50);
  EXPECT_EQ(near.find(1, 4, 2), -1);
  EXPECT_EQ(near.find(2, 5, 2), std::nullopt);
  EXPECT_EQ(near.find(1, 5, 3), std::nullopt);
  EXPECT_EQ(near.add(1, 4, 3, {{4, 40}}), 40);
  EXPECT_EQ(near.find(1, 5, 3), -1);
  near.forget(1);
  EXPECT_EQ(near.find(1, 4, 3), std::nullopt) << "the handle may come again";
}

TEST(Abi, AnMpiLibraryIsToldByItsName) {
  for (const char* name : {"libmpi.so.40", "/usr/lib/libmpich.so.12", "libmpi_abi.so.1", "libmpi_gnu_91.so.12",
                           "libmpi_cray.so.12", "libmpich_gnu_82.so.3", "libmpi_nvidia.so.12", "libmpi_ibm.so.3"})
    EXPECT_TRUE(is_mpi_library(name)) << name;
  for (const char* name : {"libmpi", "libmpifort.so.12", "libmpi_gtl_cuda.so.0", "libmpi_usempif08.so.40",
                           "libmpi_gnu_91_extra.so.12", "libc.so.6", "libmpi_cxx.so.40", "a.out"})
    EXPECT_FALSE(is_mpi_library(name)) << name;
}

TEST(Abi, MpichsVendorsAreOfItsAbiAndOpenMpisAreNot) {
  for (const char* name : {"libmpi.so.12", "libmpich.so.12", "libmpi_gnu_91.so.12", "libmpi_cray.so.12"})
    EXPECT_TRUE(same_abi(name, "libmpi.so.12")) << name;
  for (const char* name : {"libmpi_gnu_91.so.12", "libmpi_ibm.so.3", "libmpi.so.12", "libmpi_abi.so.1"})
    EXPECT_FALSE(same_abi(name, "libmpi.so.40")) << name;
  EXPECT_FALSE(same_abi("libmpich_gnu_82.so.3", "libmpi.so.12"));
}

TEST(Abi, AFileOfAReleaseIsOfItsLibrarysAbi) {
  EXPECT_TRUE(same_abi("libmpi_abi.so.1.0", "libmpi_abi.so.1"));
  EXPECT_TRUE(same_abi("/opt/mpi/lib/libmpi.so.12.0.0", "libmpi.so.12"));
  EXPECT_FALSE(same_abi("libmpi.so.120", "libmpi.so.12"));
  EXPECT_FALSE(same_abi("libmpi.so", "libmpi.so.12"));
}

class Counting : public NamedProgressFunction {
 public:
  Counting(std::string name, int& polls) : name_(std::move(name)), polls_(polls) {}
  void poll() override { ++polls_; }
  std::string name() const override { return name_; }

 private:
  std::string name_;
  int& polls_;
};

class Switching : public testing::Test {
 protected:
  static std::vector<std::unique_ptr<NamedProgressFunction>> two(int& first, int& second) {
    std::vector<std::unique_ptr<NamedProgressFunction>> functions;
    functions.push_back(std::make_unique<Counting>("first", first));
    functions.push_back(std::make_unique<Counting>("second", second));
    return functions;
  }
  int first = 0;
  int second = 0;
  SwitchingProgressFunction progress{two(first, second)};
  static constexpr BurstResult idle{.polls = SwitchingProgressFunction::most_idle_polls / 2};
};

TEST_F(Switching, GoesOnWhenOperationsCompleteAndPollsMoveNothing) {
  progress.after_burst(idle, 0);
  progress.poll();
  EXPECT_EQ(progress.name(), "first");
  progress.after_burst(idle, SwitchingProgressFunction::evidence);
  progress.poll();
  EXPECT_EQ(progress.name(), "second");
  EXPECT_EQ(progress.switches(), 1U);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST_F(Switching, StaysWhileNothingCompletes) {
  for (int i = 0; i < 100; ++i) progress.after_burst(idle, SwitchingProgressFunction::evidence - 1);
  EXPECT_EQ(progress.name(), "first");
}

TEST_F(Switching, StaysWhilePollsMoveSomething) {
  BurstResult productive = idle;
  productive.productive = 1;
  for (std::uint64_t i = 0; i < 100; ++i) progress.after_burst(productive, i * SwitchingProgressFunction::evidence);
  EXPECT_EQ(progress.name(), "first");
}

TEST_F(Switching, StaysAtTheLast) {
  for (std::uint64_t i = 0; i < 100; ++i) progress.after_burst(idle, i * SwitchingProgressFunction::evidence);
  EXPECT_EQ(progress.name(), "second");
  EXPECT_EQ(progress.candidates(), (std::vector<std::string>{"first", "second"}));
}

}  // namespace
}  // namespace progress_engine
