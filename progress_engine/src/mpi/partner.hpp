// SPDX-License-Identifier: BSD-3-Clause
// Calls that return only when another process has answered: it is rung before, lest it computes and looks at its timer.
// Before the call nothing is asked of the MPI, whose error would be told in place of the program's own; so the first
// call with a communicator, window or type rings nobody.
#pragma once

#include "mpi/call.hpp"

namespace progress_engine {

// Whom a blocking call sends a message to or receives one from: `count` elements of `type`, at most.
class Partner {
 public:
  PE_ALWAYS_INLINE Partner(Call& call, MPI_Comm communicator, int rank, long count, MPI_Datatype type)
      : call_(call), communicator_(communicator), rank_(rank), count_(count), type_(type) {
    if (rank >= 0 && call.doorbell()) [[unlikely]]
      does_ = ring_before(call, communicator, rank, count, type);
  }
  PE_ALWAYS_INLINE void sent(int code) {
    if (does_ == Does::nothing) return;
    call_.sent(code, communicator_, rank_);  // looks around by itself
    if (does_ == Does::learn) [[unlikely]]
      learn(call_, code, communicator_, rank_, type_);
  }
  PE_ALWAYS_INLINE void received(int code) {
    if (does_ > Does::ring) [[unlikely]]
      does_ == Does::learn ? learn(call_, code, communicator_, rank_, type_) : call_.missed();
  }

 private:
  // What is left for after the call.
  enum class Does { nothing, ring, look, learn };
  // Not of this object: it lives in registers.
  static Does ring_before(Call& call, MPI_Comm communicator, int rank, long count, MPI_Datatype type);
  static void learn(Call& call, int code, MPI_Comm communicator, int rank, MPI_Datatype type);

  Call& call_;
  MPI_Comm communicator_;
  int rank_;
  long count_;
  MPI_Datatype type_;
  Does does_ = Does::nothing;
};

// Whose memory one-sided operations reach: of a rank in the window's group, or of all that were reached.
class Target {
 public:
  static constexpr int all = -1;

  PE_ALWAYS_INLINE Target(Call& call, MPI_Win window, int rank)
      : call_(call), window_(window), rank_(rank), near_(call.doorbell() && call.doorbell()->has_neighbours()) {}
  // Before a call that waits for it.
  PE_ALWAYS_INLINE void ring() {
    begin_ = call_.counts() ? now() : 0;
    if (near_) [[unlikely]]
      ring_known();
  }
  // After an operation.
  PE_ALWAYS_INLINE void reached(int code) const {
    if (code != MPI_SUCCESS) return;
    call_.reached_window();
    if (near_) [[unlikely]]
      ring_if_asked();
  }
  // After a call that waited.
  PE_ALWAYS_INLINE void answered(int code) const {
    if (begin_ > 0) call_.waited_for_window(now() - begin_);
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
  Nanoseconds begin_ = 0;
};

}  // namespace progress_engine
