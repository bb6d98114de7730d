// SPDX-License-Identifier: BSD-3-Clause
// What an MPI calls in place of a function of a fabric's library.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "fabrics/fabrics.hpp"

namespace progress_engine {

// `theirs`: the library's own; null: that which this process finds by the name.
template <typename Function>
Function called_for(std::span<const Replaced> calls, std::string_view name, void* theirs = nullptr) {
  const auto call = std::ranges::find_if(calls, [&](const Replaced& one) { return name == one.name; });
  *call->theirs = theirs ? theirs : dlsym(RTLD_DEFAULT, call->name);
  return reinterpret_cast<Function>(call->ours);
}

}  // namespace progress_engine
