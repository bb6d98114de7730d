# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be compared: sessions of other machines or networks; what of BASE was not, and which files of NEW cannot
be read whole. Each in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.compare.comparison import PointVerdict
from analysis.records import frames
from analysis.records.load import Records

SHOWN = 5  # parts that are named; the rest is counted
LEVELS = (("study",), ("study", "mpi", "system"), ("study", "mpi", "system", "variant"))


def sentence(points: Sequence[PointVerdict]) -> str:
    """Empty where every point that BASE measured was compared, or is lost, which is said elsewhere."""
    parts = list(_parts(points))
    if not parts:
        return ""
    count = sum(point.uncompared for point in points)
    more = f"; and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return f"{_points(count)} of BASE cannot be compared: {'; '.join(parts[:SHOWN])}{more}."


def _parts(points: Sequence[PointVerdict]) -> Iterator[str]:
    """The largest wholes first: a study none of whose points was compared is one part."""
    left = [point for point in points if point.uncompared]
    measured = [point for point in points if point.uncompared or point.launches[0]]
    for level in LEVELS:
        for name in dict.fromkeys(_name(point, level) for point in left):
            mine = [point for point in left if _name(point, level) == name]
            if len(mine) == sum(_name(point, level) == name for point in measured) and len(mine) > 1:
                left = [point for point in left if _name(point, level) != name]
                yield f"{_words(name)} ({_points(len(mine))}: {_why(mine)})"
    yield from (f"{point.name} ({point.reason})" for point in left)


def _name(point: PointVerdict, level: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(getattr(point, field)) for field in level)


def _words(name: tuple[str, ...]) -> str:
    """study n-load; n-load on mpich of vcluster; the variant adaptive of n-load on mpich of vcluster."""
    study, *rest = name
    if not rest:
        return f"study {study}"
    where = f"{study} on {rest[0]} of {rest[1]}"
    return f"the variant {rest[2]} of {where}" if len(rest) > 2 else where


def _why(points: Sequence[PointVerdict]) -> str:
    return Counter(point.reason for point in points).most_common(1)[0][0]


def _points(count: int) -> str:
    return f"{count} point{'s' if count != 1 else ''}"


SHOWN_FILES = 3  # files that are named; the rest is counted


def more(base: Records, new: Records) -> list[str]:
    """The names of NEW's, where they are more than BASE's; empty else."""
    there, here = unread(base), unread(new)
    return here if len(here) > len(there) else []


def unread(records: Records) -> list[str]:
    """The names of those whose launch was not run once more."""
    files = {Path(problem.file) for problem in records.problems if problem.file.endswith(".jsonl")}
    return sorted(file.name for file in files if not _run_again(file))


def _run_again(file: Path) -> bool:
    """NAME.jsonl is a launch's first record, NAME.r1.jsonl that of its next run, which measured what was missing."""
    stem, _, number = file.stem.rpartition(".r")
    first, count = (stem, int(number)) if stem and number.isdigit() else (file.stem, 0)
    return file.with_name(f"{first}.r{count + 1}.jsonl").exists()


def unread_sentence(names: list[str]) -> str:
    """Empty where there are none."""
    if not names:
        return ""
    rest = f" and {len(names) - SHOWN_FILES} more" if len(names) > SHOWN_FILES else ""
    files = f"{len(names)} record file{'s' if len(names) > 1 else ''}"
    return f"{files} of NEW cannot be read whole, and fewer of BASE: {', '.join(names[:SHOWN_FILES])}{rest}."


def differences(base: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """(reasons not to compare, what else differs and the reader should know), each a sentence."""
    reasons: list[str] = []
    notes: list[str] = []
    for session in (base, new):
        if not frames.machine_values(session, "cpu_model"):
            reasons.append(f"session {session['session']} does not say what machine it ran on")
    for table, sentences in ((frames.DECISIVE, reasons), (frames.TOLD, notes)):
        for name, words in table.items():
            old, other = (frames.machine_values(session, name) for session in (base, new))
            if old and other and old.keys() != other.keys():
                sentences.append(f"different {words}: {_said(old)} in BASE, {_said(other)} in NEW")
    networks = [session.get("network") for session in (base, new)]
    if networks[0] != networks[1] and None not in networks:
        reasons.append(f"different networks: {networks[0]} in BASE, {networks[1]} in NEW")
    for name in sorted(_mapping(base, "mpis").keys() & _mapping(new, "mpis").keys()):
        a, b = (_mapping(_mapping(session, "mpis"), name).get("version") for session in (base, new))
        if a != b:
            notes.append(f"different versions of {name}: {a} in BASE, {b} in NEW")
    return reasons, notes


def _said(values: Mapping[Any, list[str]]) -> str:
    """The value; where the nodes of one session differ, each with its nodes."""
    if len(values) == 1:
        return str(next(iter(values)))
    return " and ".join(f"{value} ({', '.join(names)})" for value, names in values.items())


def _mapping(of: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = of.get(name)
    return value if isinstance(value, Mapping) else {}
