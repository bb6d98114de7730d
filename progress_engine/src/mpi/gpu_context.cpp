// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/gpu_context.hpp"

#include <dlfcn.h>

#include <mutex>

namespace progress_engine {

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
