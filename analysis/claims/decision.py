# SPDX-License-Identifier: BSD-3-Clause
"""How a claim is decided: from intervals alone, over all points of a setting; and what a machine must have for it to be
testable there at all, read off the nodes that ran."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import pandas as pd

from analysis.evidence import Value
from analysis.records import frames
from analysis.statistics.interval import Interval, simultaneous
from analysis.subject import STRICT, Claim


class Decision(str, Enum):
    """What can be said of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    NOT_TESTABLE = "not testable here"
    PREDICTED = "predicted"
    PREDICTED_OTHERWISE = "predicted otherwise"
    EMULATED = "not decided: emulated machine"
    NOT_MEASURED = "not measured"
    NO_CLAIM = "measured, no claim"
    PREDICTED_NO_CLAIM = "predicted, no claim"


OF_A_SIMULATION = {
    Decision.REPRODUCED: Decision.PREDICTED,
    Decision.NOT_REPRODUCED: Decision.PREDICTED_OTHERWISE,
    Decision.NO_CLAIM: Decision.PREDICTED_NO_CLAIM,
}


def of_a_simulation(decision: Decision, reason: str) -> tuple[Decision, str]:
    """The same where a model predicted what would else be measured: it reproduces nothing, and refutes nothing."""
    for measured, predicted in OF_A_SIMULATION.items():
        reason = reason.replace(f"points to {measured.value}", f"points to {predicted.value}")
    return OF_A_SIMULATION.get(decision, decision), reason


def decide_one(interval: Interval, claim: Claim) -> tuple[Decision, str]:
    """The decision from one interval, and the reason where there is none.

    The whole interval must lie within the bounds or outside of them. One that does not hold what it says (over fewer
    than 6 launches, or launches of two kinds) decides nothing, but it says which way it points.
    """
    low, high = claim.bounds
    inside = low <= interval.low and interval.high <= high
    if claim.operator in STRICT:
        inside = inside and interval.low != low and interval.high != high
    outside = interval.low > high or interval.high < low
    if not inside and not outside:
        points = f" (it holds over {interval.points} points at the same time)" if interval.points > 1 else ""
        crossed = [f"{bound:g}" for bound in (low, high) if interval.low <= bound <= interval.high]
        return Decision.INCONCLUSIVE, f"the interval lies on both sides of {' and of '.join(crossed)}{points}"
    decision = Decision.REPRODUCED if inside else Decision.NOT_REPRODUCED
    if not interval.defensible:
        return Decision.INCONCLUSIVE, f"points to {decision.value}, but decides nothing: {interval.kind}"
    return decision, ""


def decide(values: Sequence[Value], claim: Claim) -> tuple[Decision, str, Value]:
    """The decision over all points of a setting, the reason, and the value that decided with the interval that did.

    Every point must hold; of a claim of "up to" one must. What needs all points is held against each point's own
    interval: if one is not so, its interval says otherwise no more often than by itself. What one point of many is
    enough for is held against intervals that hold for all points at the same time, as the luckiest of many is lucky:
    that one point refutes a claim on every point, and that one point proves a claim of "up to".
    """
    known = [value for value in values if math.isfinite(value.interval.value)]
    if not known:
        return Decision.INCONCLUSIVE, _caveats(values, len(values)), values[0]
    if claim.up_to:
        alone, common = Decision.REPRODUCED, Decision.NOT_REPRODUCED
    else:
        alone, common = Decision.NOT_REPRODUCED, Decision.REPRODUCED
    low, high = claim.bounds

    def outside(value: Value) -> float:
        """How far it may be outside of the bounds; of a claim of "up to" how far inside."""
        if claim.up_to:
            return min(high - value.interval.low, value.interval.high - low)
        return max(value.interval.high - high, low - value.interval.low)

    def furthest(found: Sequence[Value]) -> Value:
        return max(found, key=outside)

    together = {id(value): replace(value, interval=simultaneous(value.interval, len(known))) for value in known}
    enough = [value for value in together.values() if _decide_value(value, claim)[0] is alone]
    if enough:
        return alone, furthest(enough).remark, furthest(enough)
    undecided = [value for value in values if _decide_value(value, claim)[0] is not common]
    if not undecided:
        return common, furthest(known).remark, furthest(known)
    barred = [value for value in undecided if value.caveat]
    free = [value for value in undecided if not value.caveat]
    if not free:
        measured = [value for value in barred if math.isfinite(value.interval.value)]
        return Decision.INCONCLUSIVE, _caveats(barred, len(values)), furthest(measured or known)
    shown = together[id(furthest(free))]
    reasons = [_decide_value(shown, claim)[1], _caveats(barred, len(values))]
    return Decision.INCONCLUSIVE, "; ".join(filter(None, reasons)), shown


def _decide_value(value: Value, claim: Claim) -> tuple[Decision, str]:
    return (Decision.INCONCLUSIVE, value.caveat) if value.caveat else decide_one(value.interval, claim)


def _caveats(values: Sequence[Value], of: int) -> str:
    """Why some of so many points cannot decide: the reason of the first, and how many they are."""
    reasons = [value.caveat or "no value" for value in values]
    if len(reasons) <= 1:
        return "".join(reasons)
    return f"{len(reasons)} of {of} points cannot decide, the first: {reasons[0]}"


RDMA_DRIVERS = ("mlx4", "mlx5", "hfi1", "irdma", "bnxt_re", "efa", "cxi", "qedr", "ib_")
Check = Callable[[Mapping[str, Any], pd.DataFrame], "str | None"]


def _everywhere(check: Callable[[frames.Facts], str | None]) -> Check:
    """A check of one machine as one of a session: what is required must be there on every node that ran."""

    def every(session: Mapping[str, Any], _: pd.DataFrame) -> str | None:
        machines = frames.machines(session) or [("the session", {})]
        reasons: dict[str, list[str]] = {}
        for name, facts in machines:
            if reason := check(facts):
                reasons.setdefault(reason, []).append(name)
        if any(len(where) < len(machines) for where in reasons.values()):
            return "; ".join(f"{reason} (on {', '.join(where)})" for reason, where in reasons.items())
        return next(iter(reasons), None)

    return every


def _at_least(field: str, least: int, words: str) -> Check:
    def check(machine: frames.Facts) -> str | None:
        value = machine.get(field)
        if not isinstance(value, int):
            return f"the session does not say how many {field.replace('_', ' ')} there are"
        return None if value >= least else f"{words}: {value} {field.replace('_', ' ')}"

    return _everywhere(check)


def _rdma(machine: frames.Facts) -> str | None:
    nics = machine.get("nics") or []
    drivers = [str(nic.get("driver") or "") for nic in nics if isinstance(nic, Mapping)]
    return None if any(driver.startswith(RDMA_DRIVERS) for driver in drivers) else "no network interface with RDMA"


def _mwait(machine: frames.Facts) -> str | None:
    return "the CPU shows neither UMWAIT nor MWAITX" if "mwait" in machine and not machine["mwait"] else None


def _processes(least: int) -> Check:
    def check(_: Mapping[str, Any], launches: pd.DataFrame) -> str | None:
        largest = int(launches["world_size"].max()) if len(launches) and launches["world_size"].notna().any() else 0
        return None if largest >= least else f"the paper's {least} processes; here at most {largest}"

    return check


def _two_processes(_: Mapping[str, Any], launches: pd.DataFrame) -> str | None:
    ran = sorted(set(launches["world_size"].dropna().astype(int)) - {2}) if len(launches) else []
    return f"the paper's 2 processes; here {', '.join(map(str, ran))}" if ran else None


def _licensed(_: Mapping[str, Any], launches: pd.DataFrame) -> str | None:
    names = set(launches["workload"].dropna()) if len(launches) else set()
    return (
        None
        if "spec-mpi2007" in names
        else "SPEC MPI2007 is licensed and was not given; the open substitute ran or nothing"
    )


REQUIREMENTS: dict[str, Check] = {
    "smt": _at_least("threads_per_core", 2, "no SMT sibling"),
    "two sockets": _at_least("sockets", 2, "one socket"),
    "three cores": _at_least("cores", 3, "too few cores for two submitters and a poller at the same time"),
    "four cores": _at_least("cores", 4, "too few cores to compute and to be in excess of"),
    "mwait": _everywhere(_mwait),
    "rdma": _everywhere(_rdma),
    "two processes": _two_processes,
    "384 processes": _processes(384),
    "448 processes": _processes(448),
    "1024 processes": _processes(1024),
    "spec licence": _licensed,
}


def missing(requires: tuple[str, ...], session: Mapping[str, Any], launches: pd.DataFrame) -> list[str]:
    """Why not, one sentence a requirement that is not met; empty where all are."""
    found = [REQUIREMENTS[name](session, launches) for name in requires]
    return [reason for reason in found if reason is not None]
