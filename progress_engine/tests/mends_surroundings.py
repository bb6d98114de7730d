# SPDX-License-Identifier: BSD-3-Clause
"""Mends of what stands around the engine: the kernel, a container's filter, the user, a profiler."""

from __future__ import annotations

from .mend import Edit, Mend

RUNTIME, PROCESS = "src/mpi/runtime.cpp", "src/offload/process.cpp"
EVENTS, CPUS = "src/wait/event_source.cpp", "src/platform/placement.cpp"
DOORBELL = "src/wakeup/doorbell.cpp"
MAKE_EVENTS = "    auto events = std::make_unique<EpollEvents>(Sockets::new_tcp);\n"
WATCH_NOTHING = "    watched = {};  // what would be announced nobody waits for\n"
HANDLER = "  } catch (const std::exception& error) {\n    status().reason = error.what();\n" + WATCH_NOTHING
COUNT_DOWN = """    auto number = runtime_->windows.load();
    while (number > 0 && !runtime_->windows.compare_exchange_weak(number, number - 1)) {
    }
"""

SURROUNDINGS = (
    Mend(
        "MPI_Pcontrol has variable arguments",
        (Edit("src/mpi/lifecycle.cpp", "(level), a, b, c, d, e, f, g, p, q, r, s, t, u, v, w", "(level)"),),
        "test_profilers.py",
    ),
    Mend(
        "a filter that refuses the precise wait with EPERM",
        (Edit(EVENTS, "errno == EBADF", "errno != ENOSYS"),),
        "engine_unit_tests:EventSourceDeathTest.*",
    ),
    Mend(
        "the program closes the engine's descriptors",
        (Edit(EVENTS, "  if (count < 0 && (lost_ || errno != EINTR)) sleep_without(bound);\n"),),
        "engine_unit_tests:EventSource.GoesByTime*",
    ),
    Mend(
        "an interrupt, after the program has closed the engine's descriptors",
        (Edit(EVENTS, "  if (lost(interrupt_)) return;\n"),),
        "engine_unit_tests:AfterClosing.AnInterrupt*",
    ),
    Mend(
        "a wait, after the program has closed the engine's descriptors",
        (Edit(EVENTS, "lost(epoll_) ? -1", "lost_ ? -1"),),
        "engine_unit_tests:AfterClosing.AWait*",
    ),
    Mend(
        "what is watched, after the program has closed the engine's descriptors",
        (Edit(EVENTS, "return !lost(epoll_) && epoll_ctl", "return epoll_ctl"),),
        "engine_unit_tests:AfterClosing.NothingIsAdded*",
    ),
    Mend(
        "the numbers of descriptors that the program has closed are not closed again",
        (Edit("src/platform/own_descriptor.hpp", "    if (is_ours()) ::close", "    if (number_ >= 0) ::close"),),
        "engine_unit_tests:AfterClosing.*",
    ),
    Mend(
        "the doorbell reads nothing of what has its number",
        (Edit(DOORBELL, "  if (!socket_.is_ours()) return true;\n"),),
        "engine_unit_tests:Doorbell.LeavesAlone*",
    ),
    Mend(
        "the doorbell sends nothing by what has its number",
        (Edit(DOORBELL, "  if (!socket_.is_ours()) return;\n"),),
        "engine_unit_tests:Doorbell.LeavesAlone*",
    ),
    Mend(
        "the bell's keeper ends though the program has closed its descriptors",
        (Edit("src/wakeup/bell_keeper.cpp", "descriptors.size(), &limit,", "descriptors.size(), nullptr,"),),
        "engine_unit_tests:Job.AKeeperEnds*",
    ),
    Mend(
        "no event source can be had: the program runs without the engine",
        (Edit(RUNTIME, HANDLER, HANDLER.replace("std::exception", "std::bad_alloc")),),
        "test_refused.py -k 'event_source and world-adaptive'",
    ),
    Mend(
        "where no event source can be had, UCX is not asked to announce anything",
        (Edit(RUNTIME, WATCH_NOTHING),),
        "test_refused.py -k 'asked_for_wakeups and eventfd'",
    ),
    Mend(
        "offload: no event source can be had",
        (Edit(PROCESS, "  try {\n" + MAKE_EVENTS, MAKE_EVENTS.replace("    ", "  ") + "  try {\n"),),
        "test_refused.py -k 'event_source and offload'",
    ),
    Mend(
        "no doorbell can be had: the engine goes on without",
        (Edit(RUNTIME, "    if (!policy.doorbell.udp_if_easy) throw;\n", "    throw;\n"),),
        "test_refused.py -k without_a_doorbell",
    ),
    Mend(
        "doorbell=rma: no rank makes the window where one cannot",
        (Edit(RUNTIME, "  if (!agreement.reach(true)) {", "  if (!runtime.doorbell) {"),),
        "test_refused.py -k by_put",
    ),
    Mend(
        "the doorbell is the effective user's",
        (Edit(DOORBELL, "status.st_uid == geteuid()", "status.st_uid == getuid()"),),
        "engine_unit_tests:DoorbellDeathTest.*",
    ),
    Mend(
        "threads that poll without a pause in a real-time class",
        (Edit("src/core/engine.cpp", "  refuse_beside_real_time(polls_without_pause());\n"),),
        "engine_unit_tests:Engine.RefusesToPoll*",
    ),
    Mend(
        "offload: a communication thread that never sleeps, in a real-time class",
        (Edit(PROCESS, "    refuse_beside_real_time(!thread.sleeps);\n"),),
        "test_refused.py -k real_time",
    ),
    Mend(
        "threads that keep their CPU while something is pending, in a real-time class",
        (Edit("src/core/engine.cpp", "policy_.wait != Wait::timer)", "policy_.wait < Wait::timer)"),),
        "engine_unit_tests:Engine.RefusesToPoll*",
    ),
    Mend(
        "a real-time class that no thread inherits",
        (Edit("src/platform/scheduling.cpp", "(attributes.flags & reset_on_fork) == 0", "reset_on_fork == 1"),),
        "engine_unit_tests:RealTimeClass.*",
    ),
    Mend(
        "more CPUs than a mask of fixed size has",
        (Edit(CPUS, "    if (errno != EINVAL) break;\n", "    break;\n"),),
        "engine_unit_tests:AllowedCpusDeathTest.*",
    ),
    Mend(
        "the task library's threads, where there are more",
        (
            Edit(
                "src/tasks/task_engine.cpp",
                "  Cpus wanted = allowed_cpus(0);\n",
                "  cpu_set_t set;\n  Cpus wanted;\n"
                "  if (sched_getaffinity(0, sizeof set, &set) == 0) wanted = allowed_cpus(0);\n",
            ),
        ),
        "engine_unit_tests:TaskEngineDeathTest.*",
    ),
    Mend(
        "spare CPUs among more than such a mask has",
        (Edit(CPUS, "if (free != from.end()) taken", "if (free != from.end() && *free < CPU_SETSIZE) taken"),),
        "engine_unit_tests:SpareCpus.AreKnown*",
    ),
    Mend(
        "a list of CPUs beyond what such a mask has",
        (Edit(CPUS, "(*last, most_cpus)", "(*last, CPU_SETSIZE)"),),
        "engine_unit_tests:CpuList.IsRead*",
    ),
    Mend(
        "relative names of files, where the program goes to another folder",
        (Edit("tools/progress_run.cpp", "named->second = std::filesystem::absolute(named->second);", "break;"),),
        "test_tools.py -k relative_names",
    ),
    Mend(
        "user-level threads: who waits for the MPI lets others run",
        (Edit("src/mpi/call.hpp", " && is_on_own_stack(&mark_)"),),
        "test_moving.py -k 'lets_others and idle'",
    ),
    Mend(
        "a window that the engine did not see made",
        (Edit("src/mpi/call.hpp", COUNT_DOWN, "    const auto number = runtime_->windows.fetch_sub(1);\n"),),
        "test_tracker.py -k did_not_see_made",
    ),
    Mend(
        "offload: a generalised request's status is its own function's",
        (Edit("src/offload/requests.cpp", "  if (!proxy.general) return {proxy.code",
              "  if (!proxy.general || proxy.active) return {proxy.code"),),
        "test_offload.py -k 'statuses and mpich'",
    ),
)  # fmt: skip
