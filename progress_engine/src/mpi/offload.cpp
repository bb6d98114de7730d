// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/offload.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "mpi/absent.hpp"
#include "mpi/gpu.hpp"
#include "mpi/launcher.hpp"
#include "mpi/lifecycle.hpp"
#include "mpi/mpi_handles.hpp"

namespace progress_engine {

std::atomic<const OffloadLibrary*> offload_in_use{nullptr};

namespace {

constexpr const char* offload_file = "libprogress_engine_offload.so";
std::atomic<const OffloadLibrary*> loaded_library{nullptr};

std::unique_ptr<EventSource> make_events(const Policy& policy) {
  std::unique_ptr<EventSource> events;
  prepare_event_source(policy, events);
  return events;
}

std::filesystem::path folder_of_this_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&load_offload), &info) == 0 || !info.dli_fname) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

}  // namespace

// Without a lock, which must not be held while the loader works: opened twice it is the same library, and told the
// same.
const OffloadLibrary* load_offload(std::string& problem) {
  if (const OffloadLibrary* library = loaded_library.load()) return library;
  void* handle = dlopen((folder_of_this_library() / offload_file).c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto get = handle ? reinterpret_cast<GetOffloadLibrary>(dlsym(handle, "pe_offload_library")) : nullptr;
  if (!get) {
    const char* reason = dlerror();
    problem =
        std::string("safety=offload needs ") + offload_file + ", which cannot be loaded: " + (reason ? reason : "");
    return nullptr;
  }
  static const OffloadHost host{status(),        write_report, find_symbol,   find_object, stand_in_for_absent,
                                cpus_of_process, make_events,  offload_in_use};
  loaded_library = get(host);
  return loaded_library;
}

namespace {

BesideGpus beside_gpus = BesideGpus::refuse;
GpuSupport* gpus = nullptr;  // never destroyed: the communication thread looks until the process ends
std::atomic<const GpuKind*> gpu_found{nullptr};

const char* consequence(bool stands_down) {
  if (status().strict) return "the program is not run without it (strict=1)";
  return stands_down ? "the program's threads make their calls themselves from here on"
                     : "the program must hand over nothing that lies in a GPU's memory";
}

GpuInUse gpu_in_use(bool stands_down) {
  const GpuKind* kind = gpus->in_use();
  if (!kind) return GpuInUse::none;
  if (may_poll_beside(*kind, beside_gpus)) return GpuInUse::usable;
  if (stands_down) gpu_found = kind;
  if (status().strict || speaks_for_all())
    std::fprintf(stderr, "progress engine: %s; %s.\n", why_no_polling(*kind).c_str(), consequence(stands_down));
  if (!status().strict) return GpuInUse::unusable;
  PE_PMPI(MPI_Abort)(MpiHandles{}.comm_world, refused);
  std::_Exit(refused);
}

}  // namespace

void watch_gpus(const Policy& policy) {
  if (policy.beside_gpus == BesideGpus::poll) return;
  beside_gpus = policy.beside_gpus;
  gpus = new GpuSupport;
  if (gpus->any()) loaded_offload()->watch_gpus(gpu_in_use);
}

const GpuKind* gpu_under_offload() { return gpu_found.load(); }

const OffloadLibrary* loaded_offload() { return loaded_library.load(std::memory_order_acquire); }

}  // namespace progress_engine
