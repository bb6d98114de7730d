# SPDX-License-Identifier: BSD-3-Clause
"""The budgets as a table: one row a path, with the benchmark that measures it. The table that is written follows it."""

from __future__ import annotations

from dataclasses import dataclass

PARTS = {
    "core": "the engine's parts by themselves (no MPI)",
    "calls": "calls that move nothing, with engine or profiler less without them, all at MPI_THREAD_MULTIPLE",
    "instructions": "instructions a call of the same calls, with engine or profiler less without them",
    "ping-pong": "half a round trip of one byte between two ranks of this machine, with the engine less bare-multiple",
}
BASE = "bare-multiple"
# What is launched beside BASE. A busy thread beside two busy ranks measures the scheduler: `thread` is not among them.
PROFILED = "profiled"  # off, with the profiler that ./bench where has
CALL_VARIANTS = ("off", "explicit", "adaptive", PROFILED)
PING_PONG_VARIANTS = ("off", "explicit", "timer", "idle", "adaptive")


@dataclass(frozen=True)
class Budget:
    """A path and the most that it may cost. `limit_ns` None: measured for what it tells, no budget.

    `part`: which programs measure it; `benchmark`: its name there; `variant`: of the parts with MPIs.
    """

    path: str
    part: str
    benchmark: str
    limit_ns: float | None = None
    variant: str = ""


def _calls(path: str, benchmark: str, limit_ns: float) -> list[Budget]:
    """The same path under each variant, in nanoseconds and instructions; of the former `off` may have one a call, and
    the profiler a thousand."""
    calls = 2 if benchmark == "start_and_completion" else 1
    limits = {"off": 1.0 * calls, "explicit": None, "adaptive": limit_ns, PROFILED: 1000.0 * calls}
    timed = [Budget(path, "calls", benchmark, limits[variant], variant) for variant in CALL_VARIANTS]
    return [*timed, *(Budget(path, "instructions", benchmark, None, variant) for variant in CALL_VARIANTS)]


BUDGETS: tuple[Budget, ...] = (
    Budget("submit a task", "core", "submit"),
    Budget("submit a task and run it", "core", "submit_and_run"),
    Budget("poll an empty queue", "core", "poll_empty_queue"),
    Budget("poll a queue whose mask another thread holds", "core", "poll_masked_queue"),
    Budget("bookkeeping of a call, nobody parked", "core", "enter_and_leave", 10),
    Budget("wake a parked thread, the waker's side", "core", "wake_parked", 1500),
    Budget("wake a parked thread, until it runs", "core", "wake_parked_latency"),
    Budget("find work when about to park (membarrier)", "core", "park_and_find_work"),
    Budget("ring a neighbour that is awake", "core", "ring_awake", 3),
    Budget("ring a neighbour that sleeps, the ringer's side", "core", "ring_asleep", 1600),
    Budget("read the clock", "core", "read_clock"),
    Budget("offload: hand a call over", "core", "offload_enqueue", 60),
    Budget("offload: hand a call over and have its result", "core", "offload_round_trip", 500),
    *_calls("call that is not tracked", "untracked_call", 3),
    *_calls("blocking call", "blocking_call", 5),
    *_calls("completion that finds nothing", "completion", 10),
    *_calls("nonblocking start and its completion", "start_and_completion", 20),
    *(
        Budget("1-byte ping-pong", "ping-pong", "latency", None if variant in ("timer", "idle") else 100, variant)
        for variant in PING_PONG_VARIANTS
    ),
)


def of_part(part: str) -> list[Budget]:
    """The rows that one part measures."""
    return [budget for budget in BUDGETS if budget.part == part]
