// SPDX-License-Identifier: BSD-3-Clause
#include "wait/fabrics.hpp"

#include <algorithm>

namespace progress_engine {

constinit thread_local std::uint64_t fabric_steps = 0;
constinit thread_local ArmingRound* ArmingRound::round_of_thread = nullptr;

Fabrics& fabrics_of_process() {
  static auto* fabrics = new Fabrics;  // never destroyed: a library may close its objects at exit
  return *fabrics;
}

void Fabrics::refuse(Fabric fabric, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  refusals_[index(fabric)] = why;
}

void Fabrics::pass_over(Fabric fabric, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  passed_over_[index(fabric)] = why;
}

std::string Fabrics::refusal(Fabric fabric) const {
  const std::scoped_lock lock(mutex_);
  return refusals_[index(fabric)];
}

std::string Fabrics::passed_over(Fabric fabric) const {
  const std::scoped_lock lock(mutex_);
  return passed_over_[index(fabric)];
}

void Fabrics::opened(Fabric fabric, const void* object, int descriptor) {
  const std::scoped_lock lock(mutex_);
  objects_[object] = {fabric, descriptor};
  opened_[index(fabric)].fetch_add(1, std::memory_order_relaxed);
  number_.store(objects_.size(), std::memory_order_release);
}

void Fabrics::closed(const void* object) {
  const std::scoped_lock lock(mutex_);
  objects_.erase(object);
  number_.store(objects_.size(), std::memory_order_release);
}

bool Fabrics::announces(Fabric fabric) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(objects_, [&](const auto& known) { return known.second.fabric == fabric; });
}

Fabrics::Object Fabrics::find(const void* object) const {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(object);
  return found == objects_.end() ? Object{} : found->second;
}

}  // namespace progress_engine
