// SPDX-License-Identifier: BSD-3-Clause
#include "common/network_counters.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace workloads {
namespace {

namespace fs = std::filesystem;

std::uint64_t read_number(const fs::path& file) {
  std::uint64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

// A counter that was reset in between (an interface that came back) must not become a huge number.
std::uint64_t growth(std::uint64_t begin, std::uint64_t end) { return end - std::min(begin, end); }

}  // namespace

NetworkCounters parse_proc_net_dev(std::istream& table) {
  constexpr int columns_between = 7;  // packets, errs, drop, fifo, frame, compressed, multicast
  NetworkCounters counters;
  for (std::string line; std::getline(table, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
      continue;  // the two lines of headings
    }
    std::istringstream name_field(line.substr(0, colon));
    std::istringstream numbers(line.substr(colon + 1));
    std::string name;
    InterfaceBytes bytes;
    std::uint64_t ignored = 0;
    name_field >> name;
    numbers >> bytes.received;
    for (int column = 0; column < columns_between; ++column) {
      numbers >> ignored;
    }
    numbers >> bytes.sent;
    counters[name] = bytes;
  }
  return counters;
}

NetworkCounters read_infiniband(const fs::path& root) {
  constexpr std::uint64_t bytes_per_count = 4;
  NetworkCounters counters;
  std::error_code none;
  for (const auto& device : fs::directory_iterator(root, none)) {
    for (const auto& port : fs::directory_iterator(device.path() / "ports", none)) {
      const auto folder = port.path() / "counters";
      if (fs::exists(folder / "port_rcv_data", none)) {
        const auto name = device.path().filename().string() + "/" + port.path().filename().string();
        counters[name] = {
            .received = bytes_per_count * read_number(folder / "port_rcv_data"),
            .sent = bytes_per_count * read_number(folder / "port_xmit_data"),
        };
      }
    }
  }
  return counters;
}

NetworkCounters read_network_counters() {
  std::ifstream table("/proc/net/dev");
  auto counters = parse_proc_net_dev(table);
  counters.merge(read_infiniband("/sys/class/infiniband"));
  return counters;
}

Json interface_bytes_between(const NetworkCounters& begin, const NetworkCounters& end) {
  Json difference = Json::object();
  for (const auto& [name, bytes] : end) {
    const auto before = begin.find(name);
    const InterfaceBytes start = before == begin.end() ? InterfaceBytes{} : before->second;
    difference[name] = {{"received", growth(start.received, bytes.received)}, {"sent", growth(start.sent, bytes.sent)}};
  }
  return difference;
}

}  // namespace workloads
