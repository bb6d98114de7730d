// SPDX-License-Identifier: BSD-3-Clause
// Bytes over the node's network interfaces: proof of where the messages went. A fall-back to loopback shows under `lo`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <string>

#include "common/json.h"

namespace workloads {

struct InterfaceBytes {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

using NetworkCounters = std::map<std::string, InterfaceBytes>;

/// The table of /proc/net/dev, all interfaces.
NetworkCounters parse_proc_net_dev(std::istream& table);

/// Ports of InfiniBand (and RoCE) devices below `root`, named "mlx5_0/1"; their counters count 4 bytes.
NetworkCounters read_infiniband(const std::filesystem::path& root);

/// All of this node (of this network namespace). What cannot be read is absent.
NetworkCounters read_network_counters();

/// What came and went between two readings, as `interface_bytes` of the record schema.
Json interface_bytes_between(const NetworkCounters& begin, const NetworkCounters& end);

}  // namespace workloads
