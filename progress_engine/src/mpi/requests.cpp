// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests.hpp"

namespace progress_engine {

bool PersistentRequests::change(Key key, State from, State to) {
  if (empty()) return false;
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.state != from) return false;
  found->second.state = to;
  return true;
}

PersistentRequests::State PersistentRequests::erase(Key key) {
  if (empty()) return State::unknown;
  const std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return State::unknown;
  const State state = found->second.state;
  entries_.erase(found);
  size_ = entries_.size();
  return state;
}

}  // namespace progress_engine
