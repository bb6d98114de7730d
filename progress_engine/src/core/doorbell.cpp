// SPDX-License-Identifier: BSD-3-Clause
#include "core/doorbell.hpp"

#include <utility>

namespace progress_engine {

Doorbell::Doorbell(std::string program, int rank, int size)
    : program_(std::move(program)), rank_(rank), published_(program_, rank), by_rank_(static_cast<std::size_t>(size)) {
  look_around();
}

Doorbell::~Doorbell() {
  for (Peer* peer = first_.load(); peer;) {
    Peer* next = peer->next;
    delete peer;
    peer = next;
  }
}

void Doorbell::ring_partners(bool all) {
  if (all) all_.store(true, std::memory_order_relaxed);
  const bool everybody = all_.load(std::memory_order_relaxed);
  for (Peer* peer = first_.load(std::memory_order_acquire); peer; peer = peer->next) {
    if (!everybody && !peer->partner.load(std::memory_order_relaxed)) continue;
    ring(*peer);
    rings_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Doorbell::ring_own() {
  own().ring([this] {});
}

void Doorbell::look_around() {
  const std::unique_lock lock(looking_, std::try_to_lock);
  if (!lock) return;
  for (auto& neighbour : find_neighbours(program_))
    if (neighbour.rank != rank_ && static_cast<unsigned>(neighbour.rank) < by_rank_.size() && !peer_of(neighbour.rank))
      add(std::move(neighbour));
}

void Doorbell::add(Neighbour neighbour) {
  auto mapped = map_bell(neighbour.name);
  if (!mapped) return;
  const int rank = neighbour.rank;
  auto* peer = new Peer{std::move(neighbour), std::move(mapped), first_.load(std::memory_order_relaxed), {}};
  first_.store(peer, std::memory_order_release);
  neighbours_.fetch_add(1, std::memory_order_relaxed);
  by_rank_[static_cast<unsigned>(rank)].store(peer, std::memory_order_release);
}

Doorbell::Counts Doorbell::counts() const {
  return {neighbours_.load(std::memory_order_relaxed), rings_.load(std::memory_order_relaxed),
          wakes_.load(std::memory_order_relaxed)};
}

}  // namespace progress_engine
