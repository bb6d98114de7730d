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
 *   wait_instruction (what wait=mwait uses on this CPU: umwait-c0.2, mwaitx-c1, wfe, or pause-futex; null for others),
 *   thread_level {asked, provided} ("single".."multiple"; provided is the MPI's, the program sees what it asked for),
 *   slice_ns (as the kernel reads it back; null if it does not say),
 *   threads [{role ("nice": one of points=idle where this process may not lift threads out of SCHED_IDLE), tid,
 *     cpus_allowed, cpu_last, cpu_s (seconds), voluntary_switches, involuntary_switches}],
 *   verdict {word ("helped", "neutral", "hurt", "unclear", "not measured"), armed_phases, disarmed_phases, armed_s,
 *     disarmed_s (median seconds an operation while it was on and off)},
 *   wake_sources {calls, traffic, neighbours, timer} (how often each ended a sleep of the engine's threads),
 *   armed_s, disarmed_s (by the program's or the settings' wish, or because polling did not pay),
 *   pending_while_computing_s (no thread was in a call of MPI then; as far as the engine shows it, under `offload`
 *     its sleeps, under `idle` what its threads saw when they had a CPU; null where only the program's calls poll),
 *   transport {component (of Open MPI's point-to-point layer, "" in others), libraries (that carry messages and are
 *     loaded), devices (that are open), tcp, udp (whether there are such sockets)}, advice (a sentence),
 *   polls, productive_polls, wakes, parks, fences (parks that interrupted the program's other CPUs for an instant),
 *   tracked (operations seen so far), pending (operations now), progress_users (windows now, and threads asleep in
 *   managed waits: they need progress, too),
 *   events (null where no thread waits for traffic) {sources (what has announced some, of sockets, ucx, libfabric,
 *     verbs), wakes and armed {source: how often}, busy (rounds of arming that found something to poll for), lack (why
 *     what was asked for does not announce)},
 *   doorbell (null if there is none) {neighbours, rings, bounded (calls and polls that left somebody out), wakes (rings
 *     that ended a sleep), answers (polls before which a neighbour had rung)},
 *   managed_sleeps (how often a blocking call slept until the engine had completed it),
 *   world_size (processes of MPI_COMM_WORLD, or of the set "mpi://WORLD"; null before MPI begins),
 *   mpi (what the program's MPI calls itself, "" without one), abi (the MPI library that the engine was built for),
 *   offload (null but under the preset `offload`) {commands (calls handed over), passes (over what is pending), naps,
 *   rings (wake-ups by a caller), queue_full, stand_ins, turns, collectives ("blocking", "nonblocking" or "by
 *   caller"), traffic (naps that a socket ended), pending_while_computing_s, lifetime_s,
 *   requests_at_once (most that there ever were), suspensions (of user-level threads), ult_adapter (its name, or
 * null)}. While another thread begins or ends MPI, `reason` says so and the rest is empty. The text is the
 * engine's, and valid until the calling thread's next call. Any thread, any time. */
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
