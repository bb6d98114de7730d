// SPDX-License-Identifier: BSD-3-Clause
#include "fabrics/watched.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace progress_engine {
namespace {

TEST(Watched, IsWhatTheSettingNames) {
  for (const bool device : {false, true}) {
    const auto sockets = what_to_watch(Announcements::sockets, device);
    EXPECT_TRUE(sockets.sockets && !sockets.ucx && !sockets.libfabric);
    const auto ucx = what_to_watch(Announcements::ucx, device);
    EXPECT_TRUE(!ucx.sockets && ucx.ucx && !ucx.libfabric);
    const auto libfabric = what_to_watch(Announcements::libfabric, device);
    EXPECT_TRUE(!libfabric.sockets && !libfabric.ucx && libfabric.libfabric);
    const auto none = what_to_watch(Announcements::none, device);
    EXPECT_TRUE(!none.sockets && !none.ucx && !none.libfabric);
  }
}

TEST(Watched, ChangesNoLibraryWhereAllTrafficIsOnSockets) {
  const auto without = what_to_watch(Announcements::automatic, false);
  EXPECT_TRUE(without.sockets && !without.ucx && !without.libfabric);
  const auto with = what_to_watch(Announcements::automatic, true);
  EXPECT_TRUE(with.sockets && with.ucx && with.libfabric);
}

TEST(Watched, DevicesAreThoseThatTheKernelLists) {
  const std::filesystem::path root = testing::TempDir() + "progress_engine_devices";
  for (const char* device : {"sys/class/infiniband/mlx5_0", "sys/class/cxi/cxi0"}) {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories((root / device).parent_path());
    EXPECT_FALSE(has_fabric_device(root)) << "a class without a device";
    std::filesystem::create_directories(root / device);
    EXPECT_TRUE(has_fabric_device(root)) << device;
  }
  std::filesystem::remove_all(root);
}

TEST(Watched, WhatIsNamedAndMissingIsSaid) {
  Fabrics fabrics;
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "");
  EXPECT_NE(what_lacks(Announcements::ucx, fabrics).find("events=ucx: the MPI made no worker"), std::string::npos);
  fabrics.refuse(Fabric::ucx, "it has no descriptor");
  EXPECT_EQ(what_lacks(Announcements::ucx, fabrics), "events=ucx: it has no descriptor");
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "it has no descriptor") << "told, though it was not named";
  fabrics.opened(Fabric::ucx, &fabrics, 3);
  EXPECT_EQ(what_lacks(Announcements::ucx, fabrics), "");
  EXPECT_NE(what_lacks(Announcements::libfabric, fabrics), "");
}

}  // namespace
}  // namespace progress_engine
