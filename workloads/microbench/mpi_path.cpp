// SPDX-License-Identifier: BSD-3-Clause
#include "common/mpi_process.h"
#include "microbench/data_path.h"

namespace workloads {
namespace {

constexpr int message_tag = 100;

class MpiPath final : public DataPath {
 public:
  explicit MpiPath(const Pair& pair) : pair_(pair) {}

  void start(std::span<std::byte> message) override {
    const auto count = static_cast<int>(message.size());
    if (pair_.is_sender()) {
      require(MPI_Isend(message.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &request_),
              "MPI_Isend");
    } else {
      require(MPI_Irecv(message.data(), count, MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD, &request_),
              "MPI_Irecv");
    }
  }  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): finish() waits for it

  MPI_Request& request() noexcept override { return request_; }

  void finish() override {
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): start() started it
    require(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  }

 private:
  Pair pair_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

std::unique_ptr<DataPath> make_mpi_path(const Pair& pair) { return std::make_unique<MpiPath>(pair); }

}  // namespace workloads
