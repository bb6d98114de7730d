// SPDX-License-Identifier: BSD-3-Clause
// What announces traffic to the engine, by the setting `events` and by what this machine and the MPI have.
#pragma once

#include <string>
#include <vector>

#include "policy/settings.hpp"
#include "wait/event_source.hpp"

namespace progress_engine {

struct Watched {
  bool sockets = false;
  PerFabric<bool> fabrics{};
};

// Without a fabric's device all messages between nodes go through sockets, which cost nothing to watch; with one, the
// MPI may use UCX, libfabric or verbs, or sockets all the same: it shows in what is armed and what wakes.
Watched what_to_watch(Announcements events, bool has_device);

// Whether this machine has a device for InfiniBand, RoCE, iWARP, EFA, Omni-Path or Slingshot; `root` is another one's
// in tests.
bool has_fabric_device(const std::string& root = "");

// Why what the setting names does not announce anything; "" if it can. What `auto` allows is told only where it was
// there and was refused. After MPI_Init.
std::string what_lacks(Announcements events, const Fabrics& fabrics);

// "ucx", say: what can have announced something until now.
std::vector<std::string> sources_in_use(const EventSource& events);

}  // namespace progress_engine
