// SPDX-License-Identifier: BSD-3-Clause
// What Linux counts for a process: the traffic of its TCP connections, and the memory that is available.
#pragma once

#include <cstdint>
#include <istream>
#include <vector>

namespace workloads {

// What this process's own TCP connections have carried, as the kernel counts it (TCP_INFO): the packets of an MPI on
// TCP, whoever moves them, and without a function of MPI that is wrapped.

/// Packets are TCP's segments, acknowledgements included; bytes are the program's, out with what was sent again.
struct Traffic {
  std::uint64_t packets_in = 0;
  std::uint64_t packets_out = 0;
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;

  Traffic& operator+=(const Traffic& more) noexcept;
  /// Of two readings of the same connections: what came and went between them.
  Traffic operator-(const Traffic& before) const noexcept;
  bool operator==(const Traffic&) const = default;
};

class TcpConnections {
 public:
  /// Finds all that are open now: those opened later are not counted. Some tens of microseconds.
  void find();

  [[nodiscard]] std::size_t count() const noexcept { return sockets_.size(); }

  /// The sum over them since each was opened; about a microsecond a connection.
  [[nodiscard]] Traffic read() const noexcept;

 private:
  std::vector<int> sockets_;
};

/// What processes can still have of this node's memory: MemAvailable in the text of /proc/meminfo, in bytes; infinite
/// if it does not say.
double parse_available_bytes(std::istream& text);

}  // namespace workloads
