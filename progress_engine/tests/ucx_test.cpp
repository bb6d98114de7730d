// SPDX-License-Identifier: BSD-3-Clause
// What is called in place of UCX's functions (fabrics/ucx.cpp), with a libucp made up behind it.
#include <gtest/gtest.h>

#include <vector>

#include "called.hpp"
#include "fakes/ucp.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {
namespace {

const auto ucp_init_version =
    called_for<std::int8_t (*)(unsigned, unsigned, const void*, const void*, void**)>(ucx_calls(), "ucp_init_version");
const auto ucp_worker_create =
    called_for<std::int8_t (*)(void*, const void*, void**)>(ucx_calls(), "ucp_worker_create");
const auto ucp_worker_progress = called_for<unsigned (*)(void*)>(ucx_calls(), "ucp_worker_progress");
const auto ucp_worker_destroy = called_for<void (*)(void*)>(ucx_calls(), "ucp_worker_destroy");

constexpr std::uint64_t tag_matching = 1;

class Ucx : public testing::Test {
 protected:
  void SetUp() override {
    fake_ucp::state() = {};
    fake_ucp::state().descriptor = 42;
    fabrics().want(Fabric::ucx, true);
    fabrics().refuse(Fabric::ucx, "");
  }
  void TearDown() override {
    ucp_worker_destroy(&fake_ucp::state().with);
    fabrics().want(Fabric::ucx, false);
  }
  static Fabrics& fabrics() { return fabrics_of_process(); }

  // A worker of a context with these parameters: the mask, and as many fields as it names.
  static void* worker(const std::vector<std::uint64_t>& parameters = {1, tag_matching}) {
    void* context = nullptr;
    void* made = nullptr;
    EXPECT_EQ(ucp_init_version(1, 13, parameters.data(), nullptr, &context), 0);
    EXPECT_EQ(ucp_worker_create(context, nullptr, &made), 0);
    return made;
  }
};

TEST_F(Ucx, GetsTheFeatureBesideWhatTheMpiAsks) {
  const std::vector<std::uint64_t> asked = {0b10000011, tag_matching, 64, 0, 0, 0, 0, 0, 7};
  const auto before = asked;
  const void* made = worker(asked);
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching | fake_ucp::wakeup);
  EXPECT_EQ(fake_ucp::state().given[1], 64U);
  EXPECT_EQ(fake_ucp::state().given[7], 7U);
  EXPECT_EQ(asked, before) << "the MPI's own are not written to";
  EXPECT_EQ(fabrics().find(made).descriptor, 42);
}

TEST_F(Ucx, IsAsItWasWhereNobodyWantsIt) {
  fabrics().want(Fabric::ucx, false);
  const void* made = worker();
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching);
  EXPECT_LT(fabrics().find(made).descriptor, 0);
}

TEST_F(Ucx, WithoutTheFeatureRunsWithoutItAndSaysSo) {
  fake_ucp::state().has_wakeup = false;
  const void* made = worker();
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching);
  EXPECT_LT(fabrics().find(made).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::ucx).find("WAKEUP"), std::string::npos);
}

TEST_F(Ucx, OfLaterVersionsParametersIsLeftAlone) {
  const void* made = worker({1U << 10 | 1U, tag_matching, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(fake_ucp::state().given[0], tag_matching);
  EXPECT_LT(fabrics().find(made).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::ucx), "");
}

TEST_F(Ucx, IsArmedBehindAPollThatFoundNothing) {
  void* made = worker();
  ucp_worker_progress(made);
  EXPECT_EQ(fake_ucp::state().arms, 0) << "nobody is about to sleep";
  fake_ucp::state().events = 2;
  const auto steps = fabric_steps;
  ucp_worker_progress(made);
  EXPECT_EQ(fabric_steps, steps + 2);
  fake_ucp::state().events = 2;
  ArmingRound round(fabrics());
  EXPECT_EQ(ucp_worker_progress(made), 2U) << "the MPI hears what was moved";
  EXPECT_EQ(fake_ucp::state().arms, 0);
  EXPECT_TRUE(round.moved());
  EXPECT_EQ(fabric_steps, steps + 4);
  fake_ucp::state().events = 0;
  EXPECT_EQ(ucp_worker_progress(made), 0U);
  EXPECT_EQ(fake_ucp::state().arms, 1);
  ASSERT_EQ(round.armed().size(), 1U);
  EXPECT_EQ(round.armed()[0].descriptor, 42);
}

TEST_F(Ucx, SaysBusyOrFails) {
  void* made = worker();
  {
    fake_ucp::state().arm_says = -15;
    ArmingRound round(fabrics());
    ucp_worker_progress(made);
    EXPECT_TRUE(round.busy() && round.armed().empty());
  }
  fake_ucp::state().arm_says = -3;
  ArmingRound round(fabrics());
  ucp_worker_progress(made);
  EXPECT_FALSE(round.again());
  EXPECT_LT(fabrics().find(made).descriptor, 0);
  EXPECT_NE(fabrics().refusal(Fabric::ucx).find("could not be armed"), std::string::npos);
}

}  // namespace
}  // namespace progress_engine
