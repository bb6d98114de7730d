// SPDX-License-Identifier: BSD-3-Clause
// Whether a fabric moves the MPI's large messages to other nodes: some have completed, and meanwhile no connection to
// another node carried a byte. (Of one that is still pending nothing can be said, and a connection that carries little
// may be the one all the same: small messages into large buffers.) A launcher's connection, which stays on this node,
// says nothing. A connection that carries no more, as one that was used while the MPI began, does not speak against it.
#pragma once

#include <cstdint>

namespace progress_engine {

class UnannouncedMessages {
 public:
  // A long busy period is over. So many messages certainly, and operations possibly, concern other nodes (Bell), and so
  // many of any kind were started.
  void note(std::uint64_t certain, std::uint64_t possible, std::uint64_t started) {
    if (noted_) return;
    certainly_ = certain != certain_;
    noted_ = certainly_ || possible != possible_;
    started_ = started;
  }
  // Whether what was noted is over; then judge() it.
  bool have_completed(std::uint64_t completed) const { return noted_ && completed >= started_; }
  // `moved_afar()`: whether a connection to another node has carried anything since the last time. What has begun by
  // now may have moved in part before the look: it is not noted.
  template <typename MovedAfar>
  void judge(std::uint64_t certain, std::uint64_t possible, MovedAfar&& moved_afar) {
    noted_ = false;
    possible_ = possible;
    if (!certainly_ && ever_moved_) return;  // it may have concerned this node alone
    certain_ = certain;
    const bool moved = moved_afar();
    ever_moved_ = ever_moved_ || moved;
    if (!moved) evidence_ += certainly_ ? certain_weight : 1;
  }
  bool are_many() const { return evidence_ >= enough; }

 private:
  static constexpr int certain_weight = 5;
  static constexpr int enough = 3 * certain_weight;
  std::uint64_t certain_ = 0;  // at the last look
  std::uint64_t possible_ = 0;
  bool noted_ = false;
  bool certainly_ = false;
  std::uint64_t started_ = 0;
  bool ever_moved_ = false;
  int evidence_ = 0;
};

}  // namespace progress_engine
