// SPDX-License-Identifier: BSD-3-Clause
// One rank: its messages and collectives, which advance only in a visit, that is while the program is inside MPI or its
// engine polls; and its core, which the program's computation shares with the polls.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/noncopyable.h"
#include "model.h"
#include "network.h"
#include "schedules.h"
#include "wakes.h"

namespace simulated {

// One message on its way: envelope, answer and data, the data through the kernels' buffers at both ends.

class Message;
using MessagePtr = std::shared_ptr<Message>;

/// What a rank sees at its next visit, and what ends the engine's wait.
struct Notice {
  enum class Kind : std::uint8_t { envelope, answer, data, room };
  Kind kind;
  MessagePtr message;
};

/// Who is told.
class Endpoint : workloads::NonCopyable {
 public:
  virtual ~Endpoint() = default;
  virtual void happened(Notice notice) = 0;
  [[nodiscard]] virtual int host() const = 0;
};

class Message : public std::enable_shared_from_this<Message> {
 public:
  Message(World& world, const Protocol& protocol, Endpoint& sender, Endpoint& receiver, int source, int tag,
          Bytes bytes);

  [[nodiscard]] int source() const { return source_; }
  [[nodiscard]] int tag() const { return tag_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// It needs the receiver's answer before its data may travel.
  [[nodiscard]] bool asks() const { return protocol_.handshake && bytes_ > protocol_.eager_bytes; }

  /// The sender's first step: the envelope leaves, and where none must be asked the first data. Bytes given to the
  /// kernel.
  Bytes begin();
  /// The receiver's answer leaves.
  void answer();
  /// The sender's kernel takes what it has room for. Bytes given to it.
  Bytes fill();
  /// The receiver takes what its kernel holds. Bytes taken.
  Bytes drain();

  [[nodiscard]] bool sent() const;
  [[nodiscard]] bool received() const { return drained_ == bytes_; }
  /// How much of it the receiver could read in its memory, 0 to 1. A card that moves the data asks no visit.
  [[nodiscard]] double in_memory() const;
  /// Traffic stands still until somebody visits: the receiver's kernel is full.
  [[nodiscard]] bool stalled() const;

 private:
  void pump();
  void tell(Endpoint& whom, Notice::Kind kind, Seconds time);

  World& world_;
  const Protocol& protocol_;
  Endpoint& sender_;
  Endpoint& receiver_;
  int source_;
  int tag_;
  Bytes bytes_;
  Seconds latency_;
  Bytes handed_ = 0;         // to the sender's kernel
  Bytes left_ = 0;           // the sender's host
  Bytes moving_ = 0;         // in the network
  Bytes arrived_ = 0;        // in the receiver's kernel
  Bytes drained_ = 0;        // by the receiver
  bool data_known_ = false;  // a notice of data is under way, one is enough
  bool room_known_ = false;
};

/// What a completing call waits for.
struct Request {
  bool done = false;
  MessagePtr incoming;  ///< of a receive that has met its message
  /// Of a receive: how much is in the program's memory, 0 to 1.
  [[nodiscard]] double in_memory() const { return incoming ? incoming->in_memory() : 0; }
};
using RequestPtr = std::shared_ptr<Request>;

/// What the polls beside the program's computation did.
struct PollCount {
  std::uint64_t wakes = 0;
  std::uint64_t productive = 0;
  Seconds cpu = 0;
};

class Rank final : public Endpoint {
 public:
  Rank(World& world, const Model& model, std::vector<std::unique_ptr<Rank>>& ranks, int number,
       std::unique_ptr<Wakes> wakes)
      : world_(world), model_(model), ranks_(ranks), number_(number), wakes_(std::move(wakes)) {}

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] Seconds now() const { return world_.now(); }
  /// When the calls that the program has made return: what comes next begins then.
  [[nodiscard]] Seconds free_at() const { return std::max(now(), busy_until_); }
  [[nodiscard]] const Model& model() const { return model_; }
  [[nodiscard]] const PollCount& polls() const { return polls_; }

  /// Calls of the program.
  RequestPtr send(int peer, int tag, Bytes bytes);
  RequestPtr receive(int peer, int tag, Bytes bytes);
  RequestPtr start(Rounds rounds);

  /// co_await: inside MPI until `request` is complete.
  auto wait(RequestPtr request) {
    struct Waiting {
      Rank& rank;
      RequestPtr request;
      bool await_ready() { return rank.enter(request); }
      void await_suspend(std::coroutine_handle<> program) { rank.program_ = program; }
      void await_resume() { rank.leave(); }
    };
    return Waiting{*this, std::move(request)};
  }

  /// co_await: the program computes for so long, and whoever polls meanwhile takes its core; unless it is `asleep`.
  auto compute(Seconds work, bool asleep = false) {
    struct Computing {
      Rank& rank;
      Seconds work;
      bool asleep;
      bool await_ready() const { return work <= 0; }
      void await_suspend(std::coroutine_handle<> program) { rank.begin_computing(program, work, asleep); }
      void await_resume() {}
    };
    return Computing{*this, work, asleep};
  }

  void happened(Notice notice) override;
  [[nodiscard]] int host() const override { return number_; }

 private:
  struct Operation : Request {
    Rounds rounds;
    std::size_t next = 0;
    int tag = 0;
    Bytes reduce = 0;  ///< follows the round that is under way
    std::vector<RequestPtr> current;
  };
  using Envelope = std::pair<int, int>;  // peer and tag

  bool enter(const RequestPtr& request);
  void leave() { where_ = Where::outside; }
  void serve();
  void begin_computing(std::coroutine_handle<> program, Seconds work, bool asleep);
  void end_computing();
  void plan_poll();
  void poll();
  void visit();
  bool advance(Operation& collective);
  void next_round(Operation& collective);
  void handle(const Notice& notice);
  void match(const MessagePtr& message, const RequestPtr& request);
  void moved(Bytes bytes);
  void complete(Request& request);
  void began(std::optional<Bytes> message = {});
  RequestPtr post_send(int peer, int tag, Bytes bytes, RequestPtr request = std::make_shared<Request>());
  RequestPtr post_receive(int peer, int tag, Bytes bytes, RequestPtr request = std::make_shared<Request>());
  void hand_over(Action call);
  void plan_move();
  void move();
  void resume_at(Seconds time);

  enum class Where { outside, inside, computing };

  World& world_;
  const Model& model_;
  std::vector<std::unique_ptr<Rank>>& ranks_;
  int number_;
  std::unique_ptr<Wakes> wakes_;

  std::deque<Notice> notices_;
  std::map<Envelope, std::deque<RequestPtr>> posted_;
  std::map<Envelope, std::deque<MessagePtr>> unexpected_;
  std::unordered_map<MessagePtr, RequestPtr> sending_;
  std::unordered_map<MessagePtr, RequestPtr> receiving_;
  std::vector<std::shared_ptr<Operation>> collectives_;
  int collective_count_ = 0;
  int pending_ = 0;           // requests that are not complete
  bool for_wakes_ = false;    // there was one among them that needs polls
  Bytes small_messages_ = 0;  // since nothing was pending

  Where where_ = Where::outside;
  RequestPtr awaited_;
  std::coroutine_handle<> program_;
  Seconds busy_until_ = 0;  // its core moves data inside MPI
  Seconds cost_ = 0;        // of the visit that is under way
  Seconds moving_ = 0;      // of it: data
  int steps_ = 0;           // of it: messages' events
  bool late_ = false;
  bool unvisited_ = false;   // it waits, and has not looked yet
  bool asleep_ = false;      // the program sleeps instead of computing: its core is whoever's
  Seconds computed_at_ = 0;  // when the computation is over, if nobody takes the core
  Seconds polling_until_ = 0;
  std::uint64_t plan_ = 0;  // the poll of an older plan does not happen
  PollCount polls_;
  Seconds entered_ = 0;              // when it began to wait
  std::vector<Action> handed_over_;  // calls that the MPI's own thread has not made yet
  Seconds moving_until_ = 0;         // that thread
};

/// All ranks at one place in their programs, at no cost: what begins together is measured from together.
class Fence {
 public:
  Fence(World& world, int ranks) : world_(world), ranks_(ranks) {}
  /// co_await: the least of the values that the ranks brought.
  auto arrive(double value = 0) {
    struct Arriving {
      Fence& fence;
      double value;
      // NOLINTNEXTLINE(readability-convert-member-functions-to-static): co_await calls it on an object
      bool await_ready() const { return false; }
      void await_suspend(std::coroutine_handle<> program) { fence.add(program, value); }
      double await_resume() const { return fence.least_; }
    };
    return Arriving{*this, value};
  }

 private:
  void add(std::coroutine_handle<> program, double value);
  World& world_;
  int ranks_;
  std::vector<std::coroutine_handle<>> arrived_;
  double least_so_far_ = std::numeric_limits<double>::infinity();
  double least_ = 0;  // of the last time that all were there
};

}  // namespace simulated
