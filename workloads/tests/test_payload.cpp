// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "microbench/payload.h"

namespace workloads {
namespace {

using ::testing::HasSubstr;

TEST(Payload, AcceptsItsOwnSeedOnly) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 4096U, 100'001U}) {
    Payload payload(size);
    payload.fill(1);
    EXPECT_EQ(payload.check(1), "") << size;
    EXPECT_NE(payload.check(2), "") << size;
  }
}

TEST(Payload, NothingIsNeverWrong) {
  Payload payload(0);
  payload.fill(1);
  EXPECT_EQ(payload.check(2), "");
}

TEST(Payload, SeesOneChangedByteAnywhere) {
  constexpr std::size_t size = 1003;
  Payload payload(size);
  for (const std::size_t place : {0U, 1U, 500U, 1000U, 1002U}) {
    payload.fill(3);
    payload.bytes()[place] ^= std::byte{1};
    EXPECT_THAT(payload.check(3), HasSubstr("of 1003 bytes is wrong")) << place;
  }
}

TEST(Payload, SeesTheOldMessageInEveryByte) {
  constexpr std::size_t size = 64;
  Payload old(size);
  Payload fresh(size);
  old.fill(41);
  fresh.fill(42);
  for (std::size_t i = 0; i < size; ++i) {
    EXPECT_NE(old.bytes()[i], fresh.bytes()[i]) << i;
  }
}

TEST(Payload, IsPageAligned) {
  Payload payload(10);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(payload.data()) % 4096, 0U);
}

}  // namespace
}  // namespace workloads
