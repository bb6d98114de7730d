// SPDX-License-Identifier: BSD-3-Clause
// What announces traffic to the engine, by the setting `events` and by what this machine and the MPI have.
#pragma once

#include <string>
#include <vector>

#include "policy/settings.hpp"
#include "wait/event_source.hpp"

// libfabric's first function, for who looks it up by its name.
extern "C" int fi_fabric(void* attributes, void** fabric, void* context);

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

// Functions of the fabrics' libraries that an MPI asks dlsym for: Intel MPI does for fi_fabric, MVAPICH2 for
// libibverbs'.

// From now on the calls of dlsym in the library that holds `code`, and no others, find the interposed functions. Before
// that library asks for them, and once; where its table cannot be changed it goes on as before, and what it opened so
// is not seen. x86-64 alone, for which these MPIs are.
void answer_lookups_of(const void* code);

// What stands before `function`, which is libfabric's own fi_fabric.
void* stand_before_libfabric(void* function);

}  // namespace progress_engine
