/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine's C API. A program needs none of it: preloaded, the engine works by itself. A program or a tool
 * that wants to look or to switch finds these functions with dlsym(RTLD_DEFAULT, ...), or links libprogress_engine. */
#ifndef PROGRESS_ENGINE_H
#define PROGRESS_ENGINE_H

#define PE_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* What the engine is and has done in this process, as a JSON object, whose keys docs/reference/settings.md lists. While
 * another thread begins or ends MPI, `reason` says so and the rest is empty. The text is the engine's, and valid until
 * the calling thread's next call. Any thread, any time. */
const char* pe_report_json(void);

/* Stop and go on polling, like MPI_Pcontrol(0) and MPI_Pcontrol(1) with the setting pcontrol=1; operations are tracked
 * meanwhile. Any thread; no effect while the engine is inactive. */
void pe_pause(void);
void pe_resume(void);

/* ---- the preset `offload` (Vaidyanathan et al., SC 2015)
 *
 * One thread makes every MPI call; the program's threads hand theirs over and wait for the result, by themselves. So
 * a program may call from all threads (MPI_THREAD_MULTIPLE) over an MPI at MPI_THREAD_SERIALIZED or _FUNNELED. A
 * blocking call becomes its nonblocking form, and nobody waits behind it. A collective one stays as it is, since all
 * ranks must make it alike (or by the setting collectives); where the program asked for MPI_THREAD_MULTIPLE its caller
 * makes it by itself, if the MPI provides that level. The exceptions are those
 * that have none (docs/explanation/offload.md lists them): making communicators (all but MPI_Comm_dup),
 * MPI_Comm_accept, _connect, _spawn, and what makes, frees or synchronises windows and files. While one of them waits
 * for another process, so do all calls of this one: that process must not need another call of ours before it answers.
 *
 * Callbacks run on that thread, but for attributes' (where the MPI provides MPI_THREAD_SERIALIZED), and must not make
 * calls that wait for it: the program then ends with a sentence, as with MPI_Finalize while other threads wait, and
 * with more than 2^20 requests that nobody waited for. What the MPI finds wrong with the start of a plain nonblocking
 * send, receive or collective is returned by the call that completes it. In Fortran over Open MPI, persistent requests
 * are not supported. */

/* ---- user-level threads under the preset `offload` (Fukuoka et al., MPI+myth, HPCC 2019)
 *
 * How one library of user-level threads suspends and resumes them. Adapters for Boost.Fiber and Argobots come with the
 * engine and are found by themselves; another library's is registered by the program, before its first MPI call from
 * such a thread.
 *
 * A gate is opened once and waited at by at most one user-level thread; it lives on that thread's stack. */
enum { PE_ULT_GATE_SIZE = 64 };
typedef struct pe_ult_adapter {
  const char* name;
  unsigned long gate_size;       /* bytes, at most PE_ULT_GATE_SIZE; aligned for any type */
  int (*is_ult)(void);           /* NOLINT(modernize-redundant-void-arg): C. Whether the caller is one; null: whoever is
                                  * not on its kernel thread's own stack */
  void (*gate_init)(void* gate); /* makes a closed gate */
  void (*gate_wait)(void* gate); /* takes the caller out of its ready queue until the gate is open, and ends the gate */
  void (*gate_open)(void* gate); /* any kernel thread, once: puts the waiter back into a ready queue */
  void (*yield)(void); /* NOLINT(modernize-redundant-void-arg). Puts the caller at the end of its ready queue */
} pe_ult_adapter;

/* Uses `adapter`, which must stay valid. 0, or -1 if a function is missing or the gate is too large. */
int pe_register_ult_adapter(const pe_ult_adapter* adapter);

/* The adapter's name; null if there is none, or the engine does not offload. Any thread. */
const char* pe_ult_adapter_name(void);

/* How a user-level thread waits from its next MPI call on: "remove" it from the ready queue until its call is complete
 * (the paper's second method), "reinsert" it and test at each of its turns (the first), or "lead" (the default):
 * remove, but where the communication thread has no CPU of its own, one of those that wait does its work at each of its
 * turns. 0, or -1 for another word. Any thread. */
int pe_set_ult_waiting(const char* method);

#ifdef __cplusplus
}
#endif

#endif
