// SPDX-License-Identifier: BSD-3-Clause
// Calls that return only when another process has answered: it is rung before, lest it computes and looks at its timer.
// Before the call nothing is asked of the MPI, whose error would be told in place of the program's own; so the first
// call with a communicator, window or type rings nobody.
#pragma once

#include <algorithm>
#include <limits>

#include "mpi/call.hpp"

namespace progress_engine {

// From this length on MPIs ask the receiver on their node before they send (docs/explanation/engine.md).
constexpr long asks_from_bytes = 4096;

// Whom a blocking call sends a message to or receives one from: `count` elements of `type`, at most.
class Partner {
 public:
  PE_ALWAYS_INLINE Partner(Call& call, MPI_Comm communicator, int rank, long count, MPI_Datatype type)
      : call_(call), communicator_(communicator), rank_(rank), count_(count), type_(type) {
    if (rank < 0 || count <= 0 || !call.doorbell()) return;
    rings_ = true;
    alone_ = !call.doorbell()->has_neighbours();
    if (alone_) return;
    const RankCache& sizes = call.runtime().sizes;
    size_ = sizes.find(sizes.key_of((std::uint64_t)type, 0));  // a pointer or an integer
    if (count * std::max(size_, 0) < asks_from_bytes) return;
    if (const int world = call.known_world_rank(communicator, rank); world >= 0)
      call.ring(world, WakeupLine::Ring::coming);
  }
  PE_ALWAYS_INLINE void sent(int code) {
    call_.sent(code, communicator_, rank_, count_, type_);
    learn(code);
  }
  PE_ALWAYS_INLINE void received(int code) {
    if (alone_) call_.missed();
    learn(code);
  }

 private:
  PE_ALWAYS_INLINE void learn(int code) {
    if (rings_ && code == MPI_SUCCESS && size_ == RankCache::unknown) [[unlikely]]
      learn_size();
  }
  void learn_size();

  Call& call_;
  MPI_Comm communicator_;
  int rank_;
  long count_;
  MPI_Datatype type_;
  bool rings_ = false;
  bool alone_ = false;
  int size_ = 0;  // of an element
};

// Whose memory one-sided operations reach: of a rank in the window's group, or of all that were reached.
class Target {
 public:
  static constexpr int all = -1;

  PE_ALWAYS_INLINE Target(Call& call, MPI_Win window, int rank)
      : call_(call), window_(window), rank_(rank), near_(call.doorbell() && call.doorbell()->has_neighbours()) {}
  // Before a call that waits for it.
  PE_ALWAYS_INLINE void ring() const {
    if (near_) [[unlikely]]
      ring_known();
  }
  // After an operation.
  PE_ALWAYS_INLINE void reached(int code) const {
    if (near_ && code == MPI_SUCCESS) [[unlikely]]
      ring_if_asked();
  }
  PE_ALWAYS_INLINE void learn(int code) const {
    if (near_ && code == MPI_SUCCESS) [[unlikely]]
      learn_world_rank();
  }

 private:
  std::uint64_t key(int rank) const { return call_.runtime().ranks.key_of((std::uint64_t)window_, rank); }
  bool needs_answers() const;
  int learn_world_rank() const;
  void ring_known() const;
  void ring_if_asked() const;

  Call& call_;
  MPI_Win window_;
  int rank_;
  bool near_;
};

}  // namespace progress_engine
