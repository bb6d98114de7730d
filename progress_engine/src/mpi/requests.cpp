// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests.hpp"

#include <utility>

namespace progress_engine {

PersistentRequests::State PersistentRequests::set(Key key, State state) {
  const std::scoped_lock lock(mutex_);
  State& entry = states_[key];  // State{} is unknown
  size_ = states_.size();
  return std::exchange(entry, state);
}

bool PersistentRequests::change(Key key, State from, State to) {
  if (empty()) return false;
  const std::scoped_lock lock(mutex_);
  const auto found = states_.find(key);
  if (found == states_.end() || found->second != from) return false;
  found->second = to;
  return true;
}

PersistentRequests::State PersistentRequests::erase(Key key) {
  if (empty()) return State::unknown;
  const std::scoped_lock lock(mutex_);
  const auto found = states_.find(key);
  if (found == states_.end()) return State::unknown;
  const State state = found->second;
  states_.erase(found);
  size_ = states_.size();
  return state;
}

}  // namespace progress_engine
