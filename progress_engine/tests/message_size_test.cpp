// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/message_size.hpp"

#include <gtest/gtest.h>

namespace progress_engine {
namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

TEST(MessageSize, IsWhatTheMpiSays) {
  EXPECT_EQ(bytes_of(3, 8), 24);
  EXPECT_EQ(bytes_of(2, 3 * gibibyte), 6 * gibibyte);
  EXPECT_EQ(bytes_of(0, 8), 0);
  EXPECT_EQ(bytes_of(5, 0), 0);
}

TEST(MessageSize, IsTheMostWhereThereIsNoNumber) {
  EXPECT_EQ(bytes_of(gibibyte * 16, gibibyte), most) << "2^64";
  EXPECT_EQ(bytes_of(1, -32766), most) << "MPI_UNDEFINED of MPICH";
  EXPECT_EQ(bytes_of(0, -32766), 0);
}

}  // namespace
}  // namespace progress_engine
