// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/gpu.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

#include "mpi/mpi_header.hpp"
#include "mpi/status.hpp"
#include "platform/breakable.hpp"
#include "platform/fork_mutex.hpp"
#include "platform/loaded_object.hpp"

namespace progress_engine {

struct GpuKind {
  std::string_view name;
  std::string_view library;              // as its file name begins
  std::array<const char*, 2> questions;  // functions without arguments: 1 = the MPI knows it
};

namespace {

constexpr std::array<GpuKind, 3> all_kinds = {{
    {"CUDA", "libcuda.so", {"MPIX_Query_cuda_support", nullptr}},
    {"ROCm", "libamdhip64.so", {"MPIX_Query_rocm_support", "MPIX_Query_hip_support"}},
    {"Level Zero", "libze_loader.so", {"MPIX_Query_ze_support", nullptr}},
}};

// By these an MPI that has no such function is told to take GPUs' memory: Cray MPICH, Intel MPI, MVAPICH2.
constexpr std::array<const char*, 4> switches = {"MPICH_GPU_SUPPORT_ENABLED", "I_MPI_OFFLOAD", "MV2_USE_CUDA",
                                                 "MV2_USE_ROCM"};

bool is_switched_on(const char* name) {
  const char* value = std::getenv(name);
  return value && *value && std::string_view(value) != "0";
}

bool is_known(const GpuKind& kind) {
  return std::ranges::any_of(kind.questions, [](const char* question) {
    const auto ask = reinterpret_cast<int (*)()>(question ? find_symbol(question) : nullptr);
    return ask && ask() == 1;
  });
}

struct Search {
  const std::vector<const GpuKind*>& kinds;
  unsigned long long& loads;
  const GpuKind*& found;
  bool news = false;
};

int look_at(dl_phdr_info* library, std::size_t /*size*/, void* argument) {
  auto& look = *static_cast<Search*>(argument);
  if (!look.news && look.loads == library->dlpi_adds) return 1;
  look.news = true;
  look.loads = library->dlpi_adds;
  const auto name = name_of_file(library->dlpi_name ? library->dlpi_name : "");
  for (const GpuKind* kind : look.kinds)
    if (name.starts_with(kind->library)) look.found = kind;
  return 0;
}

}  // namespace

GpuSupport::GpuSupport() {
  const bool all = std::ranges::any_of(switches, is_switched_on);
  for (const auto& kind : all_kinds)
    if (all || is_known(kind)) kinds_.push_back(&kind);
}

const GpuKind* GpuSupport::in_use(Nanoseconds longest_ago) {
  if (kinds_.empty() || broken("gpu")) return nullptr;
  const Nanoseconds time = now();
  if (time - looked_ < longest_ago) return found_;
  looked_ = time;
  // A child of fork() would find the loader's lock held for ever.
  static auto* during_a_look = new ForkMutex;
  const std::scoped_lock lock(*during_a_look);
  Search look{kinds_, loads_, found_};
  dl_iterate_phdr(look_at, &look);
  return found_;
}

// Other kinds have no context of a thread's own, or nobody has tried.
bool may_poll_beside(const GpuKind& kind, BesideGpus how) {
  return how == BesideGpus::context && kind.name == "CUDA" && take_cuda_context() != GpuContext::unclear;
}

std::string why_no_polling(const GpuKind& kind) {
  const auto chosen = status().settings.find("gpu");
  const bool tried = chosen != status().settings.end() && chosen->second == "context";
  return "the MPI takes " + std::string(kind.name) + " memory and " + std::string(kind.library) +
         " is loaded: a thread of the engine's has no context of it, and the MPI may fail in its polls; " +
         (tried ? "gpu=context found none to give it (it serves CUDA's runtime and one GPU a process), "
                : "gpu=context gives it the program's (CUDA's runtime, one GPU a process), ") +
         "the variant explicit polls in the program's own calls";
}

namespace {

using Context = void*;  // CUcontext
constexpr int success = 0;
constexpr int not_initialised = 3;

// Of CUDA's driver library, which has kept them since CUDA 7.
struct Cuda {
  int (*count)(int* devices) = nullptr;
  int (*device)(int* device, int ordinal) = nullptr;
  int (*state)(int device, unsigned* flags, int* active) = nullptr;
  int (*retain)(Context* context, int device) = nullptr;
  int (*current)(Context* context) = nullptr;
  int (*make_current)(Context context) = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

bool find(Cuda& cuda) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);  // never closed: its functions are kept
  return library && find(library, "cuDeviceGetCount", cuda.count) && find(library, "cuDeviceGet", cuda.device) &&
         find(library, "cuDevicePrimaryCtxGetState", cuda.state) &&
         find(library, "cuDevicePrimaryCtxRetain", cuda.retain) && find(library, "cuCtxGetCurrent", cuda.current) &&
         find(library, "cuCtxSetCurrent", cuda.make_current);
}

// The only device whose primary context is in use; none and unclear as in GpuContext.
GpuContext only_device(const Cuda& cuda, int& found) {
  int devices = 0;
  int active_ones = 0;
  const int status = cuda.count(&devices);
  if (status == not_initialised) return GpuContext::none;
  if (status != success) return GpuContext::unclear;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    int device = 0;
    int active = 0;
    unsigned flags = 0;
    if (cuda.device(&device, ordinal) != success || cuda.state(device, &flags, &active) != success)
      return GpuContext::unclear;
    if (!active) continue;
    found = device;
    ++active_ones;
  }
  if (active_ones == 0) return GpuContext::none;
  return active_ones == 1 ? GpuContext::taken : GpuContext::unclear;
}

// Retained once for all threads, and to the end: threads of the engine's come and go.
GpuContext find_context(Context& context) {
  static std::mutex mutex;
  static Context kept = nullptr;
  static Cuda cuda;
  const std::scoped_lock lock(mutex);
  if (!cuda.make_current && !find(cuda)) return GpuContext::unclear;
  // A thread of the program's, which polls in some settings, keeps its own.
  if (cuda.current(&context) == success && context) return GpuContext::taken;
  if (!kept) {
    int device = 0;
    if (const GpuContext found = only_device(cuda, device); found != GpuContext::taken) return found;
    if (cuda.retain(&kept, device) != success) return GpuContext::unclear;
  }
  if (cuda.make_current(kept) != success) return GpuContext::unclear;
  context = kept;
  return GpuContext::taken;
}

}  // namespace

GpuContext take_cuda_context() {
  thread_local Context mine = nullptr;
  return mine ? GpuContext::taken : find_context(mine);
}

}  // namespace progress_engine
