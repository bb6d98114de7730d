// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/own_progress.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace progress_engine {
namespace {

using Variables = std::map<std::string, std::string>;

NetworkFacts with(NetworkFacts facts, const Variables& variables) {
  facts.variable = [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  return facts;
}

const NetworkFacts slingshot{.variable = {}, .libraries = {"libfabric.so"}, .devices = {"/dev/cxi0"}, .adapters = {}};
const NetworkFacts infiniband{.variable = {},
                              .libraries = {"libucp.so", "libuct_ib.so"},
                              .devices = {"/dev/infiniband/uverbs0"},
                              .adapters = {"mlx5_0"}};
const NetworkFacts omni_path{
    .variable = {}, .libraries = {"libpsm2.so"}, .devices = {"/dev/hfi1_0"}, .adapters = {"hfi1_0"}};

void expect_progress(const NetworkFacts& facts, const Variables& variables, const std::string& variable) {
  const auto found = own_progress(with(facts, variables));
  EXPECT_NE(found.by.find(variable), std::string::npos) << found.by;
  EXPECT_EQ(found.hint, "");
}

void expect_hint(const NetworkFacts& facts, const Variables& variables, const std::string& hint) {
  const auto found = own_progress(with(facts, variables));
  EXPECT_EQ(found.by, "");
  EXPECT_NE(found.hint.find(hint), std::string::npos) << found.hint;
}

TEST(OwnProgress, NobodysOnSockets) {
  const auto found = own_progress(with({}, {{"PSM2_RCVTHREAD", "1"}, {"UCX_RC_TM_ENABLE", "y"}}));
  EXPECT_EQ(found.by + found.hint, "");
}

TEST(OwnProgress, OfSlingshotsAdapterUnlessSoftwareMatches) {
  expect_progress(slingshot, {}, "FI_CXI_RX_MATCH_MODE");
  expect_progress(slingshot, {{"FI_CXI_RX_MATCH_MODE", "hybrid"}}, "FI_CXI_RX_MATCH_MODE");
  expect_hint(slingshot, {{"FI_CXI_RX_MATCH_MODE", "software"}}, "FI_CXI_RX_MATCH_MODE=hardware");
}

TEST(OwnProgress, OfAnInfinibandAdapterThatMatches) {
  expect_progress(infiniband, {{"UCX_DC_MLX5_TM_ENABLE", "y"}}, "UCX_DC_MLX5_TM_ENABLE");
  expect_progress(infiniband, {{"UCX_RC_MLX5_TM_ENABLE", "Yes"}}, "UCX_RC_MLX5_TM_ENABLE");
  expect_hint(infiniband, {}, "UCX_RC_MLX5_TM_ENABLE=y");
  expect_hint(infiniband, {{"UCX_RC_TM_ENABLE", "n"}}, "UCX_RC_MLX5_TM_ENABLE=y");
  auto soft = infiniband;
  soft.adapters = {"rxe0"};
  EXPECT_EQ(own_progress(with(soft, {{"UCX_RC_TM_ENABLE", "y"}})).by, "") << "soft-RoCE matches nothing";
}

TEST(OwnProgress, OfPsm2sThread) {
  expect_progress(omni_path, {}, "PSM2_RCVTHREAD");
  expect_hint(omni_path, {{"PSM2_RCVTHREAD", "0"}}, "PSM2_RCVTHREAD=1");
  auto unused = omni_path;
  unused.devices = {};
  EXPECT_EQ(own_progress(with(unused, {})).by, "") << "loaded, but another network is used";
}

TEST(OwnProgress, AdaptersAreThoseThatTheKernelLists) {
  const std::filesystem::path root = testing::TempDir() + "progress_engine_adapters";
  EXPECT_TRUE(verbs_adapters(root).empty());
  std::filesystem::create_directories(root / "sys/class/infiniband/mlx5_0");
  EXPECT_EQ(verbs_adapters(root), std::vector<std::string>{"mlx5_0"});
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace progress_engine
