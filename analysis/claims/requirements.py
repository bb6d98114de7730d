# SPDX-License-Identifier: BSD-3-Clause
"""What a machine must have for a claim to be testable there at all, read off the nodes that ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from analysis.records import nodes

RDMA_DRIVERS = ("mlx4", "mlx5", "hfi1", "irdma", "bnxt_re", "efa", "cxi", "qedr", "ib_")
Check = Callable[[Mapping[str, Any], pd.DataFrame], "str | None"]


def _everywhere(check: Callable[[nodes.Facts], str | None]) -> Check:
    """A check of one machine as one of a session: what is required must be there on every node that ran."""

    def every(session: Mapping[str, Any], _: pd.DataFrame) -> str | None:
        machines = nodes.machines(session) or [("the session", {})]
        reasons: dict[str, list[str]] = {}
        for name, facts in machines:
            if reason := check(facts):
                reasons.setdefault(reason, []).append(name)
        if any(len(where) < len(machines) for where in reasons.values()):
            return "; ".join(f"{reason} (on {', '.join(where)})" for reason, where in reasons.items())
        return next(iter(reasons), None)

    return every


def _at_least(field: str, least: int, words: str) -> Check:
    def check(machine: nodes.Facts) -> str | None:
        value = machine.get(field)
        if not isinstance(value, int):
            return f"the session does not say how many {field.replace('_', ' ')} there are"
        return None if value >= least else f"{words}: {value} {field.replace('_', ' ')}"

    return _everywhere(check)


def _rdma(machine: nodes.Facts) -> str | None:
    nics = machine.get("nics") or []
    drivers = [str(nic.get("driver") or "") for nic in nics if isinstance(nic, Mapping)]
    return None if any(driver.startswith(RDMA_DRIVERS) for driver in drivers) else "no network interface with RDMA"


def _mwait(machine: nodes.Facts) -> str | None:
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
