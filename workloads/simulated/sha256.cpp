// SPDX-License-Identifier: BSD-3-Clause
#include "sha256.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>

namespace simulated {
namespace {

using Word = std::uint32_t;
using State = std::array<Word, 8>;

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_bytes = 8;
constexpr unsigned byte_bits = 8;

constexpr State first_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::array<Word, 64> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// The standard's functions of a word: how far it is turned, and for the lower two how far shifted.
Word upper_sigma_0(Word x) { return std::rotr(x, 2) ^ std::rotr(x, 13) ^ std::rotr(x, 22); }
Word upper_sigma_1(Word x) { return std::rotr(x, 6) ^ std::rotr(x, 11) ^ std::rotr(x, 25); }
Word lower_sigma_0(Word x) { return std::rotr(x, 7) ^ std::rotr(x, 18) ^ (x >> 3U); }
Word lower_sigma_1(Word x) { return std::rotr(x, 17) ^ std::rotr(x, 19) ^ (x >> 10U); }

std::array<Word, 64> schedule_of(std::string_view block) {
  constexpr std::size_t given = 16;
  std::array<Word, 64> words{};
  for (std::size_t i = 0; i < block_bytes; ++i) {
    words[i / sizeof(Word)] = (words[i / sizeof(Word)] << byte_bits) | static_cast<unsigned char>(block[i]);
  }
  for (std::size_t t = given; t < words.size(); ++t) {
    words[t] = lower_sigma_1(words[t - 2]) + words[t - 7] + lower_sigma_0(words[t - 15]) + words[t - given];
  }
  return words;
}

void add_block(State& state, std::string_view block) {
  const auto words = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < words.size(); ++t) {
    const Word first = h + upper_sigma_1(e) + ((e & f) ^ (~e & g)) + constants[t] + words[t];
    const Word second = upper_sigma_0(a) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const State added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) {
    state[i] += added[i];
  }
}

}  // namespace

std::string sha256(std::string_view bytes) {
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % block_bytes != block_bytes - length_bytes) {
    padded += '\0';
  }
  const auto bits = static_cast<std::uint64_t>(bytes.size()) * byte_bits;
  for (std::size_t i = length_bytes; i-- > 0;) {
    padded += static_cast<char>(bits >> (i * byte_bits));
  }
  State state = first_state;
  for (std::size_t at = 0; at < padded.size(); at += block_bytes) {
    add_block(state, std::string_view(padded).substr(at, block_bytes));
  }
  std::string text;
  for (const Word word : state) {
    text += fmt::format("{:08x}", word);
  }
  return text;
}

}  // namespace simulated
