// SPDX-License-Identifier: BSD-3-Clause
// The IS kernel of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007, section 2.8) without its messages: integers
// are ranked by counting, those of a range of values on one rank.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace workloads::npb {

using Key = std::int32_t;

inline constexpr int is_iterations = 10;
inline constexpr std::size_t is_probes = 5;

/// A class: 2^log2_keys keys below 2^log2_limit, and the ranks of five of them.
struct IsClass {
  std::string_view name;
  unsigned log2_keys;
  unsigned log2_limit;
  unsigned log2_buckets;
  std::array<std::int64_t, is_probes> place;  ///< of the probes in the sequence of all keys
  std::array<std::int64_t, is_probes> rank;   ///< what their ranks are made of
  /// In iteration i a probe's rank is `rank` + i - delay where it rises, `rank` - i + hurry where it falls: each
  /// iteration writes a small key and a large one over two others.
  std::array<bool, is_probes> rises;
  int delay;
  int hurry;

  [[nodiscard]] std::int64_t keys() const noexcept { return std::int64_t{1} << log2_keys; }
  [[nodiscard]] Key limit() const noexcept { return static_cast<Key>(1U << log2_limit); }
  [[nodiscard]] std::size_t buckets() const noexcept { return std::size_t{1} << log2_buckets; }
  [[nodiscard]] std::int64_t right_rank(std::size_t probe, int iteration) const noexcept;
};

/// S to D with the verification values of NPB 3.4.
const std::array<IsClass, 6>& is_classes() noexcept;

/// The keys of this rank's part of the sequence: all parts are of one length.
std::vector<Key> is_keys(const IsClass& problem, int rank, int ranks);

/// The keys of a rank in the order of their buckets, ranges of values of one size. One thread.
class BucketSort {
 public:
  explicit BucketSort(const IsClass& problem);
  /// Keys of `to` as those of `from`, by bucket; both have the same size.
  void sort(std::span<const Key> from, std::span<Key> to);
  /// How many of the last sort's keys are in each bucket.
  [[nodiscard]] std::span<const std::int64_t> sizes() const noexcept { return sizes_; }

 private:
  unsigned shift_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::int64_t> next_;
};

/// Whose each bucket is: as many buckets as bring the sum of keys up to its share. `sizes`: of all ranks' keys. Returns
/// `ranks` + 1 limits: rank r has the buckets from limit r to limit r + 1.
std::vector<std::size_t> share_buckets(std::span<const std::int64_t> sizes, int ranks);

/// The ranks of the keys in a range of values. One thread.
class Ranking {
 public:
  /// No keys, of [begin, end). Memory of 4 bytes a value.
  void restart(Key begin, Key end);
  void count(std::span<const Key> keys);
  /// After all keys are counted; before rank() and sort(). Returns their sum.
  std::int64_t finish();
  /// How many keys of the range are less than `key`, which lies in it.
  [[nodiscard]] std::int64_t rank(Key key) const noexcept { return below_[static_cast<std::size_t>(key - begin_)]; }
  /// Keys that are not of this range: none, unless a message was spoiled.
  [[nodiscard]] std::int64_t strays() const noexcept { return strays_; }
  [[nodiscard]] bool contains(Key key) const noexcept { return key >= begin_ && key < end_; }
  /// Puts each key at its rank.
  [[nodiscard]] std::vector<Key> sort(std::span<const Key> keys) const;

 private:
  Key begin_ = 0;
  Key end_ = 0;
  std::int64_t strays_ = 0;
  std::vector<std::uint32_t> below_;
};

}  // namespace workloads::npb
