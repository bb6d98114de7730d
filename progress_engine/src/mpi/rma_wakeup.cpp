// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rma_wakeup.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "mpi/mpi_header.hpp"
#include "mpi/type_size.hpp"

namespace progress_engine {

RmaAgreement::RmaAgreement(bool asked) {
  int size = 0;
  if (asked) PE_PMPI(MPI_Comm_size)(handles_.comm_world, &size);
  all_.resize(static_cast<std::size_t>(size));
}

bool RmaAgreement::reach(bool can) {
  if (all_.empty()) return false;
  const char own = can ? 1 : 0;
  PE_PMPI(MPI_Allgather)(&own, 1, handles_.byte, all_.data(), 1, handles_.byte, handles_.comm_world);
  const bool everybody = std::ranges::count(all_, 1) == std::ssize(all_);
  all_.clear();
  return everybody;
}

RmaWakeup::RmaWakeup(const MpiHandles& handles, WakeupLine& own, int size, long bytes, Nanoseconds interval)
    : handles_(handles), bytes_(bytes), interval_(interval), last_(static_cast<std::size_t>(size)) {
  void* word = const_cast<SharedAtomics::Word*>(&own.word());  // the doorbell's own: others write it, as neighbours do
  if (PE_PMPI(MPI_Win_create)(word, sizeof own.word(), 1, handles.info_null, handles.comm_world, &window_) !=
          MPI_SUCCESS ||
      PE_PMPI(MPI_Win_lock_all)(MPI_MODE_NOCHECK, window_) != MPI_SUCCESS)
    throw std::runtime_error("doorbell=rma: the window over MPI_COMM_WORLD could not be made");
}

RmaWakeup::~RmaWakeup() {
  PE_PMPI(MPI_Win_unlock_all)(window_);
  PE_PMPI(MPI_Win_free)(&window_);
}

void RmaWakeup::ring(int rank, long count, MPI_Datatype type) {
  if (static_cast<std::size_t>(rank) >= last_.size()) return;
  if (bytes_of_type(count, type) < bytes_) return;
  auto& last = last_[static_cast<std::size_t>(rank)];
  const Nanoseconds time = now();
  Nanoseconds before = last.load(std::memory_order_relaxed);
  if (time - before < interval_ || !last.compare_exchange_strong(before, time, std::memory_order_relaxed)) return;
  static const std::uint32_t one = 1;
  PE_PMPI(MPI_Put)(&one, sizeof one, handles_.byte, rank, 0, sizeof one, handles_.byte, window_);
  PE_PMPI(MPI_Win_flush_local)(rank, window_);
  rings_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace progress_engine
