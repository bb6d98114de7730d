// SPDX-License-Identifier: BSD-3-Clause
// One message on its way: envelope, answer and data, the data through the kernels' buffers at both ends.
#pragma once

#include <cstdint>
#include <memory>

#include "common/noncopyable.h"
#include "model.h"
#include "network.h"

namespace simulated {

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

}  // namespace simulated
