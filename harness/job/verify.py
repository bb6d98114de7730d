# SPDX-License-Identifier: BSD-3-Clause
"""Was the launch what it says it was? Each check answers with a sentence if not, and then its points have failed.

A number measured with the wrong library, on one node instead of two, or without the engine that was asked for is not
a slow number: it is no result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.base.variants import WITHOUT_ENGINE, with_settings
from harness.job.plan import Launch, Plan
from harness.job.records import RecordFile

PRELOAD = "LD_PRELOAD"  # progress-run puts its library before what is there
Check = Callable[[Plan, Launch, RecordFile], str | None]


def _header(record: RecordFile) -> dict[str, Any]:
    return record.header or {}


def world_size(plan: Plan, _launch: Launch, record: RecordFile) -> str | None:
    """A wrong process manager gives N worlds of one rank and exit status 0."""
    size = _header(record).get("world_size")
    if not plan.platform.tasks:  # a launcher of the user's own decides
        return None
    return None if size == plan.platform.tasks else f"MPI_COMM_WORLD had {size} ranks instead of {plan.platform.tasks}"


def nodes(plan: Plan, _launch: Launch, record: RecordFile) -> str | None:
    """The ranks must be on as many hosts as planned."""
    hosts = sorted({rank["host"] for rank in _header(record).get("ranks", [])})
    if len(hosts) == plan.platform.nodes or not plan.platform.nodes:
        return None
    return f"the ranks ran on {len(hosts)} hosts ({', '.join(hosts)}) instead of {plan.platform.nodes}"


def library(plan: Plan, _launch: Launch, record: RecordFile) -> str | None:
    """The library that answered is the one that was asked for."""
    answered = _header(record).get("mpi_library") or "no library"
    return None if plan.platform.library in answered else f"'{answered}' answered instead of {plan.platform.library}"


def binding(plan: Plan, _launch: Launch, record: RecordFile) -> str | None:
    """Every rank can have a CPU to itself."""
    if plan.platform.cpus_too_few:
        return None
    allowed = {
        rank["rank"]: {("" if plan.platform.cpus_shared else rank["host"], cpu) for cpu in rank["cpus_allowed"]}
        for rank in _header(record).get("ranks", [])
    }
    owner: dict[tuple[str, int], int] = {}
    for rank, places in allowed.items():
        if not _place(rank, allowed, owner, set()):
            cpus = sorted(cpu for _host, cpu in places)
            return f"wrong binding: no CPU of its own is left for rank {rank}, which may only use {cpus}"
    return None


def _place(
    rank: int, allowed: dict[int, set[tuple[str, int]]], owner: dict[tuple[str, int], int], tried: set[tuple[str, int]]
) -> bool:
    """Give `rank` a CPU, moving others if need be: an augmenting path of the bipartite matching ranks x CPUs."""
    for cpu in allowed[rank] - tried:
        tried.add(cpu)
        if cpu not in owner or _place(owner[cpu], allowed, owner, tried):
            owner[cpu] = rank
            return True
    return False


def interfaces(plan: Plan, _launch: Launch, record: RecordFile) -> str | None:
    """The messages crossed the network that the record names."""
    if not plan.platform.check_interfaces or record.end is None:
        return None
    least = max((point["point"].get("size_bytes", 0) for point in record.points if point["status"] == "ok"), default=0)
    crossed = sum(
        counters["received"]
        for rank in record.end["ranks"]
        for name, counters in rank["interface_bytes"].items()
        if plan.platform.nodes == 1 or name != "lo"
    )
    return None if crossed >= least else f"only {crossed} bytes crossed the interfaces, of messages of {least} bytes"


def variables(plan: Plan, launch: Launch, record: RecordFile) -> str | None:
    """Every variable that was set for the launch is what its processes saw."""
    asked = {} if plan.platform.simulated else plan.variables_of(launch)
    for rank in _header(record).get("ranks", []) if asked else ():
        seen = rank.get("environment")
        if seen is None:
            return f"the program does not tell which variables rank {rank['rank']} had: build it anew"
        for name, value in asked.items():
            if not (seen.get(name) == value or (name == PRELOAD and value in (seen.get(name) or "").split(":", 1))):
                here = "without it" if seen.get(name) is None else f"with {seen[name]}"
                return f"rank {rank['rank']} ran {here} instead of with {name}={value}"
    return None


def engine(_plan: Plan, launch: Launch, record: RecordFile) -> str | None:
    """The variant that ran, with its settings, is the one that was asked for."""
    ranks = (record.end or {}).get("ranks", [])
    asked = with_settings(launch.variant, launch.engine)
    wrong = (engine_of(rank["rank"], asked, rank["engine"]) for rank in ranks)
    return next(filter(None, wrong), None)


def engine_of(rank: int, variant: str, report: dict[str, Any] | None) -> str | None:
    """The same of one rank, by its engine's report."""
    preset, *settings = variant.split(":")
    if preset in WITHOUT_ENGINE:
        return None if report is None else f"rank {rank} had the engine loaded though the variant is {preset}"
    if report is None:
        return f"rank {rank} ran without the engine"
    if report["preset"] != preset:
        return f"rank {rank} ran the engine's preset {report['preset']} instead of {preset}"
    if preset != "off" and not report["active"]:
        return f"the engine did not run on rank {rank}: {report.get('reason') or 'no reason given'}"
    had = {name: _as_set(value) for name, value in report.get("settings", {}).items()}
    asked = dict(setting.split("=", 1) for setting in settings)  # the last of several counts, as in the engine
    wrong = (name for name, value in asked.items() if not _same(had.get(name, ""), value))
    return next((f"rank {rank} ran with {n}={had.get(n, '')} instead of {n}={asked[n]}" for n in wrong), None)


def _as_set(value: Any) -> str:
    """A setting of the engine's report in the words in which it is set."""
    return str(int(value)) if isinstance(value, bool) else str(value)


def _same(had: str, asked: str) -> bool:
    """007 and 7 are the same number."""
    return had == asked or (had.lstrip("-").isdigit() and asked.lstrip("-").isdigit() and int(had) == int(asked))


CHECKS: tuple[Check, ...] = (world_size, nodes, library, binding, interfaces, variables, engine)


def problems(plan: Plan, launch: Launch, record: RecordFile) -> list[str]:
    """What was not as planned in a launch that has a header, in words."""
    if record.header is None:
        return ["the workload wrote nothing"]
    return [problem for check in CHECKS if (problem := check(plan, launch, record))]


def condemn(plan: Plan, launch: Launch, record: RecordFile) -> list[str]:
    """`problems`; if there are any, no point is good. The samples stay, for whoever wants to know why."""
    wrong = problems(plan, launch, record)
    for line in record.points if wrong else ():
        if line["status"] == "ok":
            line["status"], line["reason"] = "failed", "; ".join(wrong)
    return wrong
