// SPDX-License-Identifier: BSD-3-Clause
#include "platform/platform.hpp"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include <array>
#include <cstddef>
#include <vector>

#include "platform/breakable.hpp"
#include "platform/fork_mutex.hpp"

namespace progress_engine {

void RealAtomics::relax(int rounds) {
  constexpr int spins = 64;  // some microseconds; who holds a lock for longer is not running
  if (rounds < spins)
    relax_cpu();
  else
    sched_yield();
}

std::atomic<bool> light_fence_is_full{true};

namespace {
bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }
}  // namespace

void prepare_fences() {
  if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)) light_fence_is_full = false;
}

void heavy_fence() {
  if (broken("heavy-fence")) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!light_fence_is_full.load(std::memory_order_relaxed)) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

namespace {

struct Stack {
  const char* low = nullptr;
  const char* high = nullptr;
};

Stack own_stack() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0)
    stack = {static_cast<const char*>(low), static_cast<const char*>(low) + size};
  pthread_attr_destroy(&attributes);
  return stack;
}

struct Walk {
  std::uintptr_t address;
  bool reached = false;
};

_Unwind_Reason_Code look_at_frame(_Unwind_Context* frame, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  walk.reached = _Unwind_GetCFA(frame) > walk.address;
  return walk.reached ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

#if !defined(__x86_64__) && !defined(__aarch64__)
[[gnu::noinline]] std::uintptr_t kernel_thread() {
  thread_local const char here = 0;
  return reinterpret_cast<std::uintptr_t>(&here);
}
#endif

// Not inlined: a caller that is resumed by another kernel thread must look its thread-local values up anew.
[[gnu::noinline]] bool is_on_own_stack(const void* address) {
  thread_local const Stack own = own_stack();
  return !own.low || (address >= own.low && address < own.high);
}

bool is_below(const void* address) {
  const char here = 0;
  Walk walk{reinterpret_cast<std::uintptr_t>(address)};
  if (reinterpret_cast<std::uintptr_t>(&here) > walk.address) return false;
  _Unwind_Backtrace(look_at_frame, &walk);
  return walk.reached;
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace progress_engine

#ifdef PE_BREAKABLE
#include <cstdlib>

namespace progress_engine {

bool broken(std::string_view hazard) {
  static const char* const named = std::getenv("PROGRESS_ENGINE_BREAK");
  return named && hazard == named;
}

}  // namespace progress_engine
#endif

namespace progress_engine {
namespace {

struct All {
  std::mutex mutex;  // held by a fork, too: none begins or ends meanwhile
  std::vector<ForkMutex*> members;
};

All& all();

void before_fork() {
  all().mutex.lock();
  for (ForkMutex* one : all().members) one->lock();
}

void after_fork() {
  for (ForkMutex* one : all().members) one->unlock();
  all().mutex.unlock();
}

All& all() {
  static auto* them = [] {  // never destroyed: a thread may end, or fork, at any time
    pthread_atfork(before_fork, after_fork, after_fork);
    return new All;
  }();
  return *them;
}

}  // namespace

ForkMutex::ForkMutex() {
  const std::scoped_lock lock(all().mutex);
  all().members.push_back(this);
}

ForkMutex::~ForkMutex() {
  const std::scoped_lock lock(all().mutex);
  std::erase(all().members, this);
}

}  // namespace progress_engine
