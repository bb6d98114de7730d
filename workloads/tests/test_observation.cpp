// SPDX-License-Identifier: BSD-3-Clause
// What a rank observes of its node and of itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/network_counters.h"
#include "common/noise.h"
#include "common/placement.h"
#include "common/thread_usage.h"

namespace workloads {
namespace {

namespace fs = std::filesystem;

constexpr const char* net_dev =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier\n"
    "    lo: 1000       10    0    0    0     0          0         0     2000      10    0    0    0     0       0\n"
    "  eth0:5000000000  20    1    0    0     0          0         0 18446744073709551615 9 0 0 0 0 0\n";

TEST(NetworkCounters, ReadsTheKernelsTable) {
  std::istringstream text(net_dev);
  const auto counters = parse_proc_net_dev(text);
  ASSERT_EQ(counters.size(), 2U);
  EXPECT_EQ(counters.at("lo").received, 1000U);
  EXPECT_EQ(counters.at("lo").sent, 2000U);
  EXPECT_EQ(counters.at("eth0").received, 5'000'000'000U);
  EXPECT_EQ(counters.at("eth0").sent, 18446744073709551615U);
}

TEST(NetworkCounters, ThisNodeHasALoopback) { EXPECT_TRUE(read_network_counters().contains("lo")); }

TEST(NetworkCounters, InfinibandCountsFourBytes) {
  const auto root = fs::temp_directory_path() / ("infiniband-" + std::to_string(getpid()));
  const auto folder = root / "mlx5_0" / "ports" / "1" / "counters";
  fs::create_directories(folder);
  std::ofstream(folder / "port_rcv_data") << "10\n";
  std::ofstream(folder / "port_xmit_data") << "20\n";
  const auto counters = read_infiniband(root);
  fs::remove_all(root);
  ASSERT_TRUE(counters.contains("mlx5_0/1"));
  EXPECT_EQ(counters.at("mlx5_0/1").received, 40U);
  EXPECT_EQ(counters.at("mlx5_0/1").sent, 80U);
  EXPECT_TRUE(read_infiniband(root).empty());
}

TEST(NetworkCounters, DifferencesKnowNewAndResetInterfaces) {
  const NetworkCounters begin{{"eth0", {.received = 100, .sent = 100}}};
  const NetworkCounters end{{"eth0", {.received = 150, .sent = 50}}, {"eth1", {.received = 7, .sent = 8}}};
  const Json expected{{"eth0", {{"received", 50}, {"sent", 0}}}, {"eth1", {{"received", 7}, {"sent", 8}}}};
  EXPECT_EQ(interface_bytes_between(begin, end), expected);
}

TEST(Noise, CountsTheRanksCpusOnly) {
  std::istringstream text(
      "cpu  1 2 3 4 5 6 700 800 0 0\n"
      "cpu0 1 2 3 4 5 6 100 200 0 0\n"
      "cpu1 1 2 3 4 5 6 300 400 0 0\n"
      "cpu10 1 2 3 4 5 6 1000 2000 0 0\n"
      "intr 12345\n");
  const auto noise = parse_proc_stat(text, {1, 10}, 100);
  EXPECT_DOUBLE_EQ(noise.softirq_s, 13);
  EXPECT_DOUBLE_EQ(noise.steal_s, 24);
}

TEST(Noise, NeverNegative) {
  const Json difference = noise_between({.steal_s = 2, .softirq_s = 1, .involuntary_switches = 5}, {.steal_s = 1});
  EXPECT_EQ(difference, (Json{{"steal_s", 0.0}, {"softirq_s", 0.0}, {"involuntary_switches", 0}}));
}

TEST(Placement, TheCurrentCpuIsAllowed) {
  const auto cpus = allowed_cpus();
  EXPECT_NE(std::ranges::find(cpus, current_cpu()), cpus.end());
  EXPECT_FALSE(host_name().empty());
}

TEST(Usage, TellsTheOtherThreadsFromThisOne) {
  const Usage begin = read_usage();
  std::thread sleeper([] {
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  sleeper.join();
  const Usage used = read_usage() - begin;
  EXPECT_GE(used.other.voluntary, 20);
  EXPECT_LT(used.application.voluntary, 20);
  EXPECT_GT(used.cpu_s, 0);
}

}  // namespace
}  // namespace workloads
