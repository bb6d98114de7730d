// SPDX-License-Identifier: BSD-3-Clause
// GPU-aware MPIs: their progress may copy from and to a GPU's memory, in a context that the calling thread has. The
// program's threads have one; a thread of the engine's has none, and UCX has crashed so (ai-dynamo/nixl#2102).
#pragma once

#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "policy/settings.hpp"

namespace progress_engine {

// A way to program GPUs: the library that programs load for it, and how an MPI says that it knows it.
struct GpuKind;

// "the MPI takes CUDA memory and libcuda.so is loaded: ...", and what helps that has not been tried.
std::string why_no_polling(const GpuKind& kind);

// Whether the calling thread, one of the engine's, may poll beside this kind: with gpu=context it has the program's
// context, or there is none yet. Any thread; changes the thread's current context.
bool may_poll_beside(const GpuKind& kind, BesideGpus how);

class GpuSupport {
 public:
  // Asks the MPI of this process; after MPI_Init, since before it some MPIs do not know yet.
  GpuSupport();

  // Whether the MPI takes the memory of any: else no library matters.
  bool any() const { return !kinds_.empty(); }

  // The kind whose library is in the process, of those that the MPI knows; null if there is none. As it was when it was
  // last looked at, if that is not `longest_ago`: the look takes a lock of the loader's. One thread at a time.
  const GpuKind* in_use(Nanoseconds longest_ago = 0);

 private:
  std::vector<const GpuKind*> kinds_;
  unsigned long long loads_ = 0;  // libraries that this process has loaded, when it was last looked at
  const GpuKind* found_ = nullptr;
  Nanoseconds looked_ = 0;
};

// For a thread of the engine's the GPU's context that the program uses. What allocates by CUDA's runtime does so in the
// primary context of a device, which any thread of the process may make its own (CUDA Driver API, "Primary Context
// Management"); contexts that a program makes itself (cuCtxCreate) are its own affair and are not found.

enum class GpuContext {
  none,    // no device has one in use: nothing of the program's lies there yet
  taken,   // the calling thread has it from now on
  unclear  // several devices have one, it cannot be taken, or there is no CUDA
};

// For the calling thread, if CUDA's driver library is in the process; it is not loaded for that. A thread that has a
// context keeps it. Once taken the context stays the thread's, and costs nothing to ask for again. Any thread.
GpuContext take_cuda_context();

}  // namespace progress_engine
