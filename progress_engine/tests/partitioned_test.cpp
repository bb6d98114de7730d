// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mpi/requests.hpp"

namespace progress_engine {
namespace {

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

}  // namespace
}  // namespace progress_engine
