// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word (futex(2)): of this process, or `_shared` of memory that several processes map.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/clock.hpp"

namespace progress_engine {

// Sleeps while `word` is `expected`, at most for `timeout`; may end early for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout);
// Wakes all that sleep on `word`. The word may be gone by now: only its address is used.
void futex_wake(std::atomic<std::uint32_t>& word);
void futex_wait_shared(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout);
void futex_wake_shared(std::atomic<std::uint32_t>& word);

}  // namespace progress_engine
