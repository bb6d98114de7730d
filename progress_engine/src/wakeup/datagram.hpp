// SPDX-License-Identifier: BSD-3-Clause
// What the engines of two nodes say to each other (wakeup/bell.hpp): 32 bytes, of which the last eight prove that they
// come from the same job of the same user. Knows no sockets.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "platform/platform.hpp"
#include "wakeup/siphash.hpp"

namespace progress_engine {

enum class BellWord : std::uint32_t {
  ring = 1,  // `target` should poll
  ask = 2,   // the same, and whoever has that rank should answer `here`
  here = 3   // `target`, who asked, finds `sender` where this comes from; `sequence` is that of the question
};

struct BellMessage {
  BellWord word = BellWord::ring;
  std::uint32_t sender = 0;  // ranks of the program
  std::uint32_t target = 0;
  std::uint64_t sequence = 0;
  bool operator==(const BellMessage&) const = default;
};

constexpr std::size_t datagram_size = 32;
using Datagram = std::array<std::byte, datagram_size>;

// The key of one job, of the user's: a ring of another job is a forgery.
SipKey key_of_job(const SipKey& of_user, std::string_view job);

Datagram seal(const BellMessage& message, const SipKey& key);
// None for what was not sealed with this key, whatever it is.
std::optional<BellMessage> unseal(std::span<const std::byte> bytes, const SipKey& key);

// Takes each message once, and none that is much older than the newest: what a network doubles, delays or somebody
// plays again rings nobody. As IPsec does it (RFC 4303, 3.4.3), for each sender.
class ReplayWindow {
 public:
  explicit ReplayWindow(std::size_t senders) : senders_(senders) {}

  bool takes(std::uint32_t sender, std::uint64_t sequence);

 private:
  static constexpr std::uint64_t width = 64;
  struct Seen {
    std::uint64_t newest = 0;
    std::uint64_t recent = 0;  // bit n: newest - n was taken
  };
  std::vector<Seen> senders_;
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

}  // namespace progress_engine
