// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "common/socket_counters.h"
#include "minife/calls.h"

namespace workloads {
namespace {

/// Two ends of a TCP connection over the loopback interface.
class Connection {
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
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

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
