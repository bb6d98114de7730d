// SPDX-License-Identifier: BSD-3-Clause
// The doorbell: rings the engines of the other processes of this program on this node, and is rung by them.
#pragma once

#include <atomic>
#include <bit>
#include <mutex>
#include <string>
#include <vector>

#include "core/neighbours.hpp"

namespace progress_engine {

class Doorbell {
 public:
  // Of process `rank` of the `size` of `program`, see PublishedBell. Throws std::system_error.
  Doorbell(std::string program, int rank, int size);
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // ---- any thread
  // After something was sent to `rank`. False if it is not known as a neighbour: it may become one, see missed().
  bool ring(int rank) {
    Peer* peer = peer_of(rank);
    if (!peer) return false;
    peer->partner.store(true, std::memory_order_relaxed);
    ring(*peer);
    return true;
  }
  // Something will be received from `rank`: what it waits for may leave from inside progress. False as above.
  bool expect(int rank) {
    Peer* peer = peer_of(rank);
    if (peer) peer->partner.store(true, std::memory_order_relaxed);
    return peer != nullptr;
  }
  // Before the engine starts: processes on other nodes reach the bell as well (mpi/remote_bell.hpp).
  void strangers_ring() { strangers_ring_ = true; }
  void expect_all() { all_.store(true, std::memory_order_relaxed); }
  // After something was sent to whoever it concerns: those that ring() or expect() named so far, with `all` (from then
  // on) every neighbour. As expect_all() does.
  void ring_partners(bool all = false);
  // The `times`-th time that somebody was not known: looks around ever more rarely, since looking takes some 50 us.
  void missed(std::uint64_t times) {
    if (std::has_single_bit(times)) look_around();
  }
  void look_around();
  // Wakes this process's own sleeper.
  void ring_own();

  // ---- the engine thread
  // False: sleeping on the own bell would be in vain. True forever after the first neighbour, or strangers_ring().
  bool anyone_rings() const { return strangers_ring_ || first_.load(std::memory_order_acquire) != nullptr; }
  Bell& own() const { return published_.bell(); }
  const PublishedBell& published() const { return published_; }

  // Whether the whole program runs on this node.
  bool all_are_near() const { return neighbours_.load(std::memory_order_relaxed) + 1 == by_rank_.size(); }

  // ---- telemetry; any thread
  struct Counts {
    std::uint64_t neighbours = 0;
    std::uint64_t rings = 0;  // by ring_partners()
    std::uint64_t wakes = 0;  // rings that had to wake a sleeper
  };
  Counts counts() const;
  int size() const { return static_cast<int>(by_rank_.size()); }

 private:
  struct Peer {
    Neighbour neighbour;
    MappedBell mapped;
    Peer* next;
    std::atomic<bool> partner{false};
  };
  Peer* peer_of(int rank) const {
    return static_cast<unsigned>(rank) < by_rank_.size()
               ? by_rank_[static_cast<unsigned>(rank)].load(std::memory_order_acquire)
               : nullptr;
  }
  void ring(Peer& peer) {
    if (peer.mapped.bell().ring([&] { published_.wake(peer.neighbour.name); })) [[unlikely]]
      wakes_.fetch_add(1, std::memory_order_relaxed);
  }
  void add(Neighbour neighbour);

  const std::string program_;
  const int rank_;
  PublishedBell published_;
  std::mutex looking_;
  std::vector<std::atomic<Peer*>> by_rank_;
  std::atomic<Peer*> first_{nullptr};
  std::atomic<std::uint64_t> neighbours_{0};
  std::atomic<bool> all_{false};
  bool strangers_ring_ = false;
  std::atomic<std::uint64_t> rings_{0};
  std::atomic<std::uint64_t> wakes_{0};
};

}  // namespace progress_engine
