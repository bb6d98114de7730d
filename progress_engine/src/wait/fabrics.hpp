// SPDX-License-Identifier: BSD-3-Clause
// What the libraries of fabrics without sockets announce: UCX by a descriptor a worker, libfabric and verbs by one a
// completion queue.
//
// Such a descriptor says nothing until it is armed, and it cannot be armed while events wait to be polled for: poll,
// arm, and poll again if that failed; only then sleep. What comes after a successful arming makes the descriptor
// readable, so that nothing is lost in between.
//
// A library's object may not be polled by one thread and armed by another at once, and what keeps threads apart is the
// MPI's lock, which is held within the MPI's progress alone. So that is where objects are armed: the function by which
// the MPI polls them is interposed, and where a thread has begun a round of arming, it arms what a poll found empty.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/fork_mutex.hpp"

namespace progress_engine {

enum class Fabric : std::uint8_t { ucx, libfabric, verbs };
constexpr std::array all_fabrics = {Fabric::ucx, Fabric::libfabric, Fabric::verbs};
constexpr std::array<const char*, all_fabrics.size()> fabric_names = {"ucx", "libfabric", "verbs"};
// One of each, for each of them.
template <typename T>
using PerFabric = std::array<T, fabric_names.size()>;
constexpr std::size_t index(Fabric fabric) { return static_cast<std::size_t>(fabric); }

enum class Armed : std::uint8_t {
  yes,
  busy,   // events wait to be polled for
  failed  // the library cannot
};

// What the libraries say that the calling thread's polls moved, since it began: an MPI says nothing, and a poll that
// begins what an adapter then does by itself takes no longer than one that finds nothing.
extern constinit thread_local std::uint64_t fabric_steps __attribute__((tls_model("initial-exec")));

// Which libraries are asked to announce, and their objects that do. Any thread.
class Fabrics {
 public:
  void want(Fabric fabric, bool wanted) { wanted_[index(fabric)].store(wanted, std::memory_order_relaxed); }
  bool wants(Fabric fabric) const { return wanted_[index(fabric)].load(std::memory_order_relaxed); }
  // As this process uses it the library cannot.
  void refuse(Fabric fabric, const std::string& why);
  // One of its objects stays as the MPI wants it; others may announce.
  void pass_over(Fabric fabric, const std::string& why);
  // The last reasons; "" if there was none.
  std::string refusal(Fabric fabric) const;
  std::string passed_over(Fabric fabric) const;

  void opened(Fabric fabric, const void* object, int descriptor);
  void closed(const void* object);
  // Costs a load.
  bool any() const { return number_.load(std::memory_order_acquire) > 0; }
  // Whether one of this library is open.
  bool announces(Fabric fabric) const;
  // How many were ever opened.
  std::uint64_t opened(Fabric fabric) const { return opened_[index(fabric)].load(std::memory_order_relaxed); }

  struct Object {
    Fabric fabric{};
    int descriptor = -1;
  };
  // Of an unknown one the descriptor is -1.
  Object find(const void* object) const;

 private:
  mutable ForkMutex mutex_;
  std::map<const void*, Object> objects_;
  PerFabric<std::string> refusals_;
  PerFabric<std::string> passed_over_;
  std::atomic<std::size_t> number_{0};
  PerFabric<std::atomic<bool>> wanted_{};
  PerFabric<std::atomic<std::uint64_t>> opened_{};
};

// Of this process: interposed functions find them there.
Fabrics& fabrics_of_process();

// While it lives, what the calling thread polls is armed.
class ArmingRound {
 public:
  explicit ArmingRound(Fabrics& fabrics) : fabrics_(fabrics) { round_of_thread = this; }
  ~ArmingRound() { round_of_thread = nullptr; }
  ArmingRound(const ArmingRound&) = delete;
  ArmingRound& operator=(const ArmingRound&) = delete;

  // That of the calling thread, or null.
  static ArmingRound* current() { return round_of_thread; }

  // By the interposed function: `object` was polled, which `moved` something or did not; `arm()` arms it.
  template <typename Arm>
  void polled(const void* object, bool moved, Arm&& arm) {
    if (moved) {
      moved_ = true;
      return;
    }
    const auto known = fabrics_.find(object);
    if (known.descriptor < 0) return;
    round_of_thread = nullptr;  // libfabric's fi_trywait polls `object` once more, with a lock held: not to be armed
    const Armed result = arm();
    round_of_thread = this;
    if (result == Armed::busy) busy_ = true;
    if (result == Armed::yes) armed_.push_back(known);
    if (result == Armed::failed) fabrics_.closed(object);
  }

  // Something was there, or came meanwhile: poll again.
  bool again() const { return moved_ || busy_; }
  bool moved() const { return moved_; }
  bool busy() const { return busy_; }
  // In the order in which they were polled, some perhaps twice.
  const std::vector<Fabrics::Object>& armed() const { return armed_; }

 private:
  static constinit thread_local ArmingRound* round_of_thread;
  Fabrics& fabrics_;
  std::vector<Fabrics::Object> armed_;
  bool moved_ = false;
  bool busy_ = false;
};

}  // namespace progress_engine
