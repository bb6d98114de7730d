# SPDX-License-Identifier: BSD-3-Clause
"""Mends beside the program and its MPI: calls, threads, levels, offload, reports."""

from __future__ import annotations

from .mend import Edit, Mend

CALL, RUNTIME, LIFECYCLE = "src/mpi/call.hpp", "src/mpi/runtime.cpp", "src/mpi/lifecycle.cpp"
REQUESTS, PROCESS = "src/offload/requests.cpp", "src/offload/process.cpp"

PROGRAM = (
    Mend(
        "two threads that leave MPI at once",
        (Edit("src/core/activity.hpp", "if (several_.load(std::memory_order_relaxed)) Atomics::full_fence();"),),
        "engine_model_tests:LeavingInterleavings.*",
    ),
    Mend(
        "the MPI begins at the program's level where it does not at the engine's",
        (
            Edit(
                LIFECYCLE,
                "    return init_as_asked(below, argc, argv, asked, provided, plain);\n  }\n  status().level_raised",
                "    return MPI_ERR_OTHER;\n  }\n  status().level_raised",
            ),
        ),
        "test_lifecycle.py -k begin",
    ),
    Mend(
        "a GPU's library that is there at the start",
        (Edit(RUNTIME, "  progress->gpus = ask_for_gpus(policy);\n"),),
        "test_gpu.py -k takes_a_gpus_memory",
    ),
    Mend(
        "a GPU's library that is loaded later",
        (Edit(CALL, "if (gpus && refuse_gpu()) return;"),),
        "test_gpu.py -k loaded",
    ),
    Mend(
        "offload and GPUs: a library that is there at the start",
        (
            Edit(
                PROCESS,
                "if (!look_for_gpus()) the_process->communication_thread.watch(look_for_gpus);",
                "the_process->communication_thread.watch(+[] { return false; });",
            ),
        ),
        "test_gpu.py -k 'offload_stands_down and False'",
    ),
    Mend(
        "offload and GPUs: a library that is loaded later",
        (Edit(PROCESS, "communication_thread.watch(look_for_gpus);", "communication_thread.watch(nullptr);"),),
        "test_gpu.py -k 'offload_stands_down and True'",
    ),
    Mend(
        "offload and GPUs: small sends are not copied",
        (Edit(PROCESS, "  if (found == GpuInUse::usable || may) the_process->inline_bytes = 0;\n"),),
        "test_gpu.py -k offload_stands_down",
    ),
    Mend(
        "gpu=context: the thread that polls has the program's context, or does not poll",
        (Edit("src/mpi/gpu.cpp", "take_cuda_context() != GpuContext::unclear", "true"),),
        "test_gpu.py -k 'in_the_context or several_gpus'",
    ),
    Mend(
        "gpu=context: a thread that has a context keeps it",
        (
            Edit(
                "src/mpi/gpu_context.cpp",
                "if (cuda.current(&context) == success && context) return GpuContext::taken;",
            ),
        ),
        "test_gpu.py -k keeps_it",
    ),
    Mend(
        "gpu=context is not recommended to who has it",
        (Edit("src/mpi/gpu.cpp", 'chosen->second == "context"', "false"),),
        "test_gpu.py -k several_gpus",
    ),
    Mend(
        "what a vendor's MPI calls itself",
        (Edit("src/offload/library.cpp", "library == *mpi || "),),
        "test_offload.py -k vendors_mpi",
    ),
    Mend(
        "a folder of hosts that cannot be read to its end",
        (Edit("src/wakeup/bell_key.cpp", "at.increment(error)", "++at"),),
        "engine_unit_tests:Key.AFolder*",
    ),
    Mend(
        "a place of the key at which no file can be",
        (
            Edit(
                "src/wakeup/bell_key.cpp",
                "fs::symlink_status(path, seen_below)",
                "((void)seen_below, fs::symlink_status(path))",
            ),
        ),
        "engine_unit_tests:Key.WhatIsWrong*",
    ),
    Mend(
        "MPI_Finalize at exit",
        (
            Edit(
                RUNTIME,
                "if (limit != join_timeout) return;",
                "if (limit != join_timeout) {runtime->ended = true; return;}",
            ),
        ),
        "test_lifecycle.py -k end_at_exit",
    ),
    Mend(
        "vendors' names of the MPI",
        (Edit("src/mpi/abi.cpp", "(stem.starts_with(plain) && names_compiler(stem.substr(plain.size())))", "false"),),
        "engine_unit_tests:Abi.*",
    ),
    Mend(
        "idle threads that cannot be lifted",
        (Edit("src/core/engine.cpp", "  avoid_priority_inversion();\n  for", "  for"),),
        "engine_unit_tests:Engine.WithoutThePrivilege*",
    ),
    Mend(
        "user-level threads: several calls on one kernel thread",
        (Edit("src/mpi/call.cpp", "outer_ < ThreadSlot::outside && another_is_inside(*slot_, &mark_)", "false"),),
        "test_moving.py -k beside",
    ),
    Mend(
        "user-level threads: behind a call it is known that another one is still inside",
        (Edit("src/mpi/call.cpp", "    if (slot_->mark == &mark_) slot_->mark = nullptr;\n"),),
        "test_moving.py -k between",
    ),
    Mend(
        "user-level threads: a call that ends on another kernel thread",
        (Edit("src/mpi/call.hpp", "return kernel_thread() != thread_;", "return thread_ == 0;"),),
        "test_moving.py -k often",
    ),
    Mend(
        "MPI_Pcontrol is the profilers' unless asked for",
        (Edit(LIFECYCLE, "!runtime || !runtime->engine->policy().pcontrol", "!runtime"),),
        "test_tracker.py -k pcontrol",
    ),
    Mend(
        "functions that the MPI lacks",
        (Edit("src/mpi/absent.cpp", "  if (!absent.empty()) dl_iterate_phdr(hide_in, &absent);\n"),),
        "test_lifecycle.py -k lacks",
    ),
    Mend(
        "functions that the MPI lacks: before MPI_Init as well",
        (Edit("src/mpi/absent.cpp", "  hide_absent_functions();\n}\n\n// One number", "}\n\n// One number"),),
        "test_lifecycle.py -k 'lacks and False'",
    ),
    Mend(
        "functions that the MPI lacks: a call fails and does not abort",
        (Edit("src/platform/loader.cpp", "look ? look(name) : nullptr", "look ? nullptr : look(name)"),),
        "test_lifecycle.py -k 'lacks and True'",
    ),
    Mend(
        "statuses under offload: MPI_ERROR of several",
        (Edit(REQUESTS, "    give_with(code, status, proxy.status);", "    give(status, proxy.status);"),),
        "test_offload.py -k statuses",
    ),
    Mend(
        "statuses under offload: empty ones",
        (
            Edit(
                REQUESTS,
                "  if (proxy && *flag) return show(*proxy, at(status, 0));\n"
                "  if (!proxy) give_empty(here, at(status, 0));",
                "  if (proxy && *flag) return show(*proxy, at(status, 0));",
            ),
        ),
        "test_offload.py -k statuses",
    ),
    Mend(
        "sessions under offload: without a word",
        (Edit(LIFECYCLE, "    status().quiet = true;\n"),),
        "test_lifecycle.py -k sessions_under_offload",
    ),
    Mend(
        "programs with the address sanitizer",
        (
            Edit(
                "tools/target_program.cpp",
                'if (name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")) result.before = file;',
            ),
        ),
        "test_tools.py -k sanitizer",
    ),
    Mend(
        "ranks that end together",
        (Edit("src/mpi/finalize_barrier.hpp", "  if (world) pass_finalize_barrier();\n"),),
        "test_lifecycle.py -k only_together",
    ),
    Mend(
        "endpoints that stay open until all ranks have ended",
        (Edit("src/mpi/finalize_barrier.hpp", "  const EndpointsStayOpen open;\n"),),
        "test_lifecycle.py -k 'debian-mpich and only_together'",
        "debian-mpich",
    ),
    Mend(
        "file operations that are freed, on MPICH 4.0",
        (
            Edit(
                "src/mpi/completion.cpp",
                "PE_PMPI(MPI_Test)(request_, &done, MPI_STATUS_IGNORE)",
                "PE_PMPI(MPI_Request_get_status)(*request_, &done, MPI_STATUS_IGNORE)",
            ),
        ),
        "test_hazards.py -k 'debian-mpich and file-freed'",
        "debian-mpich",
    ),
    Mend(
        "MPI_Parrived of a complete receive under offload, on MPICH 4.0",
        (
            Edit(
                "src/offload/calls.hpp",
                "    if (!is_complete(request)) return call(real_of(request));\n    *flag = 1;\n"
                "    return MPI_SUCCESS;\n",
                "    (void)flag;\n    return call(real_of(request));\n",
            ),
        ),
        "test_hazards.py -k 'debian-mpich and partitioned-offload'",
        "debian-mpich",
    ),
    Mend(
        "a partitioned receive before its start",
        (
            Edit(
                "src/mpi/call.cpp",
                "  if (counts() && code == MPI_SUCCESS && runtime_->partitioned.add(*request, partitions))\n"
                "    runtime_->engine->begin_exclusive();\n",
                "  if (counts() && code == MPI_SUCCESS) runtime_->partitioned.add(*request, partitions);\n",
            ),
        ),
        "test_hazards.py -k 'openmpi and unstarted and not offload and not debian'",
        "openmpi",
    ),
    Mend(
        "for how long something was pending while the program computed",
        (
            Edit(
                "src/core/loops.cpp",
                "  const Nanoseconds period = microseconds(engine.policy().timer_us);\n  while (!engine.stopping()) {\n"
                "    engine.sleep(period);\n    worker.woke(WakeSource::timer);\n    engine.observe(worker);\n",
                "  const Nanoseconds period = microseconds(engine.policy().timer_us);\n  while (!engine.stopping()) {\n"
                "    engine.sleep(period);\n    worker.woke(WakeSource::timer);\n",
            ),
        ),
        "test_report.py -k computes_beside",
    ),
    Mend(
        "programs without MPI",
        (Edit("src/mpi/no_mpi.cpp", "if (is_target()) on_exit(at_end, nullptr);"),),
        "test_tools.py -k without_mpi",
    ),
    Mend(
        "programs with the address sanitizer that others start",
        (Edit("tools/progress_run.cpp", "  if (preloading.before.empty()) let_sanitizer_come_second();\n"),),
        "test_tools.py -k sanitizer_runs",
    ),
    Mend(
        "the thread level stays as asked where no thread of the engine's polls",
        (Edit(LIFECYCLE, "code = may && policy.points.threads()", "code = may && policy.points.any()"),),
        "test_on_mpis.py -k 'transport and explicit'",
    ),
    Mend(
        "an MPI whose name says nothing",
        (
            Edit(
                LIFECYCLE,
                'return (find_object("ompi_mpi_comm_world") != nullptr) == objects_needed ? "" : library;',
                '(void)objects_needed;\n  return "";',
            ),
        ),
        "test_lifecycle.py -k name_says_nothing",
    ),
    Mend(
        "a longjmp out of the MPI",
        (Edit("src/mpi/call.cpp", '|| !gone || broken("longjmp")', "|| gone || !gone"),),
        "test_hazards.py -k 'handled and longjmp'",
    ),
    Mend(
        "a file operation that was freed",
        (Edit("src/mpi/completion.cpp", 'if (broken("file-freed") || ', "if (before_ == before_ || "),),
        "test_hazards.py -k 'handled and file-freed'",
    ),
    Mend(
        "the program's crash handler in an engine thread",
        (Edit("src/platform/scheduling.hpp", "sigdelset(&blocked, own);", "(void)own;"),),
        "engine_unit_tests:Engine.ThreadsBlockSignalsAndInheritTheFloatingPointMode",
    ),
    Mend(
        "a generalised request that is freed before it is complete, under offload",
        (Edit("src/offload/starts.cpp", "    proxy->detached = stays;\n", "    stays = false;\n"),),
        "test_offload.py -k freed_before",
    ),
    Mend(
        "a partitioned receive that is never started, under offload",
        (Edit("src/offload/process.cpp", "table.advance()) tested_in_vain();", "table.advance()) {\n  }"),),
        "test_hazards.py -k 'handled and left-offload'",
    ),
    Mend(
        "a partitioned receive that was not started while nothing is pending, under offload",
        (Edit("src/offload/table.cpp", "progress_function_ && waiting_for_the_program_ == 0", "progress_function_"),),
        "test_hazards.py -k 'openmpi and unstarted-alone and not debian'",
        "openmpi",
    ),
    Mend(
        "traffic by a number that was given away",
        (
            Edit(
                "src/wait/event_source.cpp",
                "carried_by(descriptor) >= carried_before_[descriptor] + traffic;",
                "carried_by(descriptor) - carried_before_[descriptor] >= traffic;",
            ),
        ),
        "engine_unit_tests:TcpTraffic.*",
    ),
    Mend(
        "who sleeps in a wait does not compute",
        (Edit("src/core/engine.cpp", "!activity_.anyone_in_call()", "!activity_.anyone_inside()"),),
        "engine_unit_tests:Engine.AThreadThatSleeps*",
    ),
    Mend(
        "advice where windows are open",
        (Edit("src/mpi/report.cpp", "report.windows = now.runtime && ", "report.windows = false && now.runtime && "),),
        "test_report.py -k windows",
    ),
    Mend(
        "advice where an adapter moves the data",
        (Edit("src/telemetry/report.cpp", "  return !armed && ", "  return armed && "),),
        "engine_unit_tests:Report.*",
    ),
    Mend(
        "names that are no UTF-8 in the report",
        (Edit("src/telemetry/report.cpp", "dump(-1, ' ', false, Json::error_handler_t::replace)", "dump()"),),
        "engine_unit_tests:Report.*",
    ),
    Mend(
        "a thread of the engine's that fails",
        (Edit("src/core/engine.cpp", "  forbid();\n  Worker* holder", "  Worker* holder"),),
        "engine_unit_tests:Engine.AThreadThatFails*",
    ),
    Mend(
        "offload: an error goes to its communicator's handler",
        (Edit("src/offload/functions.json", "MPI_(Comm_set_errhandler|Errhandler_set|", "MPI_("),),
        "test_offload.py -k 'told_to and offload'",
    ),
    Mend(
        "offload: an error ends the program if its communicator's handler does",
        (Edit("src/offload/table.cpp", " || (error_handler_set_ && !testsome_is_as_good)", ""),),
        "test_offload.py -k 'ends_the_program and offload'",
    ),
    Mend(
        "offload: persistent operations with nobody end",
        (Edit("src/offload/table.cpp", "  test(operation.listed);\n  tell();\n"),),
        "test_offload.py -k with_nobody",
    ),
    Mend(
        "offload: spawned processes have the program's signal mask",
        (Edit("src/offload/functions.json", ', "MPI_Comm_spawn(_multiple)?"'),),
        "test_offload.py -k signal_mask",
    ),
    Mend(
        "offload: callbacks of MPI_Finalize may wait",
        (Edit("src/offload/process.cpp", "    host().in_use.store(nullptr);\n    return end();", "    return end();"),),
        "test_offload.py -k finalize_may",
    ),
    Mend(
        "offload: without a thread the program runs without it",
        (Edit(LIFECYCLE, "  if (!problem.empty()) {", "  if (false) {"),),
        "test_lifecycle.py -k offload-threads",
    ),
    Mend(
        "a wrong rank that the program's handler lets pass",
        (Edit("src/mpi/call.cpp", "  if (rank < size) PE_PMPI", "  PE_PMPI"),),
        "test_on_mpis.py -k lets_pass",
    ),
)
