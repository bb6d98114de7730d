// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <filesystem>

#include "fabrics/fabrics.hpp"
#include "policy/settings.hpp"

namespace progress_engine {
namespace {

void expect(const Watched& watched, bool sockets, const PerFabric<bool>& fabrics) {
  EXPECT_EQ(watched.sockets, sockets);
  EXPECT_EQ(watched.fabrics, fabrics);
}

TEST(Watched, IsWhatTheSettingNames) {
  for (const bool device : {false, true}) {
    expect(what_to_watch(Announcements::sockets, device), true, {false, false, false});
    expect(what_to_watch(Announcements::ucx, device), false, {true, false, false});
    expect(what_to_watch(Announcements::libfabric, device), false, {false, true, false});
    expect(what_to_watch(Announcements::verbs, device), false, {false, false, true});
    expect(what_to_watch(Announcements::none, device), false, {false, false, false});
  }
}

TEST(Watched, ChangesNoLibraryWhereAllTrafficIsOnSockets) {
  expect(what_to_watch(Announcements::automatic, false), true, {false, false, false});
  expect(what_to_watch(Announcements::automatic, true), true, {true, true, true});
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

TEST(Watched, WhatOneQueueLacksIsSaidWhereNoOtherAnnounces) {
  Fabrics fabrics;
  EXPECT_NE(what_lacks(Announcements::verbs, fabrics).find("does not use them itself"), std::string::npos);
  fabrics.pass_over(Fabric::verbs, "the MPI waits for it itself");
  EXPECT_EQ(what_lacks(Announcements::verbs, fabrics), "events=verbs: the MPI waits for it itself");
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "the MPI waits for it itself");
  fabrics.opened(Fabric::verbs, &fabrics, 3);
  EXPECT_EQ(what_lacks(Announcements::verbs, fabrics), "");
  EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), "");
}

// Verbs are what the others stand on: of them nothing is told where it is these that the MPI uses.
TEST(Watched, VerbsAreTheirAffairWhereUcxOrLibfabricIsUsed) {
  for (const bool refused : {false, true}) {
    Fabrics fabrics;
    fabrics.pass_over(Fabric::verbs, "they are UCX's");
    if (refused)
      fabrics.refuse(Fabric::ucx, "no descriptor");
    else
      fabrics.opened(Fabric::ucx, &fabrics, 3);
    EXPECT_EQ(what_lacks(Announcements::automatic, fabrics), refused ? "no descriptor" : "");
  }
}

}  // namespace
}  // namespace progress_engine
