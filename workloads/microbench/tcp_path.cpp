// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <string>

#include "common/mpi_process.h"
#include "common/placement.h"
#include "microbench/data_path.h"
#include "microbench/moving_thread.h"
#include "microbench/tcp_connection.h"

namespace workloads {
namespace {

constexpr int address_tag = 101;

void send_text(const std::string& text, int partner) {
  require(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, partner, address_tag, MPI_COMM_WORLD),
          "MPI_Send");
}

std::string receive_text(int partner) {
  MPI_Status status;
  int length = 0;
  require(MPI_Probe(partner, address_tag, MPI_COMM_WORLD, &status), "MPI_Probe");
  require(MPI_Get_count(&status, MPI_CHAR, &length), "MPI_Get_count");
  std::string text(static_cast<std::size_t>(length), '\0');
  require(MPI_Recv(text.data(), length, MPI_CHAR, partner, address_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
  return text;
}

Socket connect_pair(const Pair& pair) {
  if (pair.is_sender()) {
    return connect_to(Offer::from_text(receive_text(pair.partner())), host_name());
  }
  const Listener listener(host_name());
  send_text(listener.offer().text(), pair.partner());
  return listener.accept();
}

class TcpPath final : public DataPath {
 public:
  TcpPath(const Pair& pair, std::chrono::microseconds wake_interval)
      : socket_(connect_pair(pair)),
        thread_(socket_.get(), pair.is_sender() ? Direction::sending : Direction::receiving, wake_interval) {}

  void start(std::span<std::byte> message) override { thread_.start(message); }
  MPI_Request& request() noexcept override { return request_; }
  void finish() override { thread_.finish(); }

 private:
  Socket socket_;
  MovingThread thread_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<DataPath> make_tcp_path(const Pair& pair, std::chrono::microseconds wake_interval) {
  return std::make_unique<TcpPath>(pair, wake_interval);
}

}  // namespace workloads
