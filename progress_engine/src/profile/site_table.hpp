// SPDX-License-Identifier: BSD-3-Clause
// Where a program's time with MPI goes, by call site, and what is pending meanwhile. No MPI in it.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "platform/platform.hpp"

namespace progress_engine::profile {

// A place in the program that calls MPI, and what it calls: an index into function_names.
struct CallSite {
  enum class Kind : std::uint8_t { code, text, frames };

  const void* address = nullptr;  // of code, of a text that says where, or of Frames
  std::uint16_t function = 0;
  Kind kind = Kind::code;
  std::uint16_t region = 0;  // of the program's, see call.hpp; 0: none

  bool operator==(const CallSite&) const = default;
};

// An operation by the call that starts it and the call that completes it; a blocking one by its call alone.
struct Operation {
  CallSite start;
  CallSite completion;  // no address: it blocks

  bool operator==(const Operation&) const = default;
};

// Return addresses, the innermost first.
using Frames = std::vector<const void*>;

// Of all operations with the same call sites.
struct Sums {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;        // as far as they are known
  Nanoseconds inside = 0;         // in the call that starts them, or that blocks
  Nanoseconds computed = 0;       // of these what passed outside of MPI from the start to the completing call
  Nanoseconds waited = 0;         // in the completing call, and in the tests before it
  Nanoseconds winnable = 0;       // of that at most by progress meanwhile
  Nanoseconds then_computed = 0;  // blocking: what a nonblocking call hides at most behind the computation after it

  void add(const Sums& more);
};

// Bounded: what comes when it is full is counted together, as an operation without an address. Any thread.
class SiteTable {
 public:
  static constexpr std::size_t most = 4096;

  void add(const Operation& operation, const Sums& sums);
  // `use(operation, sums)`
  template <typename Use>
  void for_each(Use&& use) const {
    const std::scoped_lock lock(mutex_);
    for (const auto& [operation, sums] : table_) use(operation, sums);
  }

 private:
  struct Hash {
    std::size_t operator()(const Operation& operation) const;
  };

  mutable std::mutex mutex_;
  std::unordered_map<Operation, Sums, Hash> table_;
};

// Messages between this rank and another one; or collective operations of one function in one group.
struct Stream {
  int peer = unknown;  // rank in the world
  int tag = 0;         // of collective operations the function
  int size = 0;        // of the communicator
  bool sends = false;
  std::uint64_t group = 0;  // of collective operations who takes part: the same number on each

  static constexpr int unknown = -1;
  static constexpr int anyone = -2;
  static constexpr int everyone = -3;  // collective
  auto operator<=>(const Stream&) const = default;
};

// A message by its place in its stream; no stream: it is not known.
struct Message {
  std::int32_t stream = -1;
  std::uint32_t number = 0;
};

// Of one operation: it sends, it receives, or both; or it is a collective one.
struct Messages {
  std::array<Message, 2> all{};
  std::uint8_t count = 0;  // 0: nothing tells its partner

  auto begin() const { return all.begin(); }
  auto end() const { return all.begin() + count; }
};

// What has been started and not completed yet.
struct Pending {
  CallSite start;
  std::uint64_t bytes = 0;
  std::uint64_t serial = 0;      // tells it from another one that has the same handle
  const void* thread = nullptr;  // that started it, see ThreadClock
  Nanoseconds since = 0;         // when its start returned
  Nanoseconds outside = 0;       // what that thread had passed outside of MPI by then
  Nanoseconds inside = 0;        // what its start took
  Messages messages{};
  std::optional<Stream> stream;  // of a persistent request: each start of it is a message of that
  Nanoseconds tested = 0;        // what calls took that asked for it in vain
};

// By the bits of a request's or a window's handle. Any thread.
class PendingTable {
 public:
  void add(std::uint64_t handle, Pending pending);
  std::optional<Pending> find(std::uint64_t handle) const;
  void add_test(std::uint64_t handle, std::uint64_t serial, Nanoseconds time);
  void remove(std::uint64_t handle, std::uint64_t serial);
  void remove(std::uint64_t handle);

 private:
  mutable std::mutex mutex_;
  std::uint64_t serials_ = 0;
  std::unordered_map<std::uint64_t, Pending> table_;
};

}  // namespace progress_engine::profile
