/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine's core for a communication library of one's own: libprogress_core, which knows no MPI.
 *
 * A library chops what should progress in the background into ltasks: small jobs that are polled until they say that
 * they are done. The core keeps them in task queues over the machine's topology, and polls them from idle threads, a
 * timer thread, dedicated threads, and wherever the library calls pe_core_poll() or pe_core_wait().
 * (A. Denis, "pioman: a pthread-based Multithreaded Communication Engine", PDP 2015.)
 *
 * Functions that can fail return 0 or an errno number, and pe_core_error() then has a sentence. All but create and
 * destroy may be called by any thread, at the same time. workloads/tasks/example/messages.h is a small library
 * that uses it, exchange.c its user. */
#ifndef PROGRESS_ENGINE_CORE_H
#define PROGRESS_ENGINE_CORE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PE_AGAIN 0 /* what an ltask returns: poll me again */
#define PE_DONE 1

typedef struct pe_core pe_core;

typedef struct pe_core_attributes {
  size_t size;          /* of this structure: pe_core_attributes_init sets it */
  const char* topology; /* null: this machine's; else hwloc's synthetic description, e.g. "package:2 core:4 pu:1" */
  const char* queue;    /* "submission": lock-free submission beside a list whose try-lock is a mask;
                           "lock": one spin lock; "lock-free": one circular array (both for comparison) */
  int locality;         /* 1: a queue for every place of the machine; 0: a single queue */
  size_t capacity;      /* ltasks in one "lock-free" queue; the other queues have no bound */
  const char* idle;     /* one SCHED_IDLE thread for each "package", "l3" or "core", for the "machine", or "none". One
                           that loses its core within a poll is lifted to the normal class by the timer thread, which
                           needs CAP_SYS_NICE or RLIMIT_NICE: without, its ltasks wait until that core has a pause */
  long idle_us;         /* microseconds between two rounds of an idle thread; 0: it yields */
  long timer_us;        /* microseconds between two rounds of the timer thread; 0: no such thread */
  int dedicated;        /* number of threads that poll without pause */
  long spin_us;         /* microseconds for which pe_core_wait polls before it sleeps */
} pe_core_attributes;

/* Defaults: this machine, "submission", locality, capacity 1024, an idle thread a package with 10 us, timer 2000 us, no
 * dedicated thread, spin 20 us. */
void pe_core_attributes_init(pe_core_attributes* attributes);

/* Makes a core and starts its threads, which block all signals. `attributes` may be null: the defaults. EINVAL: an
 * attribute is wrong; EAGAIN: a thread could not be started. `*core` is set on success only. */
int pe_core_create(const pe_core_attributes* attributes, pe_core** core);
/* Ends and joins the threads. Ltasks that are not done are forgotten, not polled any more. No other call may be in
 * progress. Null is allowed. */
void pe_core_destroy(pe_core* core);
/* The calling thread's last error here, "" if none. Valid until its next failing call. */
const char* pe_core_error(void);

/* An ltask is the caller's memory, from pe_ltask_init until it is done. */
typedef struct pe_ltask {
  void* reserved[6];
} pe_ltask;

/* Polls once: PE_DONE or PE_AGAIN. Runs on any thread, never twice at once. May submit ltasks; may not wait. */
typedef int (*pe_ltask_poll)(void* argument);

void pe_ltask_init(pe_ltask* task, pe_ltask_poll poll, void* argument);
/* 1 once it is done; what its poll wrote is then visible to the caller, and the memory may be used again. */
int pe_ltask_done(const pe_ltask* task);

/* Puts an initialised or done ltask into the queue of a place. ENOSPC: the "lock-free" queue is full (poll, and try
 * again); EINVAL: no such place. The ltask must not be in a queue already. */
int pe_core_submit(pe_core* core, pe_ltask* task, int place);
/* One round: polls the ltasks of the caller's place, of its parent every `siblings` times, and so on to the root.
 * Returns how many. Within an ltask of this core: does nothing. */
int pe_core_poll(pe_core* core);
/* Polls for spin_us, then sleeps until the ltask is done; a core without threads polls on. EDEADLK: called within an
 * ltask. */
int pe_core_wait(pe_core* core, pe_ltask* task);

/* Places of the machine: 0 is the root (the whole machine), each other one has a parent. */
#define PE_ROOT 0
int pe_core_places(const pe_core* core);
/* -1 for the root and for what is no place. */
int pe_core_parent(const pe_core* core, int place);
/* hwloc's name for it, e.g. "Package"; "" for what is no place. Valid as long as the core. */
const char* pe_core_place_kind(const pe_core* core, int place);
/* The leaf that a CPU (the system's number) belongs to; the root for any other CPU. */
int pe_core_place_of_cpu(const pe_core* core, int cpu);
/* The leaf where the calling thread runs: looked up every 250 ms. */
int pe_core_here(const pe_core* core);

#ifdef __cplusplus
}
#endif

#endif
