// SPDX-License-Identifier: BSD-3-Clause
// The MPI below us, found at run time. The engine is not linked with an MPI: preloaded into whatever process, it must
// neither load one nor change which one the program uses.
#pragma once

#include <atomic>

#include "core/inlining.hpp"

namespace progress_engine {

// The next definition of `name` after ours: another tool's or the MPI's own, also of an MPI that was loaded with
// RTLD_LOCAL. Null if there is none.
void* find_symbol(const char* name);

// The object `name` that everybody in this process uses: the program's copy of it, where the linker made one, shadows
// the MPI's own. Null if there is none.
void* find_object(const char* name);

// Says on stderr which function the program's MPI lacks, and aborts: there is nothing that the call could do.
[[noreturn]] void missing_symbol(const char* name);

// A function of the MPI below, looked up at its first use.
template <typename Function>
class Next {
 public:
  explicit constexpr Next(const char* name) noexcept : name_(name) {}

  // Null before the first get().
  PE_ALWAYS_INLINE Function known() const { return function_.load(std::memory_order_relaxed); }
  PE_ALWAYS_INLINE Function get() {
    Function function = known();
    return function ? function : look_up();
  }

 private:
  [[gnu::noinline]] Function look_up() {
    auto function = reinterpret_cast<Function>(find_symbol(name_));
    if (!function) missing_symbol(name_);
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

  const char* name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace progress_engine

// A call of the MPI's own function, past every tool: what the engine itself does is not the program's.
#define PE_PMPI(name)                                                             \
  ([]() -> decltype(&P##name) {                                                   \
    static constinit ::progress_engine::Next<decltype(&P##name)> next("P" #name); \
    return next.get();                                                            \
  }())
