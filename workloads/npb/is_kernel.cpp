// SPDX-License-Identifier: BSD-3-Clause
#include "npb/is_kernel.h"

#include <algorithm>
#include <numeric>

#include "npb/generator.h"

namespace workloads::npb {

std::int64_t IsClass::right_rank(std::size_t probe, int iteration) const noexcept {
  return rises[probe] ? rank[probe] + iteration - delay : rank[probe] - iteration + hurry;
}

const std::array<IsClass, 6>& is_classes() noexcept {
  static constexpr std::array<bool, is_probes> two{true, true, false, false, false};
  static constexpr std::array<bool, is_probes> three{true, true, true, false, false};
  static constexpr std::array<IsClass, 6> table{{
      {"S", 16, 11, 9, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, three, 0, 0},
      {"W", 20, 16, 10, {357773, 934767, 875723, 898999, 404505}, {1249, 11698, 1039987, 1043896, 1048018}, two, 2, 0},
      {"A",
       23,
       19,
       10,
       {2112377, 662041, 5336171, 3642833, 4250760},
       {104, 17523, 123928, 8288932, 8388264},
       three,
       1,
       1},
      {"B",
       25,
       21,
       10,
       {41869, 812306, 5102857, 18232239, 26860214},
       {33422937, 10244, 59149, 33135281, 99},
       {false, true, true, false, true},
       0,
       0},
      {"C",
       27,
       23,
       10,
       {44172927, 72999161, 74326391, 129606274, 21736814},
       {61147, 882988, 266290, 133997595, 133525895},
       three,
       0,
       0},
      {"D",
       31,
       27,
       10,
       {1317351170, 995930646, 1157283250, 1503301535, 1453734525},
       {1, 36538729, 1978098519, 2145192618, 2147425337},
       two,
       0,
       0},
  }};
  return table;
}

std::vector<Key> is_keys(const IsClass& problem, int rank, int ranks) {
  constexpr int numbers_a_key = 4;
  std::vector<Key> keys(static_cast<std::size_t>(problem.keys() / ranks));
  Generator numbers(static_cast<std::uint64_t>(numbers_a_key) * keys.size() * static_cast<std::uint64_t>(rank));
  const double quarter = static_cast<double>(problem.limit()) / numbers_a_key;
  std::ranges::generate(keys, [&] {
    double sum = 0;
    for (int n = 0; n < numbers_a_key; ++n) {
      sum += numbers.next();
    }
    return static_cast<Key>(quarter * sum);
  });
  return keys;
}

BucketSort::BucketSort(const IsClass& problem)
    : shift_(problem.log2_limit - problem.log2_buckets), sizes_(problem.buckets()), next_(problem.buckets()) {}

void BucketSort::sort(std::span<const Key> from, std::span<Key> to) {
  const auto bucket = [shift = shift_](Key key) { return static_cast<std::size_t>(key) >> shift; };
  std::ranges::fill(sizes_, 0);
  for (const Key key : from) {
    ++sizes_[bucket(key)];
  }
  std::exclusive_scan(sizes_.begin(), sizes_.end(), next_.begin(), std::int64_t{0});
  for (const Key key : from) {
    to[static_cast<std::size_t>(next_[bucket(key)]++)] = key;
  }
}

std::vector<std::size_t> share_buckets(std::span<const std::int64_t> sizes, int ranks) {
  const std::int64_t share = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) / ranks;
  std::vector<std::size_t> limits{0};
  std::int64_t keys = 0;
  for (std::size_t bucket = 0; bucket < sizes.size(); ++bucket) {
    keys += sizes[bucket];
    if (limits.size() <= static_cast<std::size_t>(ranks) && keys >= share * static_cast<std::int64_t>(limits.size())) {
      limits.push_back(bucket + 1);
    }
  }
  // the last buckets may be empty, and large ones leave nothing for the last ranks
  limits.resize(static_cast<std::size_t>(ranks) + 1, sizes.size());
  limits.back() = sizes.size();
  return limits;
}

void Ranking::restart(Key begin, Key end) {
  begin_ = begin;
  end_ = end;
  strays_ = 0;
  below_.assign(static_cast<std::size_t>(end - begin) + 2, 0);
}

void Ranking::count(std::span<const Key> keys) {
  // One place further than a key's own: what is summed up there are the keys below the next one. The last place is
  // for strays.
  const auto most = static_cast<std::uint32_t>(end_ - begin_);
  std::uint32_t* const counts = below_.data() + 1;
  for (const Key key : keys) {
    ++counts[std::min(static_cast<std::uint32_t>(key - begin_), most)];
  }
}

std::int64_t Ranking::finish() {
  const auto values = static_cast<std::size_t>(end_ - begin_);
  std::int64_t sum = 0;
  std::uint32_t below = 0;
  for (std::size_t value = 0; value < values; ++value) {
    const std::uint32_t count = below_[value + 1];
    sum += static_cast<std::int64_t>(count) * (begin_ + static_cast<std::int64_t>(value));
    below += count;
    below_[value + 1] = below;
  }
  strays_ = below_[values + 1];
  return sum;
}

std::vector<Key> Ranking::sort(std::span<const Key> keys) const {
  auto next = below_;
  std::vector<Key> sorted(keys.size(), -1);
  for (const Key key : keys) {
    if (const auto place = contains(key) ? next[static_cast<std::size_t>(key - begin_)]++ : keys.size();
        place < keys.size()) {
      sorted[place] = key;
    }
  }
  return sorted;
}

}  // namespace workloads::npb
