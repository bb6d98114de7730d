# SPDX-License-Identifier: BSD-3-Clause
"""Somebody else's program: how it is run, and what is read in its output. It writes no record; the runner does.

Its whole time is that of the launch, from the launcher's start to its end.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base import process, validate
from harness.codes.code import SHARE, Case, Code
from harness.codes.output import Damaged, Row, cleaned, positive

WHOLE, PRINTED = "whole_s", "printed_time"
CALLERS_PYTHONPATH = "OVERLAP_BENCH_PYTHONPATH"  # what PYTHONPATH was before the harness set its own
LOOK_LIMIT_S = 30.0
LONGEST = 120  # characters of somebody's output within a sentence

# As the engine knows them (progress_engine/src/mpi/abi.cpp): cray-mpich's have the compiler in their names, and one of
# the standard's own ABI is called libmpi_abi.
_COMPILERS = "cray|gnu|intel|nvidia|amd|aocc|pgi|allinea"
_MPI_LIBRARY = re.compile(
    rf"^\s*(lib(?:(?:mpi|mpich)(?:_(?:{_COMPILERS})[_\d]*)?|mpi_abi|mpi_ibm)\.so[.\d]*)"
    r" => (.+?)(?: \(0x[0-9a-f]+\))?$",
    re.MULTILINE,
)
_LACKING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
_OTHER_VERSION = re.compile(r"^\S+: (\S+): version `(\S+)' not found \(required by (\S+)\)$", re.MULTILINE)
_ASK_VERSION = """
import ctypes, sys
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors="replace").splitlines()[0])
"""


def _case(name: str) -> tuple[Code, Case]:
    from harness.codes.known import CASES  # noqa: PLC0415 - most programs are of no code that is known

    return CASES[name]


@dataclass(frozen=True)
class Program:
    """`launcher` with its options, in whose place the MPI's own launches `ranks` where there is none; 0: it decides.

    `time_from`: finds a time that the program prints, else the whole time counts; `check`: finds its result, which must
    be the same in every launch. Of `time_from` the last match counts, of both the first group, if there is one. `case`:
    of harness.codes, which knows what is in the output. `prepare`: commands that are run in `folder` before anything
    is launched. `driver`: stands before the launcher, and starts it with what follows as often as it wants. `built`:
    patterns of the programs that it starts, which are there once it was prepared, from /. `profiled`: settings of
    the profiler's, with which its launches with the engine's library leave profiles of its calls (analysis/where.py);
    without any they leave none.
    """

    __pydantic_config__ = validate.MODEL

    command: list[str]
    folder: str
    ranks: int = 0
    launcher: list[str] = field(default_factory=list)
    time_from: str = ""
    check: str = ""
    case: str = ""
    prepare: list[list[str]] = field(default_factory=list)
    driver: list[str] = field(default_factory=list)
    built: list[str] = field(default_factory=list)
    profiled: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return _case(self.case)[0].name if self.case else Path(self.command[0]).name

    @property
    def written(self) -> str:
        """The files in `folder` of which the last one holds what it has to say beside what it prints: a pattern."""
        return _case(self.case)[1].written if self.case else ""

    def files(self) -> dict[str, str]:
        """The programs that are launched, so far as they are known beforehand: path -> what it is called."""
        path = shutil.which(self.command[0]) or self.command[0]
        built = [file for pattern in self.built for file in sorted(Path("/").glob(pattern))]
        return {path: self.name} | {str(file): f"{self.name}: {file.name}" for file in built}

    def quantities(self) -> dict[str, dict[str, Any]]:
        """What a launch measures, as a record's header declares it."""
        if self.case:
            own = {name: quantity.declared() for name, quantity in _case(self.case)[1].quantities.items()}
            leads = not any(quantity["leading"] for quantity in own.values())
            return own | {WHOLE: {"unit": "s", "better": "lower", "leading": leads}}
        times = {WHOLE: {"unit": "s", "better": "lower", "leading": not self.time_from}}
        if self.time_from:
            times[PRINTED] = {"unit": "as printed", "better": "lower", "leading": True}
        return times


class Unusable(Exception):  # noqa: N818 - what was printed is no error of ours
    """Nothing can be read in an output; the message is the sentence that says what it lacks."""


@dataclass(frozen=True)
class Reading:
    """What was found in an output: quantity -> value, and the result, empty if none is looked for."""

    samples: dict[str, float]
    result: str = ""
    rows: list[Row] = field(default_factory=list)

    @property
    def measured(self) -> int:
        """How many of its rows have numbers."""
        return sum(bool(row.samples) for row in self.rows)

    def at(self, point: Mapping[str, Any], quantities: Mapping[str, Mapping[str, Any]]) -> dict[str, float] | str:
        """What was measured at a point, of these quantities as a header declares them; or why nothing was. No time and
        no rate is 0 or less; a share may be."""
        if not self.rows:
            return self.samples
        rows = [row for row in self.rows if all(row.point.get(name) == value for name, value in point.items())]
        if len(rows) != 1:
            return f"its output has {len(rows) or 'no'} line{'s' if rows else ''} of this point"
        (row,) = rows
        alone = self.samples if len(self.rows) == 1 else {}
        found = {name: value for name, value in (row.samples | alone).items() if name in quantities}
        known = {name: value for name, value in found.items() if value > 0 or quantities[name]["unit"] == SHARE.unit}
        return row.wrong or _unmeasured(found, quantities) or known


def _unmeasured(found: Mapping[str, float], quantities: Mapping[str, Mapping[str, Any]]) -> str:
    """Why what leads was not measured; empty if it was."""
    for name in (name for name, declared in quantities.items() if declared["leading"]):
        if name not in found:
            return f"its output has no {name} of this point"
        if found[name] <= 0:
            return f"{name} of this point was not measured: its output says {found[name]:g}"
    return ""


def read(program: Program, output: str, whole_s: float, errors: str = "") -> Reading:
    """What `program` is asked about in what a launch of it printed: a pattern that finds nothing there looks in
    `errors`, its stderr. Raises Unusable."""
    samples, output, errors = {WHOLE: whole_s}, cleaned(output), cleaned(errors)
    if program.case:
        return _of_case(program, output, samples)
    if program.time_from:
        samples[PRINTED] = _number(program.time_from, output, errors)
    result = "\n".join(_found(program.check, output) or _found(program.check, errors)) if program.check else ""
    if program.check and not result.strip():
        raise Unusable(f"it printed nothing that --check '{program.check}' finds")
    return Reading(samples, result)


def _of_case(program: Program, output: str, samples: dict[str, float]) -> Reading:
    case = _case(program.case)[1]
    try:
        found = case.parser(output)
    except Damaged as error:
        raise Unusable(f"what it printed cannot be used: {error}") from error
    if found.processes and program.ranks and found.processes != program.ranks:
        alone = ": each by itself, so its MPI and the launcher do not know each other" if found.processes == 1 else ""
        raise Unusable(f"it says that it ran on {found.processes} of {program.ranks} processes{alone}")
    if case.result and not re.fullmatch(case.result, found.result):
        raise Unusable(f"its result is wrong: '{short(found.result)}'")
    return Reading(samples, found.result, found.rows)


def _found(pattern: str, output: str) -> list[str]:
    """Of each match the first group, empty where that is of an alternative that was not taken."""
    found = re.finditer(pattern, output, re.MULTILINE)
    return [(match[1] or "") if match.re.groups else match[0] for match in found]


def _number(pattern: str, output: str, errors: str) -> float:
    found = _found(pattern, output) or _found(pattern, errors)
    if not found:
        raise Unusable(f"it printed nothing that --time-from '{pattern}' finds")
    text = found[-1].strip()
    try:
        return positive(text, "time")
    except Damaged:
        raise Unusable(f"what --time-from '{pattern}' finds is no time: '{short(text)}'") from None


def short(text: str) -> str:
    """On one line, and not too long for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."


def another_mpi(program: str, library: str, environment: Mapping[str, str]) -> str:
    """Why this program does not run on the MPI whose version holds the word `library`, as the loader has it; or empty.

    A script, or what loads its MPI by name later, has none to look at.
    """
    listed = process.answer(["ldd", program], LOOK_LIMIT_S, environment)
    for name, file in _MPI_LIBRARY.findall(listed.out):
        if file == "not found":
            return f"it needs {name}, which the loader does not find"
        asked = process.answer([sys.executable, "-c", _ASK_VERSION, file], LOOK_LIMIT_S, environment)
        if asked.status == 0 and library not in asked.out:
            return f"it links another MPI: {file} is '{short(asked.out)}' and not {library}"
    if lacking := _LACKING.search(listed.out):
        return f"it needs {lacking[1]}, which the loader does not find"
    if other := _OTHER_VERSION.search(listed.out):  # as where the libraries of another MPI are found before its own
        return f"{other[3]} needs version {other[2]} of {Path(other[1]).name}, which {other[1]} does not have"
    return ""
