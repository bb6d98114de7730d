// SPDX-License-Identifier: BSD-3-Clause
#include "ult/messenger.h"

#include "common/mpi_process.h"

namespace workloads {
namespace {

int count_of(const Payload& payload) { return static_cast<int>(payload.size()); }

MPI_Request start_send(Payload& payload, int partner, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Isend(payload.data(), count_of(payload), MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request), "MPI_Isend");
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MPI_Testall completes it
  return request;
}

MPI_Request start_receive(Payload& payload, int partner, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Irecv(payload.data(), count_of(payload), MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MPI_Testall completes it
  return request;
}

}  // namespace

template <std::size_t count>
void Messenger::finish(std::array<MPI_Request, count> requests) const {
  for (int done = 0; done == 0;) {
    require(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done == 0) {
      yield_();
    }
  }
}

void Messenger::send(Payload& payload, int tag) const {
  if (yield_) {
    finish(std::array{start_send(payload, partner_, tag)});
  } else {
    require(MPI_Send(payload.data(), count_of(payload), MPI_BYTE, partner_, tag, MPI_COMM_WORLD), "MPI_Send");
  }
}

void Messenger::receive(Payload& payload, int tag) const {
  if (yield_) {
    finish(std::array{start_receive(payload, partner_, tag)});
  } else {
    require(MPI_Recv(payload.data(), count_of(payload), MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            "MPI_Recv");
  }
}

void Messenger::exchange(Payload& out, Payload& in, int tag) const {
  if (yield_) {
    const auto receiving = start_receive(in, partner_, tag);
    finish(std::array{receiving, start_send(out, partner_, tag)});
  } else {
    require(MPI_Sendrecv(out.data(), count_of(out), MPI_BYTE, partner_, tag, in.data(), count_of(in), MPI_BYTE,
                         partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
  }
}

}  // namespace workloads
