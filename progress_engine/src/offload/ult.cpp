// SPDX-License-Identifier: BSD-3-Clause
#include "offload/ult.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "platform/loaded_object.hpp"
#include "platform/platform.hpp"

namespace progress_engine::offload {
namespace {

std::atomic<const pe_ult_adapter*> adapter_in_use{nullptr};
std::atomic<UltWaiting> waiting_in_use{UltWaiting::lead};
std::atomic<UnknownUlt> unknown{UnknownUlt::refuse};
std::atomic<std::uint64_t> suspension_count{0};
std::atomic<void (*)()> end_of_all_ranks{nullptr};

// A library of user-level threads, and the adapter that is built where the build finds it.
struct KnownLibrary {
  std::string_view name;  // as its file name begins
  const char* adapter;
};
constexpr std::array<KnownLibrary, 2> known_libraries = {{
    {"libboost_fiber.so", "libprogress_engine_boost_fiber.so"},
    {"libabt.so", "libprogress_engine_argobots.so"},
}};

bool in_this_process(std::string_view name) {
  const auto is_it = [&](const std::string& path) { return name_of_file(path).starts_with(name); };
  return std::ranges::any_of(loaded_libraries(), is_it);
}

std::filesystem::path folder_of_this_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&find_ult_adapter), &info) == 0 || !info.dli_fname) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

// The adapter needs exactly the version that it was built with: another one's stays unused.
void load(const KnownLibrary& library) {
  const auto path = folder_of_this_library() / library.adapter;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return;
  using Get = const pe_ult_adapter* (*)();
  const auto get = reinterpret_cast<Get>(dlsym(handle, "pe_get_ult_adapter"));
  if (const pe_ult_adapter* adapter = get ? get() : nullptr) register_ult_adapter(*adapter);
}

}  // namespace

std::optional<UltWaiting> ult_waiting_of(std::string_view name) {
  const auto* const found = std::ranges::find(ult_waiting_names, name);
  if (found == ult_waiting_names.end()) return {};
  return static_cast<UltWaiting>(found - ult_waiting_names.begin());
}

UltWaiting ult_waiting() { return waiting_in_use.load(std::memory_order_relaxed); }
void set_ult_waiting(UltWaiting waiting) { waiting_in_use = waiting; }
void set_unknown_ult(UnknownUlt what) { unknown = what; }

const pe_ult_adapter* ult_adapter() { return adapter_in_use.load(std::memory_order_acquire); }

bool register_ult_adapter(const pe_ult_adapter& adapter) {
  const bool whole = adapter.gate_init && adapter.gate_wait && adapter.gate_open && adapter.yield;
  if (!whole || adapter.gate_size > PE_ULT_GATE_SIZE) return false;
  adapter_in_use.store(&adapter, std::memory_order_release);
  return true;
}

void find_ult_adapter() {
  for (const auto& library : known_libraries)
    if (!ult_adapter() && in_this_process(library.name)) load(library);
}

bool is_on_another_stack() {
  // not the address of a variable: AddressSanitizer of gcc 14 keeps variables in memory of its own
  return !is_on_own_stack(__builtin_frame_address(0));
}

bool is_user_level_thread() {
  if (const pe_ult_adapter* adapter = ult_adapter(); adapter && adapter->is_ult) return adapter->is_ult() != 0;
  if (!is_on_another_stack()) return false;
  if (ult_adapter()) return true;
  find_ult_adapter();
  if (ult_adapter()) return is_user_level_thread();
  if (unknown.load(std::memory_order_relaxed) == UnknownUlt::block) return false;
  give_up(
      "a user-level thread waits inside MPI and no adapter for its library is registered: its kernel thread would be "
      "blocked, and with it perhaps the thread that it waits for. Register one with pe_register_ult_adapter, or set "
      "ult=block");
}

void count_suspension() { suspension_count.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t suspensions() { return suspension_count.load(std::memory_order_relaxed); }

void set_end_of_all_ranks(void (*end)()) { end_of_all_ranks = end; }

void give_up(const std::string& sentence) {
  std::fprintf(stderr, "progress engine: %s.\n", sentence.c_str());
  if (auto* end = end_of_all_ranks.load()) end();
  std::abort();
}

}  // namespace progress_engine::offload
