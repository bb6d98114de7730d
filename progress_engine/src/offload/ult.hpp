// SPDX-License-Identifier: BSD-3-Clause
// User-level threads: which library makes them, and how one of them waits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "progress_engine/progress_engine.h"

namespace progress_engine::offload {

// Fukuoka et al.: remove = out of the ready queue until completion (their second method), reinsert = back into the
// ready queue, to test at each turn (their first). lead = remove, but where the communication thread has no CPU of its
// own one of those that wait does its work at each turn, which spares the kernel two switches a message.
enum class UltWaiting { lead, remove, reinsert };
constexpr std::array<std::string_view, 3> ult_waiting_names = {"lead", "remove", "reinsert"};
// Null for another name.
std::optional<UltWaiting> ult_waiting_of(std::string_view name);
UltWaiting ult_waiting();
void set_ult_waiting(UltWaiting waiting);

// What to do with a user-level thread that no adapter knows: refuse to go on (it would block the kernel thread that
// other user-level threads need), or block all the same.
enum class UnknownUlt { refuse, block };
void set_unknown_ult(UnknownUlt what);

// The adapter in use; null if there is none.
const pe_ult_adapter* ult_adapter();
// False if it is not usable (a gate that is too large, a function that is missing).
bool register_ult_adapter(const pe_ult_adapter& adapter);
// Loads the adapter that was built beside the engine for the library that this process has, if there is one.
void find_ult_adapter();

// Whether the caller can be suspended without its kernel thread. Ends the program with a sentence for a user-level
// thread that no adapter knows, unless UnknownUlt::block.
bool is_user_level_thread();
// Whether the caller runs on a stack other than its kernel thread's own.
bool is_on_another_stack();

void count_suspension();
std::uint64_t suspensions();

// Says `sentence` on stderr and ends the program; the MPI's part of the engine makes it end all ranks.
[[noreturn]] void give_up(const std::string& sentence);
void set_end_of_all_ranks(void (*end)());

}  // namespace progress_engine::offload
