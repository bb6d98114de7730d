// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fabrics/fabrics.hpp"
#include "platform/fork_mutex.hpp"
#include "platform/loaded_object.hpp"

namespace progress_engine {
namespace {

using Address = LoadedObject::Address;

// References that the loader fills in with a function's address; of other processors none is known.
#if defined(__x86_64__)
constexpr std::array<std::uint32_t, 2> references = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#elif defined(__aarch64__)
constexpr std::array<std::uint32_t, 2> references = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#else
constexpr std::array<std::uint32_t, 0> references = {};
#endif

// What to replace: only ever more. No lock is held in a call of the loader, which may wait for a thread that comes
// here.
constinit std::array<std::span<const Replaced>, 5> wanted{};
constinit std::atomic<std::size_t> number_wanted{0};
constinit std::atomic<const void*> code_of_mpi{nullptr};

const Replaced* find(std::string_view name) {
  for (std::size_t i = 0; i < number_wanted.load(std::memory_order_acquire); ++i)
    for (const auto& call : wanted[i])
      if (name == call.name) return &call;
  return nullptr;
}

// What is called in place of `theirs`: that itself, where it is another library's than the one that was found first.
void* in_place_of(const Replaced& call, void* theirs) {
  void* known = nullptr;
  const bool the_one = call.theirs->compare_exchange_strong(known, theirs) || known == theirs;
  return the_one ? call.ours : theirs;
}

// ---- what belongs to the MPI

struct Part {
  dl_phdr_info info{};  // valid while it is loaded
  std::string path;
};

struct Loaded {
  std::vector<Part> parts;
  unsigned long long removed = 0;
};

Loaded parts_of_mpi() {
  Loaded loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        auto& into = *static_cast<Loaded*>(result);
        into.removed = info->dlpi_subs;
        const LoadedObject object(*info);
        if (object.is_library() && (is_component(info->dlpi_name) || object.holds(code_of_mpi.load())))
          into.parts.push_back({.info = *info, .path = info->dlpi_name});
        return 0;
      },
      &loaded);
  return loaded;
}

// Those of them that were not there the last time; all, where something was unloaded, whose place they may have.
std::vector<Part> new_parts(std::size_t wants) {
  struct Seen {
    ForkMutex mutex;
    std::set<Address> places;
    unsigned long long removed = 0;
    std::size_t wants = 0;
  };
  static auto* seen = new Seen;
  auto loaded = parts_of_mpi();
  const std::scoped_lock lock(seen->mutex);
  if (seen->removed != loaded.removed || seen->wants != wants) seen->places.clear();
  seen->removed = loaded.removed;
  seen->wants = wants;
  std::erase_if(loaded.parts, [](const Part& part) { return !seen->places.insert(part.info.dlpi_addr).second; });
  return std::move(loaded.parts);
}

// Where the reference leads now. One that is not bound yet leads into its own library's table of jumps.
void* meant_by(const LoadedObject& object, void* library, const char* name, const Address& word) {
  auto* value = reinterpret_cast<void*>(__atomic_load_n(&word, __ATOMIC_ACQUIRE));
  if (!value || !object.holds(value)) return value;
  void* everybodys = dlsym(RTLD_DEFAULT, name);
  return everybodys ? everybodys : dlsym(library, name);
}

void replace_in(const Part& part) {
  void* library = dlopen(part.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);  // waits until it is loaded in full
  if (!library) return;
  // Two threads may come to one part: the first would make a page read-only that the second is about to write.
  static auto* writing = new ForkMutex;
  const auto use = [&](const LoadedObject& object) {
    object.for_each_reference(true, [&](const auto&, const char* name, auto type, Address& word) {
      if (std::ranges::find(references, type) == references.end()) return;
      const Replaced* call = find(name);
      void* theirs = call ? meant_by(object, library, name, word) : nullptr;
      if (!theirs || theirs == call->ours) return;
      void* now = in_place_of(*call, theirs);
      if (now == theirs) return;
      const std::scoped_lock lock(*writing);
      object.store(word, reinterpret_cast<Address>(now));
    });
  };
  // Another one may have taken its place meanwhile.
  if (static_cast<const link_map*>(library)->l_addr == part.info.dlpi_addr) use(LoadedObject(part.info));
  dlclose(library);
}

void replace_in_new_parts() {
  for (const auto& part : new_parts(number_wanted.load())) replace_in(part);
}

unsigned long long number_loaded() {
  unsigned long long number = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;
      },
      &number);
  return number;
}

// ---- what the MPI asks dlsym for
// Intel MPI asks for fi_fabric, MVAPICH2 for libibverbs' functions; and Open MPI for what a component is, between
// loading and calling it.

void* answered(void* theirs, const char* name) {
  static std::atomic<unsigned long long> loaded_before{0};
  if (const auto loaded = number_loaded(); loaded_before.exchange(loaded) != loaded) replace_in_new_parts();
  const Replaced* call = theirs && name ? find(name) : nullptr;
  return call && theirs != call->ours ? in_place_of(*call, theirs) : theirs;
}

[[gnu::noinline]] void* answer(void* library, const char* name) { return answered(dlsym(library, name), name); }
[[gnu::noinline]] void* answer_version(void* library, const char* name, const char* version) {
  return answered(dlvsym(library, name, version), name);
}

// RTLD_DEFAULT and RTLD_NEXT mean another library to each who asks: there dlsym must see the MPI's own call, which it
// does where this one ends in a jump (this file is compiled so that it does).
bool is_callers(void* library) { return library == RTLD_DEFAULT || library == RTLD_NEXT; }

[[gnu::no_sanitize("address", "thread", "undefined")]] void* dlsym_of_mpi(void* library, const char* name) {
  return is_callers(library) ? dlsym(library, name) : answer(library, name);
}
[[gnu::no_sanitize("address", "thread", "undefined")]] void* dlvsym_of_mpi(void* library, const char* name,
                                                                           const char* version) {
  return is_callers(library) ? dlvsym(library, name, version) : answer_version(library, name, version);
}

constinit Theirs<decltype(&dlsym_of_mpi)> their_dlsym;
constinit Theirs<decltype(&dlvsym_of_mpi)> their_dlvsym;

std::span<const Replaced> lookups() {
  static const std::array calls = {replaced("dlsym", &dlsym_of_mpi, their_dlsym),
                                   replaced("dlvsym", &dlvsym_of_mpi, their_dlvsym)};
  return calls;
}

void want(std::span<const Replaced> calls) {
  static auto* mutex = new ForkMutex;
  const std::scoped_lock lock(*mutex);
  const auto number = number_wanted.load();
  for (std::size_t i = 0; i < number; ++i)
    if (wanted[i].data() == calls.data()) return;
  wanted.at(number) = calls;
  number_wanted.store(number + 1, std::memory_order_release);
}

}  // namespace

void replace_calls(const void* code, std::span<const Replaced> calls) {
  if (!code) return;
  code_of_mpi = code;
  want(lookups());
  want(calls);
  replace_in_new_parts();
}

void* beside(const void* function, const char* name) {
  Dl_info info{};
  void* library = function && dladdr(function, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  if (!library) return nullptr;
  void* found = dlsym(library, name);
  dlclose(library);  // the function keeps it loaded
  return found;
}

}  // namespace progress_engine
