// SPDX-License-Identifier: BSD-3-Clause
// What this machine offers to the engine.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace progress_engine {

// {"wait_instruction": what wait=mwait uses here, "slice_ns": as read back after asking for 100 us, or null,
// "precise_epoll": bool,
//  "membarrier": bool, "cpus": [allowed to this process], "kernel": "6.1.0"}
nlohmann::ordered_json describe_machine();

}  // namespace progress_engine
