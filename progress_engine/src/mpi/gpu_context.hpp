// SPDX-License-Identifier: BSD-3-Clause
// For a thread of the engine's the GPU's context that the program uses. What allocates by CUDA's runtime does so in the
// primary context of a device, which any thread of the process may make its own (CUDA Driver API, "Primary Context
// Management"); contexts that a program makes itself (cuCtxCreate) are its own affair and are not found.
#pragma once

namespace progress_engine {

enum class GpuContext {
  none,    // no device has one in use: nothing of the program's lies there yet
  taken,   // the calling thread has it from now on
  unclear  // several devices have one, it cannot be taken, or there is no CUDA
};

// For the calling thread, if CUDA's driver library is in the process; it is not loaded for that. A thread that has a
// context keeps it. Once taken the context stays the thread's, and costs nothing to ask for again. Any thread.
GpuContext take_cuda_context();

}  // namespace progress_engine
