// SPDX-License-Identifier: BSD-3-Clause
// SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012), a keyed hash made for authenticating short messages. By hand,
// since what is preloaded into others' programs should bring no libraries into them: libcrypto's symbols would meet
// the program's own version of it, and the kernel's hashes (AF_ALG) cost four system calls a datagram and are switched
// off on many clusters. Tested against the authors' vectors.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace progress_engine {

using SipKey = std::array<std::uint64_t, 2>;

class SipState {
 public:
  explicit SipState(const SipKey& key)
      : v_{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
           key[1] ^ 0x7465646279746573} {}

  void absorb(std::uint64_t word) {
    v_[3] ^= word;
    rounds(2);
    v_[0] ^= word;
  }
  std::uint64_t finish() {
    v_[2] ^= 0xff;
    rounds(4);
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void rounds(int count) {
    for (; count > 0; --count) {
      v_[0] += v_[1];
      v_[2] += v_[3];
      v_[1] = std::rotl(v_[1], 13) ^ v_[0];
      v_[3] = std::rotl(v_[3], 16) ^ v_[2];
      v_[0] = std::rotl(v_[0], 32);
      v_[2] += v_[1];
      v_[0] += v_[3];
      v_[1] = std::rotl(v_[1], 17) ^ v_[2];
      v_[3] = std::rotl(v_[3], 21) ^ v_[0];
      v_[2] = std::rotl(v_[2], 32);
    }
  }
  std::array<std::uint64_t, 4> v_;
};

// The word at the beginning of up to eight bytes, the lowest first.
inline std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

inline std::uint64_t siphash(const SipKey& key, std::span<const std::byte> bytes) {
  SipState state(key);
  const std::uint64_t length = bytes.size();
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) state.absorb(little_endian(bytes.first(8)));
  state.absorb(little_endian(bytes) | length << 56);
  return state.finish();
}

inline std::uint64_t siphash(const SipKey& key, std::string_view text) {
  return siphash(key, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace progress_engine
