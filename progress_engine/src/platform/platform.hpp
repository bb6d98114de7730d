// SPDX-License-Identifier: BSD-3-Clause
// What the compiler, the CPU, the kernel and the dynamic loader offer, in the form in which the engine uses it. Nothing
// above this folder contains a system call for time, sleeping or fences.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>
#include <string>

// ---- the compiler

// PE_ALWAYS_INLINE: for what runs in each interposed call, whose budget is some ten nanoseconds. Under a sanitizer the
// budget is lost anyhow, and inlining into some hundred wrappers would more than double the time of the whole build.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PE_ALWAYS_INLINE inline
#else
#define PE_ALWAYS_INLINE [[gnu::always_inline]] inline
#endif

// A function of a library below the engine, which calls of it find first.
#define PE_INTERPOSED extern "C" __attribute__((visibility("default")))

namespace progress_engine {

// ---- time

using Nanoseconds = std::int64_t;

constexpr Nanoseconds microseconds(std::int64_t count) { return count * 1000; }
constexpr Nanoseconds seconds(std::int64_t count) { return count * 1'000'000'000; }

inline timespec to_timespec(Nanoseconds time) { return {time / seconds(1), time % seconds(1)}; }

// Monotonic time; the vDSO makes it a matter of some 20 ns, no system call.
inline Nanoseconds now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// A system call.
inline Nanoseconds cpu_time_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// Of a thread of this process, 0 if there is none; a system call. The clock's id is the kernel's, as of
// pthread_getcpuclockid(3).
inline Nanoseconds cpu_time_of_thread(int tid) {
  timespec time{};
  clock_gettime(static_cast<clockid_t>(~static_cast<unsigned>(tid) << 3 | 6), &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// Of all threads; a system call.
inline Nanoseconds cpu_time_of_this_process() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// ---- the CPU

// The CPU's hint for loops that wait for another thread.
inline void relax_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // longer than yield, which most cores ignore
#elif defined(__powerpc64__)
  asm volatile("or 27,27,27" ::: "memory");
#endif
}

// ---- the kernel thread
// Which kernel thread runs this code. A user-level thread may go on on another one after any call that suspends it, and
// compilers keep the address of a thread-local variable across calls.

#if defined(__x86_64__)
// Differs between the kernel threads that there are. Read anew at each use.
PE_ALWAYS_INLINE std::uintptr_t kernel_thread() {
  std::uintptr_t pointer = 0;
  __asm__ volatile("mov %%fs:0, %0" : "=r"(pointer));  // NOLINT(hicpp-no-assembler): see above
  return pointer;
}
#elif defined(__aarch64__)
PE_ALWAYS_INLINE std::uintptr_t kernel_thread() {
  std::uintptr_t pointer = 0;
  __asm__ volatile("mrs %0, tpidr_el0" : "=r"(pointer));  // NOLINT(hicpp-no-assembler): see above
  return pointer;
}
#else
std::uintptr_t kernel_thread();
#endif

// Whether `address` lies on the stack that pthread_create (or the kernel) gave this kernel thread.
bool is_on_own_stack(const void* address);

// Whether one of the functions that wait for this one to return has `address` in its frame, or a frame above it on the
// same stack. Takes some microseconds.
bool is_below(const void* address);

// Of this machine, as gethostname says it.
std::string host_name();

// ---- fences
// An asymmetric fence: the program's side, taken in every MPI call, costs nothing; the engine's side, taken only before
// it sleeps for long, interrupts the other cores on which the program runs (membarrier). Where the kernel has no
// membarrier both sides fence in full.

extern std::atomic<bool> light_fence_is_full __attribute__((visibility("hidden")));

// Registers the process; call once before the first heavy_fence.
void prepare_fences();
void heavy_fence();

inline void light_fence() {
  if (light_fence_is_full.load(std::memory_order_relaxed)) [[unlikely]]
    std::atomic_thread_fence(std::memory_order_seq_cst);
  else
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// ---- futexes, never inlined: their callers are what a call of the program pays
// Sleeping on a word (futex(2)): of this process, or `_shared` of memory that several processes map.

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

// Sleeps while `word` is `expected`, at most for `timeout`; may end early for no reason.
[[gnu::noinline]] inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout,
                                         int operation = FUTEX_WAIT_PRIVATE) {
  const timespec limit = to_timespec(timeout);
  syscall(SYS_futex, &word, operation, expected, &limit, nullptr, 0);
}
// Tries again every 20 us until that is true or it is `end`; false then. For what waits by the monotonic clock of
// functions that ThreadSanitizer's runtime knows: of pthread_clockjoin_np and pthread_mutex_clocklock it knows none.
template <class Attempt>
bool tried_until(Nanoseconds end, Attempt attempt) {
  const timespec pause = to_timespec(microseconds(20));
  while (!attempt()) {
    if (now() >= end) return false;
    nanosleep(&pause, nullptr);
  }
  return true;
}

// Wakes all that sleep on `word`. The word may be gone by now: only its address is used.
[[gnu::noinline]] inline void futex_wake(std::atomic<std::uint32_t>& word, int operation = FUTEX_WAKE_PRIVATE) {
  syscall(SYS_futex, &word, operation, INT_MAX, nullptr, nullptr, 0);
}
inline void futex_wait_shared(std::atomic<std::uint32_t>& word, std::uint32_t expected, Nanoseconds timeout) {
  futex_wait(word, expected, timeout, FUTEX_WAIT);
}
inline void futex_wake_shared(std::atomic<std::uint32_t>& word) { futex_wake(word, FUTEX_WAKE); }

// ---- what the queues, the parking and the doorbells are built of
// They take it as a template parameter, so that a test can run the very same code over a model of memory and try every
// interleaving (tests/model).

struct RealAtomics {
  template <typename T>
  using Atomic = std::atomic<T>;
  using Word = std::atomic<std::uint32_t>;

  // One round of a loop that waits for another thread; `rounds` counts them. The other may have lost its core.
  static void relax(int rounds);
  static void light_fence() { progress_engine::light_fence(); }
  static void heavy_fence() { progress_engine::heavy_fence(); }
  static void full_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void wait(Word& word, std::uint32_t expected, Nanoseconds bound) { futex_wait(word, expected, bound); }
  // So short that it may have missed a store that was made before: the bound is the price.
  static void wait_briefly(Word& word, std::uint32_t expected, Nanoseconds bound) { futex_wait(word, expected, bound); }
  static void wake(Word& word) { futex_wake(word); }
  // Tells threads apart; never 0.
  static std::uintptr_t this_thread() {
    static thread_local char self;
    return reinterpret_cast<std::uintptr_t>(&self);
  }
};

// What processes that share memory synchronise with; within one process RealAtomics does. Both sides fence in full: an
// asymmetric fence would let each sleeper interrupt every CPU on which the program runs (15 us here, and all others
// lose some), to save each ringer some 10 ns.
struct SharedAtomics : RealAtomics {
  static void light_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void heavy_fence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
  static void wait(Word& word, std::uint32_t expected, Nanoseconds bound) { futex_wait_shared(word, expected, bound); }
  static void wait_briefly(Word& word, std::uint32_t expected, Nanoseconds bound) { wait(word, expected, bound); }
  static void wake(Word& word) { futex_wake_shared(word); }
};

// ---- the loader
// The MPI below us, found at run time. The engine is not linked with an MPI: preloaded into whatever process, it must
// neither load one nor change which one the program uses.

// The next definition of `name` after ours: another tool's or the MPI's own, also of an MPI that was loaded with
// RTLD_LOCAL. Null if there is none.
void* find_symbol(const char* name);

// The object `name` that everybody in this process uses: the program's copy of it, where the linker made one, shadows
// the MPI's own. Null if there is none.
void* find_object(const char* name);

// Whether dlopen or dlclose waits for this function to return: it was called by a constructor or destructor of a
// library. Until they return, other threads' calls of the loader wait. (The program's start and exit keep nobody
// waiting.)
bool is_inside_loader();
// Returns when no thread is inside dlopen or dlclose.
void wait_for_loader();

// From now on these two ask others: what comes after a library that was loaded later is not what comes after the one
// that was preloaded.
using SymbolLookup = void* (*)(const char* name);
void look_up_through(SymbolLookup symbol, SymbolLookup object);

// What stands in for a function that is called and that no library in this process has. Where `answer_for_missing` was
// told of nobody who knows one, or that one gives null, says on stderr which function it is, and aborts.
void* missing_symbol(const char* name);
void answer_for_missing(SymbolLookup stand_in);

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
    if (!function) return reinterpret_cast<Function>(missing_symbol(name_));  // a library that has it may come yet
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

  const char* name_;
  std::atomic<Function> function_{nullptr};
};

}  // namespace progress_engine
