// SPDX-License-Identifier: BSD-3-Clause
// What a rank observes of its machine and of itself.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "common/kernel_counters.h"
#include "common/machine.h"
#include "common/noncopyable.h"
#include "minife/calls.h"

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

/// A made-up /sys of powercap and, when asked for, of a Cray, gone with the object.
class Powercap : NonCopyable {
 public:
  Powercap() { fs::create_directories(root_); }
  ~Powercap() { fs::remove_all(sysfs_); }

  void cray(const std::string& energy) const {
    fs::create_directories(node().parent_path());
    std::ofstream(node()) << energy << '\n';
    std::ofstream(node().parent_path() / "cpu_energy") << "7 J 1 us\n";
  }
  [[nodiscard]] fs::path node() const { return sysfs_ / "cray/pm_counters/energy"; }

  void zone(const std::string& folder, const std::string& name, const std::string& range_uj = "1000000000") const {
    fs::create_directories(root_ / folder);
    std::ofstream(root_ / folder / "name") << name << '\n';
    std::ofstream(root_ / folder / "max_energy_range_uj") << range_uj << '\n';
    set(folder, 0);
  }
  void set(const std::string& folder, std::uint64_t energy_uj) const {
    std::ofstream(counter(folder)) << energy_uj << '\n';
  }
  /// Also for root, whom no mode of a file keeps out.
  void hide(const std::string& folder) const {
    fs::remove(counter(folder));
    fs::create_directory(counter(folder));
  }
  [[nodiscard]] fs::path counter(const std::string& folder) const { return root_ / folder / "energy_uj"; }
  [[nodiscard]] const fs::path& root() const { return root_; }
  [[nodiscard]] const fs::path& sysfs() const { return sysfs_; }

 private:
  fs::path sysfs_ = fs::temp_directory_path() / ("sys-" + std::to_string(getpid()));
  fs::path root_ = sysfs_ / "class/powercap";
};

TEST(Energy, IsOfThePackagesAloneAndOverTheEndsOfTheirCounters) {
  const Powercap powercap;
  powercap.zone("intel-rapl:0", "package-0");
  powercap.zone("intel-rapl:1", "package-1", "262143000000");
  const std::map<std::string, std::string> others{{"intel-rapl", "control"},
                                                  {"intel-rapl:0:0", "core"},
                                                  {"intel-rapl:2", "psys"},
                                                  {"intel-rapl-mmio:0", "package-0"}};
  for (const auto& [folder, name] : others) {
    powercap.zone(folder, name);
  }
  powercap.set("intel-rapl:0", 900'000'000);
  powercap.set("intel-rapl:1", 5'000'000);
  EnergyMeter meter(powercap.sysfs());
  for (const auto& [folder, name] : others) {
    powercap.set(folder, 77'000'000);
  }
  powercap.set("intel-rapl:0", 950'000'000);
  powercap.set("intel-rapl:1", 7'500'000);
  meter.update();
  EXPECT_DOUBLE_EQ(meter.report()["joules"].get<double>(), 52.5);
  for (const std::uint64_t later : {100'000'000, 50'000'000}) {  // anew before each
    powercap.set("intel-rapl:0", later);
    meter.update();
  }
  EXPECT_DOUBLE_EQ(meter.report()["joules"].get<double>(), 52.5 + 150 + 950);
  EXPECT_EQ(meter.report()["source"], "powercap");
  EXPECT_GT(meter.report()["seconds"].get<double>(), 0);
  EXPECT_FALSE(meter.report()["machine"].get<std::string>().empty());
}

TEST(Energy, SaysWhyItIsNotKnown) {
  const Powercap powercap;
  const auto why = [](const EnergyMeter& meter) {
    EXPECT_FALSE(meter.report().contains("joules"));
    return meter.report()["unread"].get<std::string>();
  };
  const auto none = "no processor package in " + powercap.root().string();
  EXPECT_EQ(why(EnergyMeter(powercap.sysfs())), none);
  EXPECT_EQ(why(EnergyMeter(powercap.sysfs() / "not")),
            "no processor package in " + (powercap.sysfs() / "not/class/powercap").string());
  powercap.zone("intel-rapl:0", "package-0", "");
  EXPECT_EQ(why(EnergyMeter(powercap.sysfs())),
            (powercap.root() / "intel-rapl:0" / "max_energy_range_uj").string() + ": no number");
  powercap.zone("intel-rapl:0", "package-0");
  powercap.zone("intel-rapl:1", "package-1");
  EnergyMeter meter(powercap.sysfs());
  powercap.hide("intel-rapl:1");
  meter.update();  // half of a machine's energy is none
  EXPECT_EQ(why(meter), powercap.counter("intel-rapl:1").string() + ": Is a directory");
  EXPECT_EQ(why(EnergyMeter(powercap.sysfs())), why(meter));
}

TEST(Energy, OfACrayIsThatOfTheWholeNode) {
  const Powercap sysfs;
  sysfs.zone("intel-rapl:0", "package-0");
  sysfs.cray("5000 J 1000000 us");
  EnergyMeter meter(sysfs.sysfs());
  sysfs.set("intel-rapl:0", 77'000'000);
  sysfs.cray("5321 J 3000000 us");
  meter.update();
  EXPECT_EQ(meter.report()["source"], "pm_counters");
  EXPECT_DOUBLE_EQ(meter.report()["joules"].get<double>(), 321);
  EXPECT_GT(meter.report()["seconds"].get<double>(), 0);
  sysfs.cray("4 J 4000000 us");
  meter.update();
  EXPECT_EQ(meter.report()["unread"], sysfs.node().string() + ": it began anew");
}

TEST(Energy, OfACrayThatDoesNotTellItIsThatOfItsProcessors) {
  const Powercap sysfs;
  for (const auto* unread : {"", "none", "12 W 1000000 us"}) {
    sysfs.cray(unread);
    const std::string reason = EnergyMeter(sysfs.sysfs()).report()["unread"];
    EXPECT_TRUE(reason.starts_with(sysfs.node().string() + ": no ")) << reason;
    EXPECT_NE(reason.find("; no processor package in "), std::string::npos) << reason;
  }
  sysfs.zone("intel-rapl:0", "package-0");
  EXPECT_EQ(EnergyMeter(sysfs.sysfs()).report()["source"], "powercap");
}

TEST(Energy, OfAMachineIsCountedOnce) {
  const auto rank = [](const char* machine, double joules) {
    return Json{{"energy", {{"machine", machine}, {"joules", joules}}}};
  };
  std::vector<Json> ranks{rank("a", 1), rank("b", 2), rank("a", 4), rank("b", 8), Json{{"energy", nullptr}}};
  count_machines_once(ranks);
  const Json nothing = Json::object();
  EXPECT_EQ(Json(ranks),
            (Json{{{"energy", {{"joules", 1}}}}, {{"energy", {{"joules", 2}}}}, nothing, nothing, nothing}));
}

TEST(Noise, CountsTheRanksCpusOnly) {
  std::istringstream text(
      "cpu  1 2 3 4 5 6 700 800 0 0\n"
      "cpu0 1 2 3 4 5 6 100 200 0 0\n"
      "cpu1 1 2 3 4 5 6 300 400 0 0\n"
      "cpu10 1 2 3 4 5 6 1000 2000 0 0\n"
      "intr 12345\n");
  const auto noise = parse_proc_stat(text, {1, 10}, 100);
  EXPECT_DOUBLE_EQ(noise.busy_s, 0.12);
  EXPECT_DOUBLE_EQ(noise.softirq_s, 13);
  EXPECT_DOUBLE_EQ(noise.steal_s, 24);
}

TEST(Noise, NeverNegative) {
  const Noise begin{.busy_s = 1, .steal_s = 2, .softirq_s = 1, .involuntary_switches = 5};
  const Json difference = noise_between(begin, {.steal_s = 1}, {0});
  for (const auto* name : {"busy_s", "steal_s", "softirq_s", "involuntary_switches"}) {
    EXPECT_EQ(difference[name], 0) << name;
  }
}

TEST(Noise, WhatRanksOfTheSameCpusUsedIsNotOthers) {
  const auto rank = [](const std::vector<int>& cpus, double own, double busy) {
    return Json{{"noise", noise_between({}, {.own_s = own, .busy_s = busy}, cpus)}};
  };
  std::vector<Json> ranks{rank({0, 1}, 2, 7), rank({0, 1}, 3, 7), rank({2}, 1, 1.5)};
  tell_others(ranks);
  EXPECT_EQ(ranks[0]["noise"]["others_s"], 1);
  EXPECT_EQ(ranks[1]["noise"]["others_s"], 1);
  EXPECT_EQ(ranks[2]["noise"]["others_s"], 0.5);
  EXPECT_FALSE(ranks[2]["noise"].contains("own_s"));
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

/// Two ends of a TCP connection over the loopback interface.
class Connection : NonCopyable {
 public:
  Connection() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    auto* name = reinterpret_cast<sockaddr*>(&address);
    bind(listener, name, length);
    listen(listener, 1);
    getsockname(listener, name, &length);
    ends_[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect(ends_[0], name, length);
    ends_[1] = accept(listener, nullptr, nullptr);
    close(listener);
  }
  ~Connection() {
    close(ends_[0]);
    close(ends_[1]);
  }

  void carry(std::size_t bytes) {
    std::vector<char> data(bytes, 'x');
    ASSERT_EQ(send(ends_[0], data.data(), bytes, 0), static_cast<ssize_t>(bytes));
    ASSERT_EQ(recv(ends_[1], data.data(), bytes, MSG_WAITALL), static_cast<ssize_t>(bytes));
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(TcpConnections, AreFoundAndCounted) {
  TcpConnections before;
  before.find();
  Connection connection;
  TcpConnections connections;
  connections.find();
  EXPECT_EQ(connections.count(), before.count() + 2) << "both ends are this process's, the listener is no connection";
  const Traffic start = connections.read();
  EXPECT_EQ(connections.read() - start, Traffic{});
  connection.carry(10'000);
  const Traffic moved = connections.read() - start;
  EXPECT_EQ(moved.bytes_out, 10'000U);
  EXPECT_EQ(moved.bytes_in, 10'000U);
  EXPECT_GE(moved.packets_out, 1U);
  EXPECT_GE(moved.packets_in, 1U);
}

TEST(TcpConnections, ThatAreClosedBecomeNoHugeNumber) {
  TcpConnections connections;
  Traffic start;
  {
    Connection connection;
    connection.carry(100);
    connections.find();
    start = connections.read();
  }
  EXPECT_EQ((connections.read() - start).bytes_out, 0U);
}

TEST(Calls, WhatMovesBelongsToTheCallOrToNone) {
  using minife::Call;
  Connection connection;
  TcpConnections connections;
  connections.find();
  minife::Calls calls(&connections, 1);
  connection.carry(10);
  calls.make(Call::send, [&] { connection.carry(1'000); });
  connection.carry(100);
  calls.make(Call::wait, [] {});
  connection.carry(1);
  calls.end();
  EXPECT_EQ(calls.traffic(Call::send).bytes_out, 1'000U);
  EXPECT_EQ(calls.traffic(Call::wait).bytes_out, 0U);
  EXPECT_EQ(calls.outside().bytes_out, 111U);
  EXPECT_GT(calls.seconds(Call::send), 0);
  EXPECT_DOUBLE_EQ(calls.seconds(), calls.seconds(Call::send) + calls.seconds(Call::wait));
}

}  // namespace
}  // namespace workloads
