// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <utility>

#include "rank.h"

namespace simulated {
namespace {

constexpr Bytes least_piece = Bytes{64} << 10U;
constexpr Bytes pieces_of_a_buffer = 4;  // so that both ends work while the network does
constexpr Bytes without_limit = std::numeric_limits<Bytes>::max() / 4;

}  // namespace

Message::Message(World& world, const Protocol& protocol, Endpoint& sender, Endpoint& receiver, int source, int tag,
                 Bytes bytes)
    : world_(world),
      protocol_(protocol),
      sender_(sender),
      receiver_(receiver),
      source_(source),
      tag_(tag),
      bytes_(bytes),
      latency_(world.latency(sender.host(), receiver.host())) {}

Bytes Message::begin() {
  const bool with_data = !asks() && bytes_ > 0;
  if (!with_data || bytes_ > protocol_.eager_bytes) {
    tell(receiver_, Notice::Kind::envelope, world_.now() + latency_);
  }
  return with_data ? fill() : 0;
}

void Message::answer() { tell(sender_, Notice::Kind::answer, world_.now() + latency_); }

Bytes Message::fill() {
  const Bytes buffer = protocol_.zero_copy ? without_limit : protocol_.send_buffer_bytes;
  const Bytes given = std::min(bytes_ - handed_, buffer - std::min(buffer, handed_ - left_));
  handed_ += given;
  room_known_ = false;
  pump();
  return given;
}

Bytes Message::drain() {
  const bool was_full = stalled();
  const Bytes taken = arrived_ - drained_;
  drained_ = arrived_;
  data_known_ = false;
  if (was_full) {  // the sender's kernel learns of the room a latency later
    world_.at(world_.now() + latency_, [self = shared_from_this()] { self->pump(); });
  } else {
    pump();
  }
  return taken;
}

bool Message::sent() const { return (protocol_.zero_copy && asks() ? left_ : handed_) == bytes_; }

double Message::in_memory() const {
  const Bytes here = protocol_.zero_copy ? arrived_ : drained_;
  return bytes_ == 0 ? 1 : static_cast<double>(here) / static_cast<double>(bytes_);
}

bool Message::stalled() const {
  return !protocol_.zero_copy && left_ < bytes_ && left_ - drained_ >= protocol_.receive_buffer_bytes;
}

void Message::pump() {
  if (moving_ > 0) {
    return;
  }
  Bytes piece = handed_ - left_;
  if (!protocol_.zero_copy) {
    const Bytes held = left_ - drained_;
    const Bytes room = protocol_.receive_buffer_bytes - std::min(protocol_.receive_buffer_bytes, held);
    piece = std::min({piece, room, std::max(least_piece, protocol_.receive_buffer_bytes / pieces_of_a_buffer)});
  }
  if (piece == 0) {
    return;
  }
  moving_ = piece;
  world_.move(sender_.host(), receiver_.host(), piece, [self = shared_from_this()] {
    const Bytes here = std::exchange(self->moving_, 0);
    self->left_ += here;
    self->world_.at(self->world_.now() + self->latency_, [self, here] {
      const bool first = self->arrived_ == 0 && self->bytes_ <= self->protocol_.eager_bytes;
      self->arrived_ += here;
      if (first) {
        self->tell(self->receiver_, Notice::Kind::envelope, self->world_.now());
      } else if (!std::exchange(self->data_known_, true)) {
        self->tell(self->receiver_, Notice::Kind::data, self->world_.now());
      }
    });
    if ((self->handed_ < self->bytes_ || self->asks()) && !std::exchange(self->room_known_, true)) {
      self->tell(self->sender_, Notice::Kind::room, self->world_.now());
    }
    self->pump();
  });
}

void Message::tell(Endpoint& whom, Notice::Kind kind, Seconds time) {
  world_.at(time, [self = shared_from_this(), &whom, kind] { whom.happened({.kind = kind, .message = self}); });
}

}  // namespace simulated
