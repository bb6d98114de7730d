// SPDX-License-Identifier: BSD-3-Clause
// How a dedicated thread waits between two polls, one strategy a file.
#pragma once

#include "policy/settings.hpp"

namespace progress_engine {

class Engine;
struct Worker;
using WaitStrategy = void (*)(Engine&, Worker&);

void wait_spin(Engine& engine, Worker& worker);   // not at all
void wait_pause(Engine& engine, Worker& worker);  // the CPU's hint for spinning loops: leaves more to an SMT sibling
void wait_yield(Engine& engine, Worker& worker);  // sched_yield
void wait_timer(Engine& engine, Worker& worker);  // sleeps timer_us
void wait_mwait(Engine& engine, Worker& worker);  // with umwait, mwaitx or wfe, until rung or for timer_us
void wait_futex(Engine& engine, Worker& worker);  // sleeps until there may be work

// Settings refuse the combinations that have none (Wait::epoll belongs to points=events).
WaitStrategy wait_strategy(Wait wait);

}  // namespace progress_engine
