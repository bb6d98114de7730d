// SPDX-License-Identifier: BSD-3-Clause
// Did the halo arrive before anybody waited for it? (Strohbeen, Sandia 2011.) The receive buffer is poisoned: every
// byte is the complement of what is to come. Before the wait some places of it, the last byte among them, are looked
// at: what is no poison any more has arrived. That shows progress without any clock.
//
// MPI forbids to look into the buffer of a receive that is not complete; every MPI here permits it, and one that moves
// the data elsewhere until the wait shows as what it is: nothing arrives early.
#pragma once

#include <cstdint>

#include "microbench/payload.h"

namespace workloads::minighost {

/// Makes every byte of `halo` differ from the pattern of `seed`.
void poison(Payload& halo, std::uint64_t seed) noexcept;

/// The share of the places looked at that have changed since poison(halo, seed): 0 to 1, and 1 of an empty halo.
double changed_share(const Payload& halo, std::uint64_t seed) noexcept;

}  // namespace workloads::minighost
