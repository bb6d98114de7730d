// SPDX-License-Identifier: BSD-3-Clause
// One list of what the report holds. Of each FIELD(type, name, initial, meaning) come the member of the struct, the key
// in JSON, its writer and its reader (report.cpp), and a row of docs/reference/settings.md (docs/generate/settings.py,
// which reads this file).
#pragma once

namespace progress_engine {
template <typename Member>
Member initially(Member value = {}) {  // empty or 0 where a list names nothing
  return value;
}
}  // namespace progress_engine

#define PE_MEMBER(type, name, initial, meaning) type name = initially<type>(initial);
#define PE_VISIT(type, name, initial, meaning) visit(#name, self.name);
// In a struct: the members of a list, and `each`, which calls `visit(key, member)` for them in its order.
#define PE_FIELDS(LIST)                         \
  LIST(PE_MEMBER)                               \
  template <typename Self, typename Visit>      \
  static void each(Self& self, Visit&& visit) { \
    LIST(PE_VISIT)                              \
  }

#define PE_REPORT(FIELD)                                                                                               \
  FIELD(std::string, version, PE_VERSION, "the engine's")                                                              \
  FIELD(int, rank, -1, "in MPI_COMM_WORLD, or in the set mpi://WORLD; -1 before MPI begins")                           \
  FIELD(std::optional<int>, world_size, , "how many processes those have; null before MPI begins")                     \
  FIELD(std::string, preset, , "its name")                                                                             \
  FIELD(bool, active, , "whether the engine worked, to the end")                                                       \
  FIELD(std::string, reason, , "why it is inactive; empty if it is not")                                               \
  FIELD(std::string, advice, , "a sentence of this rank's run, see explanation/engine.md")                             \
  FIELD(std::vector<SettingReport>, settings, , "each setting and its value")                                          \
  FIELD(std::string, driver, , "what a poll is")                                                                       \
  FIELD(std::uint64_t, driver_switches, ,                                                                              \
        "how often a further driver was taken, because polls moved nothing while operations completed")                \
  FIELD(std::string, wait, , "the setting")                                                                            \
  FIELD(std::optional<std::string>, wait_instruction, ,                                                                \
        "what wait=mwait uses on this CPU: umwait-c0.2, mwaitx-c1, wfe or pause-futex; null for other waits")          \
  FIELD(ThreadLevel, thread_level, , "of MPI, single to multiple")                                                     \
  FIELD(std::optional<OffloadReport>, offload, , "of the communication thread; null but under offload")                \
  FIELD(std::optional<Nanoseconds>, slice_ns, ,                                                                        \
        "the engine threads' scheduling slice, as the kernel reads it back; null if it does not say")                  \
  FIELD(std::vector<ThreadReport>, threads, , "each thread of the engine's")                                           \
  FIELD(std::uint64_t, polls, , "calls of the MPI's progress")                                                         \
  FIELD(std::uint64_t, productive_polls, ,                                                                             \
        "of these, how many took as long as polls that move data do, or were said to move some by a fabric's library") \
  FIELD(std::uint64_t, wakes, , "ends of sleeps of the engine's threads")                                              \
  FIELD(std::uint64_t, parks, , "sleeps until there is something to do")                                               \
  FIELD(std::uint64_t, fences, , "parks that interrupted the program's other CPUs for an instant")                     \
  FIELD(WakeCounts, wake_sources, , "what ended how many sleeps: calls, traffic, neighbours, timer")                   \
  FIELD(std::optional<double>, armed_s, , "seconds in which the engine could poll")                                    \
  FIELD(std::optional<double>, disarmed_s, ,                                                                           \
        "seconds in which it did not: by the program's or the settings' wish, or because polling did not pay")         \
  FIELD(std::optional<double>, pending_while_computing_s, ,                                                            \
        "seconds in which an operation was pending and no thread of the program in MPI, as far as the engine's "       \
        "turns show it; null if only the program's calls poll")                                                        \
  FIELD(Verdict, verdict, , "what trial_ms, MPI_Pcontrol or pe_pause let it measure")                                  \
  FIELD(std::optional<EventsReport>, events, , "what announced traffic; null where no thread waits for any")           \
  FIELD(std::optional<DoorbellReport>, doorbell, , "null if there is none")                                            \
  FIELD(std::uint64_t, tracked, , "operations that the program has started, as far as seen")                           \
  FIELD(std::uint64_t, large, ,                                                                                        \
        "of these, those that need progress: longer than eager_bytes, or of unknown length; of shorter ones 16 MiB "   \
        "count as one")                                                                                                \
  FIELD(std::int64_t, pending, , "operations that are pending now")                                                    \
  FIELD(std::int64_t, progress_users, , "windows now, and threads asleep in managed waits: they need progress, too")   \
  FIELD(Transport, transport, , "by what the MPI carries messages")                                                    \
  FIELD(std::string, mpi, , "what the program's MPI calls itself; empty without one")                                  \
  FIELD(std::string, abi, , "the MPI library that the engine was built for")                                           \
  FIELD(std::uint64_t, managed_sleeps, , "how often a blocking call slept until the engine had completed it")          \
  FIELD(bool, windows, , "whether there were windows")                                                                 \
  FIELD(std::uint64_t, window_operations, , "into others' windows; not seen under offload")                            \
  FIELD(double, window_wait_s, , "seconds in calls that wait for those: locks, flushes, unlocks, fences, completions") \
  FIELD(std::uint64_t, window_answers, ,                                                                               \
        "productive polls while nothing of the program's own was pending: others reached into its windows")            \
  FIELD(bool, samples_rarely, , "whether the engine's threads see what is pending only where a CPU is idle")           \
  FIELD(bool, waits_for_announcements, , "whether they sleep until something announces a message")

#define PE_THREAD_LEVEL(FIELD)                                   \
  FIELD(std::string, asked, , "by the program, which sees that") \
  FIELD(std::string, provided, , "by the MPI")

#define PE_THREAD_REPORT(FIELD)                                                                                  \
  FIELD(std::string, role, ,                                                                                     \
        "its polling point; nice: one of points=idle where this process may not lift threads out of SCHED_IDLE") \
  PE_THREAD_USAGE(FIELD)

#define PE_THREAD_USAGE(FIELD)                                                    \
  FIELD(int, tid, , "the kernel's number")                                        \
  FIELD(std::vector<int>, cpus_allowed, , "CPUs on which it may run")             \
  FIELD(int, cpu_last, -1, "the one on which it ran last")                        \
  FIELD(double, cpu_s, , "seconds of CPU that it took")                           \
  FIELD(std::uint64_t, voluntary_switches, , "context switches because it slept") \
  FIELD(std::uint64_t, involuntary_switches, , "and because others were to run")

#define PE_VERDICT(FIELD)                                                                                      \
  FIELD(std::string, word, "not measured", "helped, neutral, hurt, unclear or not measured")                   \
  FIELD(std::uint64_t, armed_phases, , "phases in which it was on: as many as pairs")                          \
  FIELD(std::uint64_t, disarmed_phases, , "and off")                                                           \
  FIELD(double, armed_s, , "median seconds an operation of the pairs in which it was on; 0 if there are none") \
  FIELD(double, disarmed_s, , "and off")

#define PE_EVENTS_REPORT(FIELD)                                                                            \
  FIELD(std::vector<std::string>, sources, , "what has announced some, of sockets, ucx, libfabric, verbs") \
  FIELD(NamedCounts, wakes, , "by source: sleeps that it ended")                                           \
  FIELD(NamedCounts, armed, , "by source: how often it was armed")                                         \
  FIELD(std::uint64_t, busy, , "rounds of arming that found something to poll for")                        \
  FIELD(std::string, lack, , "why what was asked for does not announce")

#define PE_DOORBELL_REPORT(FIELD)                                                                        \
  FIELD(std::uint64_t, neighbours, , "processes of the program on this node that are known")             \
  FIELD(std::uint64_t, unreached, , "those on this node without a doorbell that this process can reach") \
  FIELD(std::uint64_t, rings, , "of theirs, by this process")                                            \
  FIELD(std::uint64_t, bounded, , "calls and polls that left somebody out")                              \
  FIELD(std::uint64_t, wakes, , "rings that ended a sleep")                                              \
  FIELD(std::uint64_t, answers, , "polls before which a neighbour had rung")

#define PE_OFFLOAD_REPORT(FIELD)                                                                                   \
  FIELD(std::uint64_t, commands, , "calls handed over")                                                            \
  FIELD(std::uint64_t, passes, , "over what is pending")                                                           \
  FIELD(std::uint64_t, naps, , "sleeps of the communication thread")                                               \
  FIELD(std::uint64_t, rings, , "naps that a caller ended")                                                        \
  FIELD(std::uint64_t, queue_full, , "calls that found the queue full")                                            \
  FIELD(std::uint64_t, stand_ins, , "times that a waiting thread did the communication thread's work")             \
  FIELD(std::uint64_t, turns, , "calls that their thread made by itself in a turn lent to it")                     \
  FIELD(std::string, collectives, , "how blocking collective calls were made: blocking, nonblocking or by caller") \
  FIELD(std::uint64_t, traffic, , "naps that a descriptor ended")                                                  \
  FIELD(double, pending_while_computing_s, , "as above, as far as its naps show it")                               \
  FIELD(double, lifetime_s, , "seconds since MPI began")                                                           \
  FIELD(bool, windows, , "whether there were windows")                                                             \
  FIELD(std::uint64_t, requests_at_once, , "most requests that there ever were at a time")                         \
  FIELD(std::uint64_t, suspensions, , "of user-level threads")                                                     \
  FIELD(std::optional<std::string>, ult_adapter, , "what suspends them; null if nothing does")

#define PE_TRANSPORT(FIELD)                                                                                          \
  FIELD(std::string, component, , "of Open MPI's point-to-point layer: ob1, ucx, cm; empty in other MPIs")           \
  FIELD(std::vector<std::string>, libraries, , "that carry messages and are loaded, sorted")                         \
  FIELD(std::vector<std::string>, devices, , "of networks, and for copies between processes, that are open, sorted") \
  FIELD(bool, tcp, , "whether there are TCP connections")                                                            \
  FIELD(bool, udp, , "whether there are UDP sockets")
