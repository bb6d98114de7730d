// SPDX-License-Identifier: BSD-3-Clause
// What announces traffic to a thread that sleeps. The only place that knows epoll: whoever waits for descriptors, the
// event loop of adaptive and the communication thread of offload, waits here.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "platform/own_descriptor.hpp"
#include "platform/platform.hpp"
#include "wait/fabrics.hpp"

namespace progress_engine {

// What arming did, see wait/fabrics.hpp.
struct ArmResult {
  bool armed = true;             // what comes from now on ends a wait()
  std::uint64_t polls = 0;       // that it took
  std::uint64_t productive = 0;  // of them
  Nanoseconds productive_time = 0;
};

// What a poll was good for, as far as the sockets show it that announced traffic before it.
struct PollEffect {
  bool late = false;  // traffic stood still since the last wake for want of polling: a buffer ran full or dry
  // Without it the network would have stood still: it came late, or wrote what a peer waits for. What only reads what
  // the kernel has taken in wins nothing. True where nobody can tell, as of a fabric's library.
  bool needed = false;
  // What came and what the poll wrote are so little on each socket that they are messages by themselves, as a request
  // and its answer, and no part of a stream. False where nobody can tell.
  bool small = false;
  // Some socket had more than that: data, after which nobody waits for an answer soon. False where nobody can tell.
  bool bulk = false;
};

struct EventCounts {
  std::uint64_t by_sockets = 0;          // waits that ended with the MPI's own sockets
  PerFabric<std::uint64_t> by_fabric{};  // and with a fabric's library
  PerFabric<std::uint64_t> armed{};      // its objects, how often
  std::uint64_t busy = 0;                // rounds of arming that found something to poll for
};

// All but interrupt() and counts() is called by one thread.
class EventSource {
 public:
  EventSource() = default;
  virtual ~EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  // Sleeps until an event, an interrupt or `bound`. True if there was an event since the last call.
  virtual bool wait(Nanoseconds bound) = 0;
  // Before and after a poll that follows a wait().
  virtual void before_poll() = 0;
  virtual PollEffect after_poll() = 0;
  // Without a poll: what the network waits to be answered, as a number that changes when more arrives. None: nothing
  // that shows. Messages so short are handshakes; what the kernel takes in by itself waits for nobody until it is full.
  virtual std::optional<std::uint64_t> unanswered() const { return std::nullopt; }
  // Whether there are places where traffic can show.
  virtual bool any() const = 0;
  // Whether sockets are among them.
  virtual bool has_sockets() const { return false; }
  // Whether they have shown that they carry the MPI's traffic: a launcher's connection is a place, too.
  virtual bool carries() const = 0;
  // Watches `descriptor`, too: wait() calls `handler` at each of its edges, which are events as traffic is.
  virtual void watch(int descriptor, std::function<void()> handler) = 0;
  // Looks for new places where traffic can show. True if there are some.
  virtual bool refresh() = 0;
  // After a poll, before wait(): arms what must be armed. `poll` makes the MPI progress once, or returns false if it
  // must not now.
  virtual ArmResult arm(const std::function<bool()>& /*poll*/) { return {}; }
  virtual EventCounts counts() const { return {}; }
  // Ends a wait() that runs or is about to; from any thread.
  virtual void interrupt() = 0;
};

// Which of the process's sockets are traffic.
enum class Sockets {
  none,
  // TCP connections that are made after the source was: create it before MPI_Init, and the launcher's and most of the
  // program's own stay out of it.
  new_tcp
};

class EpollEvents : public EventSource {
 public:
  // `fabrics` may be null. Throws std::system_error.
  explicit EpollEvents(Sockets sockets, Fabrics* fabrics = nullptr);
  ~EpollEvents() override = default;
  EpollEvents(const EpollEvents&) = delete;
  EpollEvents& operator=(const EpollEvents&) = delete;

  bool wait(Nanoseconds bound) override;
  void before_poll() override;
  PollEffect after_poll() override;
  std::optional<std::uint64_t> unanswered() const override;
  bool has_sockets() const override { return any_; }
  bool any() const override { return any_ || (fabrics_ && fabrics_->any()); }
  bool carries() const override { return carries_ || (announced_ && fabrics_->any()); }
  void watch(int descriptor, std::function<void()> handler) override;
  bool refresh() override;
  ArmResult arm(const std::function<bool()>& poll) override;
  EventCounts counts() const override;
  void interrupt() override;

 private:
  // Rounds of arming before the polls between them are left to the caller: traffic is steady.
  static constexpr int most_rounds = 8;
  // An answer may leave through another socket than what it answers came in by. So of so few all are asked.
  static constexpr std::size_t most_asked = 4;

  static constexpr int largest_request = 1024;  // bytes, or handshake: of a stream at least a segment has come, or left
  static constexpr std::size_t most_looked_at = 64;

  // Watches an armed descriptor until it is readable, once: whoever polls next arms it again.
  void expect(const Fabrics::Object& object);
  bool lost(const OwnDescriptor& descriptor);
  bool control(int operation, int descriptor, unsigned events);
  // An event of a socket's.
  void found(int descriptor);
  void find_writable();
  // The kernel forgets a descriptor when it is closed. True if it was not watched before.
  bool add(int descriptor, unsigned events);
  void sleep_without(Nanoseconds bound);

  static constexpr Nanoseconds longest_sleep_without = seconds(1) / 1000;

  const Sockets sockets_;
  OwnDescriptor epoll_;
  OwnDescriptor interrupt_;
  // Sockets that take more again are found by an epoll of their own, which is one of the descriptors of the other. In
  // one together, data that the program itself has read meanwhile would be an event: of a socket that can be written.
  OwnDescriptor writable_;
  std::atomic<bool> lost_{false};                  // the descriptors
  std::map<int, std::function<void()>> handlers_;  // of descriptors that are no sockets of the MPI's
  std::vector<int> ready_;                         // sockets that the last wait() found
  std::set<int> watched_;                          // sockets; some of them may be closed by now
  std::map<int, std::uint64_t> written_;           // into sockets, before the poll
  bool told_by_others_ = false;                    // than sockets, of the last wait()
  bool late_ = false;                              // before the poll
  bool small_ = false;                             // what came, before the poll
  bool bulk_ = false;                              // was there more than that
  std::set<ino_t> foreign_;
  std::atomic<bool> any_{false};  // a socket is watched
  bool carries_ = false;
  bool announced_ = false;  // a fabric's library did, once: an MPI may open one and move its messages elsewhere
  std::map<int, std::uint64_t> carried_before_;  // by sockets when they were found, until one carries the traffic
  std::set<int> sending_;                        // sockets that had data to send after the last poll
  Fabrics* const fabrics_;
  std::map<int, Fabric> expected_;  // descriptors that were ever armed
  // Its thread writes them, others read.
  std::atomic<std::uint64_t> by_sockets_{0};
  PerFabric<std::atomic<std::uint64_t>> by_fabric_{};
  PerFabric<std::atomic<std::uint64_t>> armed_{};
  std::atomic<std::uint64_t> busy_{0};
};

// False where the kernel has only millisecond timeouts (before Linux 5.11): waits then end up to 1 ms late.
bool has_precise_epoll();

}  // namespace progress_engine
