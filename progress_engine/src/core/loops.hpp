// SPDX-License-Identifier: BSD-3-Clause
// The loops of the engine's threads, one a polling point. Each returns when the engine stops.
#pragma once

namespace progress_engine {

class Engine;
struct Worker;

// Polls, waits as the setting `wait` says (not at all, CPU hints, sched_yield, sleeping timer_us, watching a word in
// user mode, sleeping until there is work), polls again.
void run_dedicated(Engine& engine, Worker& worker);
// Polls at a fixed period.
void run_timer(Engine& engine, Worker& worker);
// The same on a SCHED_IDLE thread, with its own, short period; 0 = only yields.
void run_idle(Engine& engine, Worker& worker);
// Parked while there is nothing to do; else woken by traffic, not more often than the polling interval allows.
void run_events(Engine& engine, Worker& worker);

}  // namespace progress_engine
