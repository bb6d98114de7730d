# SPDX-License-Identifier: BSD-3-Clause
"""The store of gates: a folder with a file for each time that a gate was told, which is put there whole.

Nothing is ever written over or removed, so any number of writers need no lock, on a network's file system neither, and
what one of them breaks is one file: it is named and left as it is. A gate that --resume went on with is told once more,
from more records: in whatever order they are written, what was told from the most records counts.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from analysis.errors import Failure, UsageError
from analysis.gate import files
from analysis.gate.gate_records import Measurement
from analysis.gate.history import ENOUGH
from analysis.gate.outcome import GateFound, Verdict

SUFFIX = ".gate.json"
HOSTS = re.compile(r" \(([^()]*)\)(?=, )")  # in Entry.where
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]  # its logarithm is taken
Ends = Annotated[list[float], Field(min_length=2, max_length=2)]


@dataclass(frozen=True)
class Entry:
    """One gate. `where`: system, nodes and MPI, of which only equal ones are held against each other; `ratios`: point
    -> candidate over baseline; `values`: see history.values_of. `time` is in ISO 8601, UTC. `commit`: of the checkout
    that measured, whose engine a side has that names none; for it and for `comparison` see measured.Measurement.
    `origin`: which session of this name it is, of those that began in the same second in other folders of results.
    `intervals`: point -> the ends of its ratio's, where they are known. `records`: from how many records of launches it
    was told; a gate that went on has more. `disturbed`: a node was slow, whatever the verdict was, or would not
    have been seen, the gate broke off, or earlier gates could not be read, so that nobody knows whether the system was
    as usual. `network`: in words; empty of a gate that an earlier version kept. What a
    later version adds is not read here, and no damage.
    """

    __pydantic_config__ = ConfigDict(extra="ignore", strict=True)

    session: str
    time: str
    where: str
    base: str
    new: str
    verdict: str
    ratios: dict[str, Positive]
    values: dict[str, Positive]
    schema: int = 1
    commit: str = ""
    comparison: str = ""
    origin: str = ""
    intervals: dict[str, Ends] = field(default_factory=dict)
    records: int = 0
    disturbed: bool = False
    network: str = ""

    @property
    def file(self) -> str:
        told = f"{self.records}-records" if self.records else ""
        return ".".join(filter(None, (self.session, self.origin, told))) + SUFFIX

    @property
    def gate(self) -> tuple[str, ...]:
        """What is the same each time that one gate is told."""
        return self.session, self.origin, self.time, self.base, self.new

    @property
    def place(self) -> str:
        """System, number of nodes and MPI: a ratio is of two sides on the same nodes, whichever those were."""
        return HOSTS.sub(lambda hosts: f" ({len(hosts[1].split(', '))} nodes)", self.where, count=1)


def entry_of(
    found: GateFound, what: Measurement, values: dict[str, float], origin: str = "", whole: bool = True
) -> Entry:
    """What is kept of a gate. `whole`: no further round is to come, and it was held against earlier gates."""
    return Entry(
        session=found.session,
        time=what.time,
        where=what.where,
        network=what.network,
        base=found.base,
        new=found.new,
        verdict=found.verdict.value,
        ratios={point.name: point.ratio for point in found.points},
        values=values,
        commit=what.commit,
        comparison=what.comparison,
        origin=origin,
        intervals={point.name: [point.low, point.high] for point in found.points if math.isfinite(point.high)},
        records=what.records,
        disturbed=bool(found.odd) or found.check_run_failed or not whole,
    )


def add(folder: Path, entry: Entry) -> Path:
    """Put a gate into the store, if it does not have it; Failure if it cannot be, UsageError if another gate has the
    name of its file. What could not be read again is not written: every later gate would meet it."""
    target = folder / entry.file
    content = TypeAdapter(Entry).dump_json(entry, indent=1)
    try:
        TypeAdapter(Entry).validate_json(content)
    except ValidationError as error:
        raise Failure(f"Gate {entry.session} is not put into the store {folder} ({_wrong(error)}).") from error
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with files.partial_file(folder, content) as partial:
            os.link(partial, target)  # whole or not at all, and never over another
    except FileExistsError as error:
        if not _has(target, entry):
            raise UsageError(f"The store {folder} has another gate of session {entry.session}: it was kept.") from error
    except OSError as error:
        raise Failure(f"The store {folder} cannot be written: {error.strerror}.") from error
    return target


def _has(target: Path, entry: Entry) -> bool:
    """Whether this file is of that very gate, told from the same records. The words of its verdict may be others: they
    depend on what else the store has."""
    try:
        kept = _read(target)
    except UsageError:  # a damaged one, which is left alone
        return False
    return kept is not None and (kept.gate, kept.ratios) == (entry.gate, entry.ratios)


def check(folder: Path) -> None:
    """UsageError if no file can be put into the store: which is better known before a gate measures than after."""
    try:
        with files.trial(folder) as partial:
            linked = partial.with_suffix(".link")
            try:
                os.link(partial, linked)
            except OSError as error:
                why = f"no hard link can be made there ({error.strerror}); name a store on another file system"
                raise UsageError(f"The store {folder} cannot be written: {why}.") from error
            linked.unlink()
    except OSError as error:
        raise UsageError(f"The store {folder} cannot be written: {error.strerror}.") from error


def read(folder: Path) -> list[Entry]:
    """All gates by time, each as it was told from the most records; UsageError with the file's name where one is
    damaged. A store that is not there is empty."""
    try:
        kept = sorted(file for file in folder.iterdir() if file.name.endswith(SUFFIX))
    except FileNotFoundError:
        kept = []
    except OSError as error:
        raise UsageError(f"The store {folder} cannot be read: {error.strerror}.") from error
    told = sorted(filter(None, map(_read, kept)), key=lambda entry: entry.records)
    last = {entry.gate: entry for entry in told}
    return sorted(last.values(), key=lambda entry: (entry.time, entry.session))


def _read(path: Path) -> Entry | None:
    """None if it is not there any more: somebody took it away, as a damaged one is."""
    try:
        content = path.read_bytes().replace(b'"canary: ', b'"check run: ')  # its old name
        return TypeAdapter(Entry).validate_json(content)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path} in the store of gates cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        raise UsageError(
            f"{path} in the store of gates is damaged ({_wrong(error)}): take it away, the others are intact."
        ) from error


def _wrong(error: ValidationError) -> str:
    """Where the first thing is that is wrong, and what."""
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc'])) or 'the whole file'}: {first['msg']}"


def on_network(entries: Sequence[Entry], network: str, where: str) -> tuple[list[Entry], list[str]]:
    """The gates that were measured on this network, and on which others there were some at `where`, in words."""
    others = {one.network for one in entries if one.where == where} - {network}
    return [one for one in entries if one.network == network], sorted(other or "one not known" for other in others)


def before(entries: Sequence[Entry], session: str, where: str, time: str, origin: str = "") -> list[Entry]:
    """The gates at the same place that began earlier, `time` is when this one did, and say how the system is. A gate
    that --resume goes on with, or tells again, stays where it is in the history: what began since is later."""
    others = [one for one in entries if (one.session, one.origin) != (session, origin)]
    return of_the_system([one for one in others if one.where == where and one.time <= time])


def of_the_system(entries: Sequence[Entry]) -> list[Entry]:
    """Without those that were disturbed, and those that found the system not to be as it was: they would widen what is
    expected of the next one. As many of these one behind the other as a history needs are how the system is now: then
    what was before does not count any more."""
    usual: list[Entry] = []
    changed: list[Entry] = []
    for one in entries:
        if one.disturbed or one.verdict == Verdict.NODE.value:
            continue
        if one.verdict == Verdict.SYSTEM.value:
            changed.append(one)
        elif not changed or one.verdict != Verdict.COMMIT.value:  # which says nothing of the system
            usual.append(one)
            changed = []
        if len(changed) == ENOUGH:
            usual, changed = changed, []
    return usual
