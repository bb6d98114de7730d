// SPDX-License-Identifier: BSD-3-Clause
// The adapter for Argobots: built where its header is found, loaded into programs that have Argobots in them.
#include <abt.h>

#include "progress_engine/progress_engine.h"

namespace {

ABT_eventual& eventual(void* gate) { return *static_cast<ABT_eventual*>(gate); }

// Tasklets have no stack of their own and cannot be suspended; threads that Argobots does not know neither.
int is_ult() {
  ABT_unit_type type = ABT_UNIT_TYPE_EXT;
  return ABT_self_get_type(&type) == ABT_SUCCESS && type == ABT_UNIT_TYPE_THREAD ? 1 : 0;
}

void wait(void* gate) {
  ABT_eventual_wait(eventual(gate), nullptr);
  ABT_eventual_free(&eventual(gate));
}

constinit const pe_ult_adapter adapter = {
    "argobots",
    sizeof(ABT_eventual),
    is_ult,
    [](void* gate) { ABT_eventual_create(0, &eventual(gate)); },
    wait,
    [](void* gate) { ABT_eventual_set(eventual(gate), nullptr, 0); },
    [] { ABT_thread_yield(); },
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const pe_ult_adapter* pe_get_ult_adapter() { return &adapter; }
