# SPDX-License-Identifier: BSD-3-Clause
"""The machines that a session measured on: what its compute nodes said of themselves, read from `nodes/*.json`.

The login node, which `session.json` describes, may be another machine. Only nodes that ranks really ran on count.
Sessions whose nodes are not described fall back to the login node, and `cautions` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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


def read(session: Path, problem: Callable[[Path, str], None]) -> list[dict[str, Any]]:
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


def values(session: Facts, field: str) -> dict[Any, list[str]]:
    """What the machines say of `field` -> the names of those that say it; those that say nothing are left out."""
    found: dict[Any, list[str]] = {}
    for name, facts in machines(session):
        if facts.get(field) is not None:
            found.setdefault(facts[field], []).append(name)
    return found


def cautions(session: Facts) -> list[str]:
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
        differing = values(session, field)
        if len(differing) > 1:
            each = "; ".join(f"{value} on {_some(names)}" for value, names in differing.items())
            said.append(f"The nodes of session {name} have different {words}: {each}.")
    return said


def _some(names: Sequence[str]) -> str:
    """All of a few names, the first of many."""
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def alike(described: Sequence[Facts]) -> dict[str, Facts]:
    """The descriptions with equal ones together: 'vc1, vc2' -> what is true of both."""
    groups: dict[str, tuple[list[str], Facts]] = {}
    for facts in described:
        rest = {key: value for key, value in facts.items() if key != "host"}
        groups.setdefault(json.dumps(rest, sort_keys=True), ([], rest))[0].append(facts["host"])
    return {", ".join(dict.fromkeys(hosts)): rest for hosts, rest in groups.values()}
