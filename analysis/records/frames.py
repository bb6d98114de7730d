# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of records everywhere: the few pandas idioms, with types that say what comes out; which launches failed
at a point, though others of it may be good; how much of the measured time something else took, the hypervisor and other
programs on the ranks' CPUs; and on which machines a session measured.

A session's compute nodes say in `nodes/*.json` what they are; those that ranks ran on count. Where none is described it
is the login node of `session.json`, which may be another machine: `machine_cautions` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd


def groups(frame: pd.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    """(values of `by`, rows) in order of first appearance; missing values make a group of their own."""
    for keys, part in frame.groupby(list(by), sort=False, dropna=False):
        yield (keys if isinstance(keys, tuple) else (keys,)), part


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as dictionaries."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def unique(column: pd.Series[Any]) -> list[Any]:
    """The values without repetition, in order of first appearance, missing ones left out."""
    return list(column.dropna().unique())


NOT_NEEDED = "not needed"  # with which the reason of a launch begins that was left out, as enough was known
KNOWN = ("expected failure", "unexpected success")  # the same, of what is known to fail on an MPI
NOT_RUN = "not run: "  # with which the reason of a launch begins that a job never came to


def failed(points: pd.DataFrame) -> dict[str, str]:
    """Launch -> "status: reason" of what was not measured on one of its ranks, and was not by a later run of the same
    launch either. `points` are the rows of one variant at one point."""
    bad = points[points["status"] != "ok"]
    found = {}
    for launch in unique(bad["launch"]):
        mine = points[points["launch"] == launch]
        if set(mine["rank"]) - set(mine.loc[mine["status"] == "ok", "rank"]):
            found[str(launch)] = _words(bad[bad["launch"] == launch].iloc[-1])
    return found


def unmeasured(points: pd.DataFrame) -> str:
    """ "status: reason" where no launch has measured these rows; empty where one has, or none was to."""
    return "" if not len(points) or points["status"].eq("ok").any() else _words(points.iloc[0])


def partly(points: pd.DataFrame, whose: str = "") -> str:
    """What must be said beside the value of those launches that did not fail; empty where all are good. What cannot be
    measured here at all is no failure."""
    bad = failed(points[points["status"] != "skipped"])
    if not bad:
        return ""
    of, why = f"of {whose} " if whose else "", next(iter(bad.values()))
    return f"{len(bad)} of {points['launch'].nunique()} launches {of}failed ({why}): the value is of the others"


def _words(row: pd.Series[Any]) -> str:
    return ": ".join(str(part) for part in (row["status"], row["reason"]) if part)


NOISE_FIELDS = ["watched_s", "others_s", "steal_s", "softirq_s", "involuntary_switches"]
DISTURBED = 0.02  # share of the measured time that others may take before a point is called disturbed
# /proc/stat counts in these: of a CPU used by turns the sum is wrong by the root of TICK_S times the time
TICK_S = 0.01
SWITCH_S = 3e-6  # that a switch to something else takes at least


def disturbance(points: pd.DataFrame, measured_s: float = 0.0, *, by_switches: bool = True) -> float | None:
    """The share of the time of these rows (launches and ranks) that something else took; None if not recorded.

    `measured_s`: how long the samples took, of records that do not say how long was looked at. Without `by_switches`
    what the program lost to threads of its own process, as the engine's, is none.
    """
    known = points[NOISE_FIELDS].astype(float).sum(min_count=1)
    if not by_switches:
        known["involuntary_switches"] = np.nan
    time = known["watched_s"] if known["watched_s"] > 0 else measured_s
    if known.drop("watched_s").isna().all() or time <= 0:
        return None
    others = max(0.0, np.nan_to_num(known["others_s"]) - np.sqrt(TICK_S * time))
    taken = (np.nan_to_num(known["steal_s"]) + others, SWITCH_S * known["involuntary_switches"])
    return float(np.nanmax(taken) / time)


def measured_s(samples: Mapping[str, npt.NDArray[np.float64]]) -> float:
    """The time in seconds that the samples of one rank at one point took; 0 where they do not say."""
    timed = ("elapsed_s",) if "elapsed_s" in samples else ("total_s", "comm_s", "comp_s")
    return float(sum(samples[name].sum() for name in timed if name in samples))


def took(share: Any, most: str = "") -> str:
    """What to say of a point of which something else took that share, which no interval includes; or nothing."""
    return f"something else took {most}{100 * share:.0f} % of the measured time" if (share or 0) > DISTURBED else ""


def disturbed(share: float | None) -> str:
    """Why a point cannot decide that was disturbed for that share of its measured time."""
    return f"the machine was disturbed: {took(share)}" if took(share) else ""


Facts = Mapping[str, Any]
SHOWN = 8  # nodes that are named in a sentence

# What makes two machines different ones, and what a reader should know of two alike: field -> its plural in words.
DECISIVE = {
    "cpu_model": "processors",
    "sockets": "numbers of sockets",
    "cores": "numbers of cores",
    "threads_per_core": "numbers of threads a core",
}
TOLD = {"kernel": "kernels", "governor": "frequency governors", "turbo": "turbo settings"}


def described_nodes(session: Path, problem: Callable[[Path, str], None]) -> list[dict[str, Any]]:
    """What every described node says, in order of name; a file that cannot be read is told to `problem`."""
    found = []
    for file in sorted((session / "nodes").glob("*.json")) if session.is_dir() else []:
        try:
            facts = json.loads(file.read_text())
        except (OSError, ValueError) as error:
            problem(file, f"cannot be read ({error}): what this node was is not known")
            continue
        if isinstance(facts, dict) and isinstance(facts.get("host"), str):
            found.append(facts)
        else:
            problem(file, "does not say which node it describes")
    return found


def that_ran(described: Sequence[Facts], hosts: Iterable[str]) -> tuple[list[Facts], list[str]]:
    """(the descriptions of the nodes that ranks ran on, the hosts among them that nobody described)."""
    wanted = {short(host) for host in hosts}
    ran = [facts for facts in described if not wanted or short(facts["host"]) in wanted]
    return ran, sorted(wanted - {short(facts["host"]) for facts in ran})


def short(host: str) -> str:
    """A host without its domain, which one program says and another does not."""
    return host.partition(".")[0]


def machines(session: Facts) -> list[tuple[str, Facts]]:
    """(name, facts) of every machine that the session measured on; the login node where no node is described."""
    described = session.get("nodes") or []
    if described:
        return [(f"node {facts['host']}", facts) for facts in described]
    login = session.get("machine")
    return [("the login node", login)] if isinstance(login, Mapping) else []


def machine_values(session: Facts, field: str) -> dict[Any, list[str]]:
    """What the machines say of `field` -> the names of those that say it; those that say nothing are left out."""
    found: dict[Any, list[str]] = {}
    for name, facts in machines(session):
        if facts.get(field) is not None:
            found.setdefault(facts[field], []).append(name)
    return found


def machine_cautions(session: Facts) -> list[str]:
    """What a reader should know: nodes that differ from one another, nodes that nobody described."""
    said = []
    name = session["session"]
    if not session.get("nodes") and session.get("machine"):
        said.append(
            f"Session {name} does not describe its compute nodes: what is said of the machine is of the login node."
        )
    elif session.get("nodes") and session.get("undescribed"):
        said.append(f"Session {name} does not describe all of its nodes: not {_some(session['undescribed'])}.")
    for field, words in {**DECISIVE, **TOLD}.items():
        differing = machine_values(session, field)
        if len(differing) > 1:
            each = "; ".join(f"{value} on {_some(names)}" for value, names in differing.items())
            said.append(f"The nodes of session {name} have different {words}: {each}.")
    return said


def _some(names: Sequence[str]) -> str:
    """All of a few names, the first of many."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def alike_machines(described: Sequence[Facts]) -> dict[str, Facts]:
    """The descriptions with equal ones together: 'vc1, vc2' -> what is true of both."""
    groups: dict[str, tuple[list[str], Facts]] = {}
    for facts in described:
        rest = {key: value for key, value in facts.items() if key != "host"}
        groups.setdefault(json.dumps(rest, sort_keys=True), ([], rest))[0].append(facts["host"])
    return {", ".join(dict.fromkeys(hosts)): rest for hosts, rest in groups.values()}
