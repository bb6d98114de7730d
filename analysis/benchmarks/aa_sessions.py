# SPDX-License-Identifier: BSD-3-Clause
"""Real sessions kept as the medians of their launches, in `aa_sessions.csv`: what `compare` must not be alarmed by."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, TypeVar

import numpy as np

from analysis.compare.pairs import Key, Measured, measured
from analysis.errors import UsageError
from analysis.records import nodes
from analysis.records.load import load
from analysis.records.quantities import SIGNS

FILE = Path(__file__).parent / "aa_sessions.csv"
T = TypeVar("T", bound=Hashable)
USES = ("chosen", "tested")  # the margin was chosen on it, or is tested on it: never both
# A session's row a point. `set` and `point` are numbers of the comments above the rows: what was run where, and the
# POINT; `disturbed`: the share of the measured time that a hypervisor took, empty where it is not known; `medians`: one
# a launch, in the quantity's unit, in the order that the launches ran.
FIELDS = ["session", "set", "use", "slowdown", "point", "disturbed", "medians"]
POINT = ["study", "system", "mpi", "variant", "point", "quantity", "better", "work"]
SET_LINE = re.compile(r"# set (\d+), on (.*?): (.*)")
POINT_LINE = re.compile(r"# point (\d+): (.*)")


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
    lines = file.read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    sets = {match[1]: (match[2], match[3]) for match in map(SET_LINE.fullmatch, comments) if match}
    written = [match for match in map(POINT_LINE.fullmatch, comments) if match]
    points = dict(zip((match[1] for match in written), csv.reader(match[2] for match in written), strict=True))
    found: dict[tuple[str, str], Kept] = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        machine, about = sets[row["set"]]
        *key, quantity, better, work = points[row["point"]]
        study, system, mpi, variant, point = key
        kept = Kept(row["session"], about, row["use"], machine, mpi, float(row["slowdown"]))
        kept = found.setdefault((kept.name, mpi), kept)
        launches = {str(i): np.array([float(x)]) for i, x in enumerate(row["medians"].split())}
        kept.points[study, system, mpi, variant, point] = Measured(
            quantity, launches, _number(work), sign=SIGNS[better], disturbance=_number(row["disturbed"])
        )
    return sorted(found.values(), key=lambda kept: (kept.name, kept.mpi))


def _number(text: str) -> float | None:
    return float(text) if text else None


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
                new = Kept(str(facts["session"]), _about(facts), use, machine, key[2], _slowdown(facts))
                per_mpi.setdefault(key[2], new).points[key] = entry
        if not per_mpi:
            raise UsageError(f"{path}: no points to keep")
        found += per_mpi.values()
    return sorted(found, key=lambda kept: (kept.name, kept.mpi))


def _slowdown(facts: dict[str, Any]) -> float:
    command = facts.get("command") or []
    return float(command[command.index("--inject-slowdown") + 1]) if "--inject-slowdown" in command else 1.0


def _about(facts: dict[str, Any]) -> str:
    """The program and the place, but for the machine: studies, settings, network, MPIs, commit."""
    request = facts.get("request") or {}
    settings = " ".join(f"{name}={value}" for name, value in (request.get("settings") or {}).items())
    versions = ", ".join(str((mpi or {}).get("version")) for mpi in (facts.get("mpis") or {}).values())
    commit = (facts.get("git") or {}).get("commit")
    run = f"{' '.join(facts.get('studies') or [])} {settings}".strip()
    return f"{run}; {facts.get('network')}; {versions}; commit {commit}"


def write(kept: Sequence[Kept], stream: TextIO) -> None:
    """The whole file."""
    sets = _numbered((one.machine, one.about) for one in kept)
    points = _numbered(_point(key, entry) for one in kept for key, entry in one.points.items())
    stream.writelines(f"# set {number}, on {machine}: {about}\n" for (machine, about), number in sets.items())
    stream.writelines(f"# point {number}: {text}\n" for text, number in points.items())
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(FIELDS)
    for one in kept:
        head = (one.name, sets[one.machine, one.about], one.use, f"{one.slowdown:g}")
        for key, entry in one.points.items():
            disturbed = "" if entry.disturbance is None else f"{entry.disturbance:.3g}"
            medians = " ".join(f"{value:.5g}" for value in entry.medians)
            writer.writerow([*head, points[_point(key, entry)], disturbed, medians])


def _numbered(items: Iterable[T]) -> dict[T, int]:
    return {item: number for number, item in enumerate(dict.fromkeys(items), start=1)}


def _point(key: Key, entry: Measured) -> str:
    """A line of POINT."""
    better = next(word for word, sign in SIGNS.items() if sign == entry.sign)
    line = io.StringIO()
    work = "" if entry.work is None else f"{entry.work:g}"
    csv.writer(line, lineterminator="").writerow([*key, entry.quantity, better, work])
    return line.getvalue()
