# SPDX-License-Identifier: BSD-3-Clause
"""Real sessions kept as the medians of their launches, in `aa_sessions.csv`: what `compare` must not be alarmed by."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from analysis.compare.pairs import Key, Measured, measured
from analysis.errors import UsageError
from analysis.records import nodes
from analysis.records.load import load
from analysis.records.quantities import SIGNS

FILE = Path(__file__).parent / "aa_sessions.csv"
USES = ("chosen", "tested")  # the margin was chosen on it, or is tested on it: never both
FIELDS = [
    "session",
    "set",
    "use",
    "machine",
    "slowdown",
    "study",
    "system",
    "mpi",
    "variant",
    "point",
    "quantity",
    "better",
    "work",
]
# What `medians` holds: one a launch, in the quantity's unit, in the order that the launches ran.
FIELDS += ["medians"]


@dataclass
class Kept:
    """What one session measured on one MPI. `slowdown`: the factor on all computation that was injected.

    `about` says what was run and where: sessions of which it differs are not the same program again.
    """

    name: str
    about: str
    use: str
    machine: str
    mpi: str
    slowdown: float = 1.0
    points: dict[Key, Measured] = field(default_factory=dict)


def read(file: Path = FILE) -> list[Kept]:
    """The sessions in order of name, which begins with the time; one for each MPI that a session ran."""
    found: dict[tuple[str, str], Kept] = {}
    sets = {number: about for number, _, about in (line[2:].partition(": ") for line in _comments(file))}
    with file.open() as lines:
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            about = sets[row["set"]]
            new = Kept(row["session"], about, row["use"], row["machine"], row["mpi"], float(row["slowdown"]))
            kept = found.setdefault((new.name, new.mpi), new)
            launches = {str(i): np.array([float(x)]) for i, x in enumerate(row["medians"].split())}
            key = (row["study"], row["system"], row["mpi"], row["variant"], row["point"])
            work = float(row["work"]) if row["work"] else None
            kept.points[key] = Measured(row["quantity"], launches, work, sign=SIGNS[row["better"]])
    return sorted(found.values(), key=lambda kept: (kept.name, kept.mpi))


def _comments(file: Path) -> list[str]:
    """`# 1: what was run and where`, a line for each set of sessions that were run alike."""
    return [line.rstrip("\n") for line in file.read_text().splitlines() if line.startswith("#")]


def reduce(paths: Sequence[Path], use: str) -> list[Kept]:
    """Session folders as they are kept, in order of name. UsageError for a session that cannot be kept."""
    found: list[Kept] = []
    for path in paths:
        records = load([path])
        facts = records.sessions[0]
        models = nodes.values(facts, "cpu_model")
        if len(models) != 1:
            raise UsageError(
                f"{path}: a session of one kind of machine that says which is wanted, not {len(models)} kinds"
            )
        (cores, *_) = [*nodes.values(facts, "cores"), "unknown"]
        machine = f"{next(iter(models))}, {cores} cores"
        per_mpi: dict[str, Kept] = {}
        for key, entry in measured(records).items():
            if entry.launches:
                new = Kept(str(facts["session"]), _about(facts, machine), use, machine, key[2], _slowdown(facts))
                per_mpi.setdefault(key[2], new).points[key] = entry
        if not per_mpi:
            raise UsageError(f"{path}: no points to keep")
        found += per_mpi.values()
    return sorted(found, key=lambda kept: (kept.name, kept.mpi))


def _slowdown(facts: dict[str, Any]) -> float:
    command = facts.get("command") or []
    return float(command[command.index("--inject-slowdown") + 1]) if "--inject-slowdown" in command else 1.0


def _about(facts: dict[str, Any], machine: str) -> str:
    """The program and the place: studies, settings, machine, network, MPIs, commit."""
    request = facts.get("request") or {}
    settings = " ".join(f"{name}={value}" for name, value in (request.get("settings") or {}).items())
    versions = ", ".join(str((mpi or {}).get("version")) for mpi in (facts.get("mpis") or {}).values())
    commit = (facts.get("git") or {}).get("commit")
    run = f"{' '.join(facts.get('studies') or [])} {settings}".strip()
    return f"{run}; {machine}; {facts.get('network')}; {versions}; commit {commit}"


def write(kept: Sequence[Kept], stream: TextIO) -> None:
    """The whole file."""
    sets = {about: number for number, about in enumerate(dict.fromkeys(one.about for one in kept), start=1)}
    stream.writelines(f"# {number}: {about}\n" for about, number in sets.items())
    writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
    writer.writeheader()
    for one in kept:
        for (study, system, mpi, variant, point), entry in one.points.items():
            place = {"study": study, "system": system, "mpi": mpi, "variant": variant, "point": point}
            numbers = {
                "quantity": entry.quantity,
                "better": next(word for word, sign in SIGNS.items() if sign == entry.sign),
                "work": "" if entry.work is None else f"{entry.work:g}",
                "medians": " ".join(f"{value:.5g}" for value in entry.medians),
            }
            head = {"session": one.name, "set": sets[one.about], "use": one.use, "machine": one.machine}
            writer.writerow({**head, "slowdown": f"{one.slowdown:g}", **place, **numbers})
