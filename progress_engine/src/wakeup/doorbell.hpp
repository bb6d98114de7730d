// SPDX-License-Identifier: BSD-3-Clause
// Cross-process wakeup: the engines of one program's processes on a node wake one another. Knows no MPI.
//
// line: the shared memory on which an engine thread sleeps; publication: how processes find one another's; doorbell:
// both together, for the ranks of a program.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "platform/own_descriptor.hpp"
#include "platform/platform.hpp"

namespace progress_engine {

// ---- the line
// A line of shared memory with which the processes of a node wake one another's engine thread: its owner sleeps, the
// others ring when they have sent it something. (A progress thread cannot wait for the MPI's own words: they are out of
// reach. PSM2's rcvthread is the nearest relative.)
//
// Ringing is a store, a fence and, while the owner is awake, a load. No ring is lost: the owner says that it sleeps,
// fences, and looks whether it was rung; a ringer stores its ring, fences, and looks whether the owner sleeps. All
// sleeps are bounded even so, since a ringer may be killed between the two.

template <typename Atomics>
class alignas(128) BasicWakeupLine {
 public:
  // Why the owner is rung: something was published for it, or will be in a moment, by a call that then waits.
  enum class Ring : std::uint32_t { none, sent, coming };

  // ---- by others. True if the owner slept and had to be woken; `wake_elsewhere` ends its sleep on something else than
  // this line.
  template <typename Wake>
  bool ring(Wake&& wake_elsewhere, Ring why = Ring::sent) {
    rung_.store(static_cast<std::uint32_t>(why), std::memory_order_release);
    Atomics::light_fence();
    if (asleep_.load(std::memory_order_relaxed) == awake) [[likely]]
      return false;
    const auto where = asleep_.exchange(awake, std::memory_order_acq_rel);  // one of many ringers wakes it
    if (where == here) Atomics::wake(asleep_);
    if (where == elsewhere) wake_elsewhere();
    return where != awake;
  }

  // ---- by the owner, one thread at a time
  bool rung() const { return rung_.load(std::memory_order_acquire) != 0; }
  // Before it looks for what was sent: whether it was rung since the last answer, and why the last time.
  Ring take() { return rung() ? static_cast<Ring>(rung_.exchange(0, std::memory_order_seq_cst)) : Ring::none; }
  bool answer() { return take() != Ring::none; }

  // Sleeps on the line until rung, at most for `bound`.
  void sleep(Nanoseconds bound) {
    sleep_until_rung(here, [&] { Atomics::wait(asleep_, here, bound); });
  }
  // The same in `wait()`, which whoever rings ends by its `wake_elsewhere`, even before it has begun.
  template <typename Wait>
  void sleep_elsewhere(Wait&& wait) {
    sleep_until_rung(elsewhere, wait);
  }
  // For waits in user mode: differs from 0 once rung.
  const Atomics::Word& word() const { return rung_; }

 private:
  template <typename Wait>
  void sleep_until_rung(std::uint32_t where, Wait&& wait) {
    asleep_.store(where, std::memory_order_relaxed);
    Atomics::heavy_fence();
    if (!rung()) wait();
    asleep_.store(awake, std::memory_order_relaxed);
  }

  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t here = 1;
  static constexpr std::uint32_t elsewhere = 2;
  Atomics::Word rung_{0};
  Atomics::Word asleep_{awake};
};

using WakeupLine = BasicWakeupLine<SharedAtomics>;
static_assert(sizeof(WakeupLine) == 128 && std::atomic<std::uint32_t>::is_always_lock_free);

// ---- publication
// How processes of one program find one another's doorbell on a node, without a collective call and without leaving
// anything behind, however they end.
//
// Each one's doorbell lies in a segment of shared memory (shmget(2)) that is marked for removal once it is attached,
// and a socket with an abstract name (unix(7)) tells the others its number: the kernel forgets both with the process.
// (One that is killed in the microseconds before the mark leaves a page.) Abstract names belong to a network namespace,
// so that virtual nodes on one kernel do not see each other; numbers belong to an IPC namespace.
//
// The kernel lets those attach it whom it takes for the same user, in whatever namespaces of users and processes they
// are: containers may have one a rank. (A file of another process's, by proc(5) or pidfd_getfd(2), it shows within one
// namespace of users alone. A descriptor that is sent needs a thread of the owner's that answers.) Nothing here is
// secret, and a ring from another program costs one wake.

// An attached page that holds a doorbell; detached with the object.
class MappedLine {
 public:
  MappedLine() = default;
  // Empty if this segment is none of this user's with one page.
  explicit MappedLine(int segment);
  ~MappedLine();
  MappedLine(MappedLine&& other) noexcept;
  MappedLine& operator=(MappedLine&&) = delete;
  explicit operator bool() const { return page_ != nullptr; }
  void* page() const { return page_; }
  WakeupLine& line() const;

 private:
  void* page_ = nullptr;
};

// This process's doorbell and its name. While its owner sleeps in poll(2) or epoll(7), a datagram to the name wakes it.
class PublishedLine {
 public:
  // `program`: the same for all processes of a program, else different; `rank`: in it. Throws std::system_error.
  PublishedLine(const std::string& program, int rank);
  ~PublishedLine() = default;
  PublishedLine(const PublishedLine&) = delete;
  PublishedLine& operator=(const PublishedLine&) = delete;

  WakeupLine& line() const { return page_.line(); }
  const std::string& name() const { return name_; }
  // Becomes readable with a datagram; then drain() it. False if more may be there: whoever is in this network namespace
  // can send to the name, and a flood must not keep the caller here. A sleep is ended by one datagram.
  int descriptor() const { return socket_.number(); }
  bool drain() const;
  // Ends the sleep of the one who has published `name`.
  void wake(const std::string& name) const;

 private:
  int segment_;
  MappedLine page_;
  std::string name_;
  OwnDescriptor socket_;
};

// How often a thread may wake: so many times at once, and then once a period. However many datagrams arrive, the rest
// waits, or is dropped by the kernel.
class WakeBudget {
 public:
  constexpr WakeBudget(int burst, Nanoseconds period) : most_(burst * period), period_(period) {}

  // How long to wait before the wake that begins now; 0: at once.
  Nanoseconds take(Nanoseconds now) {
    spent_ = std::max(spent_, now - most_) + period_;
    return spent_ > now ? spent_ - now : 0;
  }

 private:
  Nanoseconds most_;
  Nanoseconds period_;
  Nanoseconds spent_ = 0;  // up to then
};

struct Neighbour {
  int rank;
  std::string name;  // abstract, without the leading NUL
};
// All that are published for `program` in this network namespace, this process too. Some ten microseconds and more.
std::vector<Neighbour> find_neighbours(const std::string& program);
// The doorbell behind `name`, empty if there is none or it cannot be reached (another user, another IPC namespace).
MappedLine map_line(const std::string& name);

// ---- the doorbell

// Which rank of MPI_COMM_WORLD a rank of a communicator is, remembered: asking the MPI costs some hundred nanoseconds.
// (Or another small number that goes with a handle.)
// Any thread, without locks. An answer may be out of date for a communicator that has just been freed and made again:
// good for hints, not for more.
class RankCache {
 public:
  static constexpr int unknown = -2;

  // `communicator`: its handle's bits.
  PE_ALWAYS_INLINE std::uint64_t key_of(std::uint64_t communicator, int rank) const {
    auto bits = (communicator ^ (epoch_.load(std::memory_order_relaxed) << 48)) * 0x9E3779B97F4A7C15;
    bits = (bits ^ (bits >> 29) ^ static_cast<unsigned>(rank)) * 0xBF58476D1CE4E5B9;
    return bits ^ (bits >> 32) ^ 1;
  }
  PE_ALWAYS_INLINE int find(std::uint64_t key) const {
    const Entry& entry = entries_[key % size];
    const auto value = entry.value.load(std::memory_order_relaxed);
    return (entry.check.load(std::memory_order_relaxed) ^ value) == key ? static_cast<int>(value) - 1 : unknown;
  }
  // -1: nobody on this node, as far as is known.
  void remember(std::uint64_t key, int rank) {
    Entry& entry = entries_[key % size];
    const auto value = static_cast<std::uint64_t>(rank) + 1;
    entry.value.store(value, std::memory_order_relaxed);
    entry.check.store(key ^ value, std::memory_order_relaxed);
  }
  // A communicator is gone, and its handle may come again.
  void forget() { epoch_.fetch_add(1, std::memory_order_relaxed); }

 private:
  // Torn pairs tell themselves: the check is the key combined with the value (Hyatt's lockless hashing).
  struct Entry {
    std::atomic<std::uint64_t> check{0};
    std::atomic<std::uint64_t> value{0};  // the rank plus one
  };
  static constexpr std::size_t size = 256;

  std::atomic<std::uint64_t> epoch_{0};
  std::array<Entry, size> entries_{};
};

// The doorbell: rings the engines of the other processes of this program on this node, and is rung by them.
class Doorbell {
 public:
  // Of process `rank` of the `size` of `program`, see PublishedLine; `here`: so many of them are on this node, 0 if
  // nobody knows. Throws std::system_error.
  Doorbell(std::string program, int rank, int size, int here = 0);
  ~Doorbell();
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // ---- any thread
  // After something was sent to `rank`. False if it is not known as a neighbour: it may become one, see missed().
  bool ring(int rank, WakeupLine::Ring why = WakeupLine::Ring::sent) {
    Peer* peer = peer_of(rank);
    if (!peer) return false;
    make_partner(*peer);
    ring(*peer, why);
    return true;
  }
  bool has_neighbours() const { return neighbours_.first.load(std::memory_order_relaxed) != nullptr; }
  // Something will be received from `rank`: what it waits for may leave from inside progress. False as above.
  bool expect(int rank) {
    Peer* peer = peer_of(rank);
    if (peer) make_partner(*peer);
    return peer != nullptr;
  }
  void expect_all() { all_.store(true, std::memory_order_relaxed); }
  // After something was sent to whoever it concerns: those that ring() or expect() named so far, with `all` (from then
  // on) every neighbour. As expect_all() does.
  //
  // At most `rings_at_once`, however many neighbours there are: on a node of 128 ranks each start of a collective
  // operation would else ring 127, and so would each poll ever after, although most of them are awake or wait for
  // somebody else. Partners come first, by turns; with `all` those among them whom collective algorithms take first, at
  // distances that are powers of two (recursive doubling, dissemination, binomial trees, rings; both sides of eight
  // distances are sixteen). The others have turns as well, two a time. So a ring that is left out comes later, or by
  // way of others: who is rung and moves something rings its own partners, and four such steps reach every one of 128.
  // The timer stands behind it, as it does behind every sleep.
  void ring_partners(bool all = false);
  static constexpr int rings_at_once = 16;
  // After a poll partners alone: the 26 neighbours of a block in three dimensions are rung together.
  static constexpr int partners_at_once = 32;
  // The `times`-th time that somebody was not known: looks around ever more rarely, and for a hundredth of the time at
  // most. Looking takes some 50 us of the program's call, and whoever is on another node is never found.
  void missed(std::uint64_t times) {
    if (std::has_single_bit(times)) look_again();
  }
  // Not where all that are on this node have been found.
  void look_around();
  // Wakes this process's own sleeper.
  void ring_own();

  // ---- the engine thread
  // False: sleeping on the own doorbell would be in vain. True forever after the first neighbour.
  bool anyone_rings() const { return neighbours_.first.load(std::memory_order_acquire) != nullptr; }
  WakeupLine& own() const { return published_.line(); }
  const PublishedLine& published() const { return published_; }

  // Whether the whole program runs on this node.
  bool all_are_near() const { return neighbours() + 1 == static_cast<std::uint64_t>(size_); }

  // How many are known; and who, as many at least.
  std::uint64_t neighbours() const { return neighbours_.number.load(std::memory_order_acquire); }
  std::vector<int> ranks_of_neighbours() const;

  // ---- telemetry; any thread
  struct Counts {
    std::uint64_t neighbours = 0;
    std::uint64_t unreached = 0;  // published, or on this node by the launcher's number, and not to be rung
    std::uint64_t rings = 0;      // by ring_partners()
    std::uint64_t wakes = 0;      // rings that had to wake a sleeper
    std::uint64_t bounded = 0;    // calls of ring_partners() that left somebody out
  };
  Counts counts() const;

 private:
  struct Peer {
    Neighbour neighbour;
    MappedLine mapped;
    Peer* next;
    std::atomic<bool> partner{false};
    Peer* next_partner = nullptr;
  };
  // Some of a list of peers at a time, by turns. The list grows at its head, and nothing ever leaves it.
  struct Turns {
    std::atomic<Peer*> first{nullptr};
    std::atomic<std::uint64_t> number{0};
    std::atomic<Peer*> next{nullptr};  // whose turn it is; null: the first one's
  };
  // Peers by their ranks: of the neighbours alone, since a program may have a million ranks. Hashed, with open
  // addressing; what stands there stays, and one that is half full is followed by a larger one. Without locks for who
  // looks.
  class Places {
   public:
    explicit Places(int bits) : shift_(32 - bits), places_(std::size_t{1} << bits) {}
    Peer* find(int rank) const {
      for (std::size_t at = first(rank);; at = next(at)) {
        Peer* peer = places_[at].peer.load(std::memory_order_acquire);
        if (!peer || places_[at].rank == rank) return peer;
      }
    }
    void insert(int rank, Peer* peer);
    bool has_room_for(std::uint64_t peers) const { return 2 * peers <= places_.size(); }

   private:
    struct Place {
      int rank = -1;  // valid once there is a peer
      std::atomic<Peer*> peer{nullptr};
    };
    std::size_t first(int rank) const { return (static_cast<std::uint32_t>(rank) * 0x9E3779B9U) >> shift_; }
    std::size_t next(std::size_t at) const { return (at + 1) & (places_.size() - 1); }

    int shift_;
    std::vector<Place> places_;
  };
  Peer* peer_of(int rank) const { return places_.load(std::memory_order_acquire)->find(rank); }
  PE_ALWAYS_INLINE void make_partner(Peer& peer) {
    if (!peer.partner.load(std::memory_order_relaxed)) [[unlikely]]
      add_partner(peer);
  }
  void add_partner(Peer& peer);
  int ring_first_partners(int most);
  int ring_some(Turns& turns, Peer* Peer::* next, int most);
  void ring(Peer& peer, WakeupLine::Ring why = WakeupLine::Ring::sent) {
    if (peer.mapped.line().ring([&] { published_.wake(peer.neighbour.name); }, why)) [[unlikely]]
      wakes_.fetch_add(1, std::memory_order_relaxed);
  }
  bool all_were_found() const {
    return static_cast<std::int64_t>(neighbours_.number.load(std::memory_order_relaxed)) + 1 >= here_;
  }
  void look_again();
  void look();
  bool add(Neighbour neighbour);

  const std::string program_;
  const int rank_;
  const int size_;
  static constexpr std::int64_t nobody_knows = std::numeric_limits<std::int64_t>::max();
  const std::int64_t here_;
  PublishedLine published_;
  std::mutex looking_;
  std::set<int> unreached_;  // ranks that are published
  std::atomic<std::uint64_t> number_unreached_{0};
  std::atomic<Nanoseconds> next_look_{0};            // of look_again(), not before
  std::vector<std::unique_ptr<Places>> all_places_;  // the last one is used, former ones may still be read
  int bits_ = 6;
  std::atomic<const Places*> places_{nullptr};
  Turns neighbours_;
  Turns partners_;
  std::atomic<bool> all_{false};
  std::atomic<std::uint64_t> rings_{0};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<std::uint64_t> bounded_{0};
};

}  // namespace progress_engine
