// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "platform/breakable.hpp"
#include "platform/loaded_object.hpp"
#include "platform/platform.hpp"

namespace progress_engine {
namespace {

constinit std::atomic<SymbolLookup> other_symbol{nullptr};
constinit std::atomic<SymbolLookup> other_object{nullptr};
constinit std::atomic<SymbolLookup> stand_in_for{nullptr};

bool is_ours(void* symbol) {
  Dl_info ours{};
  Dl_info theirs{};
  return dladdr(reinterpret_cast<void*>(&find_symbol), &ours) != 0 && dladdr(symbol, &theirs) != 0 &&
         ours.dli_fbase == theirs.dli_fbase;
}

// For an MPI outside the global scope, as a plug-in that was loaded with RTLD_LOCAL brings it. Of those that were
// loaded after this library, as of the global scope: one before it, a tool or the profiler, calls this one.
void* find_in_loaded_libraries(const char* name) {
  if (broken("local-scope")) return nullptr;
  Dl_info ours{};
  if (dladdr(reinterpret_cast<void*>(&find_symbol), &ours) == 0) return nullptr;
  const auto libraries = loaded_libraries();
  const auto here = std::ranges::find(libraries, std::string_view(ours.dli_fname));
  for (auto one = here == libraries.end() ? libraries.begin() : here; one != libraries.end(); ++one) {
    void* library = dlopen(one->c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!library) continue;
    void* symbol = dlsym(library, name);
    dlclose(library);
    if (symbol && !is_ours(symbol)) return symbol;
  }
  return nullptr;
}

}  // namespace

void look_up_through(SymbolLookup symbol, SymbolLookup object) {
  other_symbol = symbol;
  other_object = object;
}

void* find_symbol(const char* name) {
  if (const SymbolLookup look = other_symbol.load(std::memory_order_acquire)) return look(name);
  if (void* symbol = dlsym(RTLD_NEXT, name)) return symbol;
  return find_in_loaded_libraries(name);
}

void* find_object(const char* name) {
  if (const SymbolLookup look = other_object.load(std::memory_order_acquire)) return look(name);
  if (void* object = dlsym(RTLD_DEFAULT, name)) return object;
  return find_in_loaded_libraries(name);
}

namespace {

struct LoaderSearch {
  bool in_loader = false;  // the last frame
  bool found = false;
};

// What the kernel starts has no caller; dlopen and dlclose have.
_Unwind_Reason_Code look_for_loader(_Unwind_Context* frame, void* argument) {
  auto& search = *static_cast<LoaderSearch*>(argument);
  Dl_info info{};
  const auto* code = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  const bool known = code && dladdr(code, &info) != 0;
  const bool here = known && reinterpret_cast<ElfW(Addr)>(info.dli_fbase) == _r_debug.r_ldbase;
  search.found = search.found || (search.in_loader && known && !here);
  search.in_loader = here;
  return search.found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

bool is_inside_loader() {
  LoaderSearch search;
  _Unwind_Backtrace(look_for_loader, &search);
  return search.found;
}

void wait_for_loader() { [[maybe_unused]] const void* const found = dlsym(RTLD_DEFAULT, "dlsym"); }

void answer_for_missing(SymbolLookup stand_in) { stand_in_for.store(stand_in, std::memory_order_release); }

void* missing_symbol(const char* name) {
  const SymbolLookup look = stand_in_for.load(std::memory_order_acquire);
  if (void* stand_in = look ? look(name) : nullptr) return stand_in;
  std::fprintf(stderr, "progress engine: the program calls %s, which no library in this process has.\n", name);
  std::abort();
}

}  // namespace progress_engine
