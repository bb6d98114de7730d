// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/transfer.h"

#include <mpi.h>

#include <array>
#include <string>

#include "common/clock.h"
#include "common/machine.h"
#include "common/mpi_process.h"
#include "microbench/moving_thread.h"
#include "microbench/tcp_connection.h"

namespace workloads {
namespace {

constexpr int message_tag = 100;

class MpiPath final : public DataPath {
 public:
  explicit MpiPath(const Pair& pair) : pair_(pair) {}

  void start(std::span<std::byte> message) override {
    const auto count = static_cast<int>(message.size());
    if (pair_.is_sender()) {
      require(MPI_Isend(message.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &request_));
    } else {
      require(MPI_Irecv(message.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &request_));
    }
  }  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): finish() waits for it

  MPI_Request& request() noexcept override { return request_; }

  void finish() override {
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): start() started it
    require(MPI_Wait(&request_, MPI_STATUS_IGNORE));
  }

 private:
  Pair pair_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<DataPath> make_mpi_path(const Pair& pair) { return std::make_unique<MpiPath>(pair); }

namespace {

constexpr int address_tag = 101;

void send_text(const std::string& text, int partner) {
  require(MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, partner, address_tag, MPI_COMM_WORLD));
}

std::string receive_text(int partner) {
  MPI_Status status;
  int length = 0;
  require(MPI_Probe(partner, address_tag, MPI_COMM_WORLD, &status));
  require(MPI_Get_count(&status, MPI_CHAR, &length));
  std::string text(static_cast<std::size_t>(length), '\0');
  require(MPI_Recv(text.data(), length, MPI_CHAR, partner, address_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
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

Transfer::Transfer(const MpiProcess& mpi, std::size_t bytes, ReceivePosting posting, double settle_s,
                   std::chrono::microseconds tcp_wake)
    : pair_(mpi),
      path_(tcp_wake.count() > 0 ? make_tcp_path(pair_, tcp_wake) : make_mpi_path(pair_)),
      payload_(bytes),
      posting_(posting),
      settle_s_(settle_s) {}

TransferTimes Transfer::run(const std::function<void(MPI_Request&)>& between) {
  ++seed_;
  if (pair_.is_sender()) {
    payload_.fill(seed_);
  }
  spin_for(settle_s_);  // awake: a core that slept would be slower afterwards
  TransferTimes times;
  const auto timed_start = [&] {
    const auto begin = Clock::now();
    path_->start(payload_.bytes());
    times.post_s = seconds_since(begin);
  };
  const bool start_first = !pair_.is_sender() && posting_ == ReceivePosting::preposted;
  if (start_first) {
    timed_start();
  }
  pair_.synchronise();

  const Usage usage = read_usage();
  const auto begin = Clock::now();
  if (!start_first) {
    timed_start();
  }
  const auto started = Clock::now();
  between(path_->request());
  const auto waiting = Clock::now();
  path_->finish();
  const auto complete = Clock::now();
  if (pair_.is_sender()) {
    pair_.await_acknowledgement();
    times.total_s = seconds_since(begin);
  } else {
    times.total_s = seconds_between(begin, complete);
    pair_.send_acknowledgement();
  }
  times.usage = read_usage() - usage;
  times.between_s = seconds_between(started, waiting);
  times.wait_s = seconds_between(waiting, complete);
  if (!pair_.is_sender()) {
    times.problem = payload_.check(seed_);
  }
  return times;
}

}  // namespace workloads
