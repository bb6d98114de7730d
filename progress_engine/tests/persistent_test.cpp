// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "mpi/requests.hpp"

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

}  // namespace
}  // namespace progress_engine
