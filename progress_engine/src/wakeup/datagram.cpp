// SPDX-License-Identifier: BSD-3-Clause
#include "wakeup/datagram.hpp"

#include <string>

namespace progress_engine {
namespace {

constexpr std::uint64_t layout = 0x314c4c45;  // "ELL1"
constexpr std::size_t sealed_size = datagram_size - 8;

void put(Datagram& datagram, std::size_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) datagram[at + i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

SipKey key_of_job(const SipKey& of_user, std::string_view job) {
  return {siphash(of_user, "bell 0 " + std::string(job)), siphash(of_user, "bell 1 " + std::string(job))};
}

Datagram seal(const BellMessage& message, const SipKey& key) {
  Datagram datagram{};
  put(datagram, 0, layout, 4);
  put(datagram, 4, static_cast<std::uint32_t>(message.word), 4);
  put(datagram, 8, message.sender, 4);
  put(datagram, 12, message.target, 4);
  put(datagram, 16, message.sequence, 8);
  put(datagram, sealed_size, siphash(key, std::span(datagram).first(sealed_size)), 8);
  return datagram;
}

std::optional<BellMessage> unseal(std::span<const std::byte> bytes, const SipKey& key) {
  if (bytes.size() != datagram_size || little_endian(bytes.first(4)) != layout) return {};
  if (little_endian(bytes.subspan(sealed_size)) != siphash(key, bytes.first(sealed_size))) return {};
  const auto number = [&](std::size_t at) { return static_cast<std::uint32_t>(little_endian(bytes.subspan(at, 4))); };
  const std::uint32_t word = number(4);
  if (word < 1 || word > 3) return {};
  return BellMessage{static_cast<BellWord>(word), number(8), number(12), little_endian(bytes.subspan(16, 8))};
}

bool ReplayWindow::takes(std::uint32_t sender, std::uint64_t sequence) {
  if (sender >= senders_.size()) return false;
  Seen& seen = senders_[sender];
  if (sequence > seen.newest) {
    const std::uint64_t by = sequence - seen.newest;
    seen.recent = by < width ? seen.recent << by : 0;
    seen.recent |= 1;
    seen.newest = sequence;
    return true;
  }
  const std::uint64_t age = seen.newest - sequence;
  if (age >= width || (seen.recent >> age & 1) != 0) return false;
  seen.recent |= std::uint64_t{1} << age;
  return true;
}

}  // namespace progress_engine
