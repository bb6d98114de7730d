// SPDX-License-Identifier: BSD-3-Clause
// What the engine knows of libibverbs' objects, against the library's own header where this machine has it.
#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#include "fabrics/fabrics.hpp"

#if __has_include(<infiniband/verbs.h>)
#include <infiniband/verbs.h>
#endif

namespace {

TEST(VerbsAbi, IsTheHeaders) {
#if __has_include(<infiniband/verbs.h>)
  namespace ours = progress_engine::verbs;
  EXPECT_EQ(offsetof(ours::Context, poll_cq), offsetof(ibv_context, ops) + offsetof(ibv_context_ops, poll_cq));
  EXPECT_EQ(offsetof(ours::Context, request_notification),
            offsetof(ibv_context, ops) + offsetof(ibv_context_ops, req_notify_cq));
  EXPECT_EQ(offsetof(ours::Channel, descriptor), offsetof(ibv_comp_channel, fd));
  EXPECT_EQ(offsetof(ours::Cq, context), offsetof(ibv_cq, context));
  EXPECT_EQ(offsetof(ours::Cq, channel), offsetof(ibv_cq, channel));
  EXPECT_TRUE((std::is_same_v<decltype(&ibv_get_cq_event), int (*)(ibv_comp_channel*, ibv_cq**, void**)>));
  EXPECT_TRUE((std::is_same_v<decltype(&ibv_ack_cq_events), void (*)(ibv_cq*, unsigned)>));
  EXPECT_TRUE(
      (std::is_same_v<decltype(&ibv_create_cq), ibv_cq* (*)(ibv_context*, int, void*, ibv_comp_channel*, int)>));
#else
  GTEST_SKIP() << "no infiniband/verbs.h";
#endif
}

}  // namespace
