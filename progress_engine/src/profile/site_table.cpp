// SPDX-License-Identifier: BSD-3-Clause
#include "profile/site_table.hpp"

#include <utility>

namespace progress_engine::profile {

void Sums::add(const Sums& more) {
  count += more.count;
  bytes += more.bytes;
  inside += more.inside;
  computed += more.computed;
  waited += more.waited;
  winnable += more.winnable;
  then_computed += more.then_computed;
}

std::size_t SiteTable::Hash::operator()(const Operation& operation) const {
  std::size_t hash = 0;
  for (const auto& site : {operation.start, operation.completion})
    hash = hash * 0x9e3779b97f4a7c15U ^
           (reinterpret_cast<std::uintptr_t>(site.address) + (std::size_t{site.function} << 48U) + site.region);
  return hash ^ hash >> 32U;
}

void SiteTable::add(const Operation& operation, const Sums& sums) {
  const std::scoped_lock lock(mutex_);
  const auto known = table_.find(operation);
  if (known != table_.end())
    known->second.add(sums);
  else
    table_[table_.size() < most ? operation : Operation{}].add(sums);
}

void PendingTable::add(std::uint64_t handle, Pending pending) {
  const std::scoped_lock lock(mutex_);
  pending.serial = ++serials_;
  table_[handle] = pending;
}

std::optional<Pending> PendingTable::find(std::uint64_t handle) const {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(handle);
  if (found == table_.end()) return {};
  return found->second;
}

void PendingTable::add_test(std::uint64_t handle, std::uint64_t serial, Nanoseconds time) {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(handle);
  if (found != table_.end() && found->second.serial == serial) found->second.tested += time;
}

void PendingTable::remove(std::uint64_t handle, std::uint64_t serial) {
  const std::scoped_lock lock(mutex_);
  const auto found = table_.find(handle);
  if (found != table_.end() && found->second.serial == serial) table_.erase(found);
}

void PendingTable::remove(std::uint64_t handle) {
  const std::scoped_lock lock(mutex_);
  table_.erase(handle);
}

}  // namespace progress_engine::profile
