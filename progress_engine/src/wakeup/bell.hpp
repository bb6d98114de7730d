// SPDX-License-Identifier: BSD-3-Clause
// The out-of-band bell: who sends a large message to another node, or makes progress on one, wakes the receiver's
// engine by a datagram over the IP network that every cluster has beside its fabric. What a receiver needs is only to
// be polled at the right moment; who moves the data does not matter. Knows no MPI.
//
// One process of a node keeps the job's port (the keeper) and passes rings on to the others. Nothing is collective, and
// a rank without the engine hears nothing. A lost datagram costs latency: the timer stands behind each.
#pragma once

#include <netinet/in.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/own_descriptor.hpp"
#include "platform/platform.hpp"
#include "wakeup/bell_key.hpp"
#include "wakeup/datagram.hpp"

namespace progress_engine {

// ---- the keeper

// Keeps a port: takes rings from the network and hands them on. Its thread sleeps but for datagrams, and a look each
// second whether the program has closed its descriptors; it wakes no more than a thousand times a second however many
// datagrams there are.
class BellKeeper {
 public:
  // Rings `target` on this node, for `sender` at `from`. False: it is not here.
  using RingHere = std::function<bool(const BellMessage& message, const sockaddr_in& from)>;

  // None if somebody has the port already. Throws std::system_error.
  static std::unique_ptr<BellKeeper> try_to_keep(in_addr_t address, in_port_t port, const SipKey& key, int ranks,
                                                 RingHere ring_here);
  ~BellKeeper();
  BellKeeper(const BellKeeper&) = delete;
  BellKeeper& operator=(const BellKeeper&) = delete;

  std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  // Forged, doubled, of other jobs, for nobody here.
  std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  std::uint64_t wakes() const { return wakes_.load(std::memory_order_relaxed); }
  // In a forked child, where its thread is not: the port must not stay taken.
  void close_in_child() {
    socket_.close();
    end_.close();
  }

 private:
  BellKeeper(OwnDescriptor socket, const SipKey& key, int ranks, RingHere ring_here);
  void run();
  bool await(Nanoseconds pause) const;
  bool are_ours() const { return end_.is_ours() && socket_.is_ours(); }
  void drain();
  void handle(std::span<const std::byte> bytes, const sockaddr_in& from);

  OwnDescriptor socket_;
  OwnDescriptor end_;  // an eventfd
  SipKey key_;
  int ranks_;
  RingHere ring_here_;
  ReplayWindow window_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<std::uint64_t> wakes_{0};
  pthread_t thread_{};
};

// ---- the bell

struct BellPlan {
  int rank = 0;
  int size = 1;     // of the program
  std::string job;  // the same on all its nodes, else different; empty: unknown
  // The job's hosts; empty: unknown, and each node then writes its own beside the key.
  std::function<std::vector<std::string>()> hosts;
  // What names the others' hosts after those that the nodes have written (apply_host_pattern); those of hosts() are
  // named so already.
  std::string host_pattern;
  std::string key_file;
  int port = 0;              // 0: from the job's name
  Nanoseconds interval = 0;  // a partner is rung no more often
  // Else it is there only because nothing spoke against it: a job on one host has no bell.
  bool asked_for = true;
  in_addr_t address = INADDR_ANY;
};

// A process's bell. Nothing is opened before start().
class Bell {
 public:
  // `ring_here` rings a rank of this node; false if it is not here.
  Bell(BellPlan plan, std::function<bool(int)> ring_here);
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  // ---- any thread
  // A large message was sent to `rank` of another node.
  void ring(int rank);
  // One will be received, from whomever: then it is not known whom to ring for it but those that rang of late.
  void expect_anyone();
  // Something was started with all ranks: those are rung whom collective algorithms take as first partners, at
  // distances that are powers of two; `is_here` are on this node.
  void ring_all(const std::function<bool(int)>& is_here);
  // Whether something else announces traffic now: meanwhile nobody is noted, and nobody rung. Returns it.
  bool be_quiet(bool quiet) {
    quiet_.store(quiet, std::memory_order_relaxed);
    return quiet;
  }
  // It never will ring again, or need not now.
  bool is_silent() const {
    const State state = state_.load(std::memory_order_relaxed);
    return state == State::refused || state == State::ended || quiet_.load(std::memory_order_relaxed);
  }
  // Whether anybody is on another node; then the engine starts it, when nothing else announces traffic.
  bool wanted() const { return wanted_.load(std::memory_order_relaxed); }
  // What was noted so far: large messages of ranks of other nodes, and operations that may have had some.
  std::uint64_t certain() const { return certain_.load(std::memory_order_relaxed); }
  std::uint64_t possible() const { return possible_.load(std::memory_order_relaxed); }
  bool rings() const { return state_.load(std::memory_order_relaxed) == State::rings; }
  // It turned out to be on this node.
  void forget(int rank);

  // ---- the engine's thread
  void start();
  // At each of its turns: finds out where partners are, rings those that it still owes a ring.
  void turn();
  // After a poll that moved something: rings partners of late, some at a time.
  void ring_partners();

  // ---- any thread
  // Ends the keeper's thread. What follows does nothing.
  void stop();
  void close_in_child();

  struct Counts {
    std::string state;  // "not needed", "rings", or a sentence that says what is amiss
    bool keeps = false;
    std::uint64_t sent = 0;
    std::uint64_t bounded = 0;  // turns and polls that sent all they may, and partners that had to make place
    std::uint64_t taken = 0;    // by the keeper of this node, if this process is it
    std::uint64_t refused = 0;
  };
  Counts counts();

 private:
  struct Partner {
    std::optional<sockaddr_in> where;
    Nanoseconds rung = 0;
    Nanoseconds used = 0;
    std::uint64_t first_asked = 0;  // sequence of the first question; 0: none yet
    std::uint64_t asked = 0;        // of the last one
    std::size_t questions = 0;      // hosts asked in this round
    int rounds = 0;                 // how often all hosts were asked
    bool owed = false;
    bool owed_again = false;  // since the last question, which rang
  };
  static constexpr std::size_t questions_at_once = 8;
  enum class State { idle, rings, refused, ended };

  Partner* partner_of(int rank);
  void make_place_for(int rank);
  enum class Owe { at_once, at_the_next_turn };
  void touch(int rank, Owe owe);
  void keep();
  void ask_here();
  void look_for_hosts();
  std::optional<sockaddr_in> address_of(std::size_t host);
  bool may_be_asked(const Partner& partner) const;
  void ask(int rank);
  void hear_answers();
  bool send(int rank, const sockaddr_in& where, BellWord word, std::uint64_t sequence);
  bool send_if_due(int rank, Partner& partner);
  void refuse(std::string reason);
  std::string what_begun_does() const;
  bool taken(const BellMessage& message, const sockaddr_in& from);

  const BellPlan plan_;
  const std::function<bool(int)> ring_here_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> expects_anyone_{false};  // ever
  std::atomic<bool> owes_all_{false};        // of late a ring
  std::atomic<bool> quiet_{false};
  std::atomic<std::uint64_t> certain_{0};
  std::atomic<std::uint64_t> possible_{0};
  std::atomic<State> state_{State::idle};

  mutable std::mutex mutex_;  // of what follows
  std::string reason_;
  std::unordered_map<int, Partner> partners_;
  std::vector<int> order_;  // of the partners, to take turns
  std::size_t next_ = 0;
  std::size_t looked_at_ = 0;                        // the last one who was asked to make place
  std::unordered_map<int, sockaddr_in> remembered_;  // where those are who made place
  int questions_here_ = 0;                           // to whoever has this node's port
  Nanoseconds asked_here_ = 0;
  bool heard_here_ = false;
  bool nobody_else_ = false;  // has put a name beside the key, when that was last looked for
  std::uint64_t sequence_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t bounded_ = 0;
  bool kept_ = false;  // of keepers that have ended, as are the next two
  std::uint64_t taken_ = 0;
  std::uint64_t refused_ = 0;
  SipKey key_{};
  in_port_t port_ = 0;
  OwnDescriptor socket_;
  std::unique_ptr<BellKeeper> keeper_;
  std::shared_ptr<PublishedHost> published_;

  // The engine's thread's:
  std::string job_word_;
  std::vector<std::string> hosts_;
  std::vector<std::optional<sockaddr_in>> addresses_;
  std::vector<bool> looked_up_;
  bool by_files_ = false;
  bool keeps_ = false;
  Nanoseconds tried_to_keep_ = 0;
  Nanoseconds looked_for_hosts_ = 0;
};

}  // namespace progress_engine
