// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word of this process (futex(2), private).
#pragma once

#include <atomic>
#include <cstdint>

#include "core/clock.hpp"

namespace progress_engine {

// Sleeps while `word` is `expected`, at most for `timeout`; may end early for no reason.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout);
// Wakes all that sleep on `word`. The word may be gone by now: only its address is used.
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace progress_engine
