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
 *   threads [{role, tid, cpus_allowed, cpu_last, cpu_s (seconds), voluntary_switches, involuntary_switches}],
 *   verdict {word ("helped", "neutral", "hurt", "not measured"), armed_phases, disarmed_phases, armed_s, disarmed_s
 *     (median seconds an operation while it was on and off)},
 *   polls, productive_polls, wakes, parks, tracked (operations seen so far), pending (operations now),
 *   standing (windows now, and threads asleep in managed waits: they call for progress, too),
 *   managed_sleeps (how often a blocking call slept until the engine had completed it).
 * The text is the engine's, and valid until the calling thread's next call. Any thread, any time. */
const char* pe_report_json(void);

/* Stop and go on polling, like MPI_Pcontrol(0) and MPI_Pcontrol(1); operations are tracked meanwhile. Any thread; no
 * effect while the engine is inactive. */
void pe_pause(void);
void pe_resume(void);

#ifdef __cplusplus
}
#endif

#endif
