// SPDX-License-Identifier: BSD-3-Clause
#include "interference/doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "common/mpi_process.h"

namespace workloads {
namespace {

std::uint32_t* address(std::atomic<std::uint32_t>& word) { return reinterpret_cast<std::uint32_t*>(&word); }

}  // namespace

Doorbell::Doorbell() {
  require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_), "MPI_Comm_split_type");
  int size = 0;
  int rank = 0;
  MPI_Comm_size(node_, &size);
  MPI_Comm_rank(node_, &rank);
  if (size != 2) {
    return;
  }
  void* memory = nullptr;
  const auto bytes = static_cast<MPI_Aint>(rank == 0 ? 2 * sizeof(Line) : 0);
  require(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node_, static_cast<void*>(&memory), &window_),
          "MPI_Win_allocate_shared");
  MPI_Aint there = 0;
  int unit = 0;
  require(MPI_Win_shared_query(window_, 0, &there, &unit, static_cast<void*>(&memory)), "MPI_Win_shared_query");
  // Each rank has the memory at another address, but on pages of the same: both skip as many bytes.
  const auto skip = -reinterpret_cast<std::uintptr_t>(memory) % alignof(Line);
  auto* place = static_cast<std::byte*>(memory) + skip;
  line_ = rank == 0 ? new (place) Line{} : reinterpret_cast<Line*>(place);
  require(MPI_Barrier(node_), "MPI_Barrier");
}

Doorbell::~Doorbell() {
  if (window_ != MPI_WIN_NULL) {
    MPI_Win_free(&window_);
  }
  MPI_Comm_free(&node_);
}

void Doorbell::ring() noexcept {
  line_->rings.fetch_add(1);  // sequentially consistent, like the sleeper's: one of the two sees the other
  if (line_->asleep.load() != 0) {
    syscall(SYS_futex, address(line_->rings), FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

void Doorbell::sleep(std::uint32_t seen, std::chrono::nanoseconds bound) noexcept {
  const timespec limit{.tv_sec = 0, .tv_nsec = bound.count()};
  line_->asleep.store(1);
  syscall(SYS_futex, address(line_->rings), FUTEX_WAIT, seen, &limit, nullptr, 0);
  line_->asleep.store(0);
}

}  // namespace workloads
