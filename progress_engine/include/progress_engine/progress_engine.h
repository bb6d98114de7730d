/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine's C API. A program needs none of it: preloaded, the engine works by itself. A program or a tool
 * that wants to look or to switch finds these functions with dlsym(RTLD_DEFAULT, ...), or links libprogress_engine. */
#ifndef PROGRESS_ENGINE_H
#define PROGRESS_ENGINE_H

#define PE_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* What the engine is and has done in this process, as a JSON object:
 *   version, preset, active, reason ("" or why it is inactive), settings {key: value}, driver,
 *   driver_switches (to a further driver, because polls moved nothing while operations completed), wait,
 *   thread_level {asked, provided} ("single".."multiple"; provided is the MPI's, the program sees what it asked for),
 *   slice_ns (as the kernel reads it back; null if it does not say),
 *   threads [{role, tid, cpus_allowed, cpu_last, cpu_s (seconds), voluntary_switches, involuntary_switches}],
 *   polls, productive_polls, wakes, parks, tracked (operations seen so far), pending (operations now).
 * The text is the engine's, and valid until the calling thread's next call. Any thread, any time. */
const char* pe_report_json(void);

/* Stop and go on polling, like MPI_Pcontrol(0) and MPI_Pcontrol(1); operations are tracked meanwhile. Any thread; no
 * effect while the engine is inactive. */
void pe_pause(void);
void pe_resume(void);

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
  unsigned long gate_size;        /* bytes, at most PE_ULT_GATE_SIZE; aligned for any type */
  int (*is_ult)(void);            /* whether the caller is one; null: whoever is not on its kernel thread's own stack */
  void (*gate_init)(void* gate);  /* makes a closed gate */
  void (*gate_wait)(void* gate);  /* takes the caller out of its ready queue until the gate is open, and ends the gate */
  void (*gate_open)(void* gate);  /* any kernel thread, once: puts the waiter back into a ready queue */
  void (*yield)(void);            /* puts the caller at the end of its ready queue */
} pe_ult_adapter;

/* Uses `adapter`, which must stay valid. 0, or -1 if a function is missing or the gate is too large. */
int pe_register_ult_adapter(const pe_ult_adapter* adapter);

/* The adapter's name; null if there is none, or the engine does not offload. Any thread. */
const char* pe_ult_adapter_name(void);

/* How a user-level thread waits from its next MPI call on: "remove" it from the ready queue until its call is complete
 * (the paper's second method, the default), or "reinsert" it and test at each of its turns (the first). 0, or -1 for
 * another word. Any thread. */
int pe_set_ult_waiting(const char* method);

#ifdef __cplusplus
}
#endif

#endif
