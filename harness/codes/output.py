# SPDX-License-Identifier: BSD-3-Clause
"""What a parser makes of an output: rows of a point and its samples, in seconds and bytes; or the sentence why not."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

Value = str | int | float
LONGEST = 80


class Damaged(Exception):  # noqa: N818 - what a code printed is no error of ours
    """An output that is not whole, or says that its result is wrong; the message is a sentence without its end."""


@dataclass(frozen=True)
class Row:
    """One line of results: what was measured there, and quantity -> value. `wrong`: why the code says it failed."""

    point: dict[str, Value]
    samples: dict[str, float]
    wrong: str = ""


@dataclass(frozen=True)
class Output:
    """A whole output: its rows, and the result by which launches are compared (empty: there is only a verification).

    `processes`: on how many it ran by its own words; 0 if it says nothing of it.
    """

    rows: list[Row]
    result: str = ""
    processes: int = 0


Parser = Callable[[str], Output]


@dataclass(frozen=True)
class Column:
    """What a column of a table is: which quantity, and by what its numbers are multiplied."""

    quantity: str
    factor: float = 1.0


US, PERCENT, MB = 1e-6, 0.01, 1e6
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?")
_COUNT = re.compile(r"[0-9]{1,18}")


def number(text: str, where: str) -> float:
    """A finite number, as Fortran writes it, too. Raises Damaged."""
    value = float(re.sub("[dD]", "e", text)) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise Damaged(f"{where}: '{text[:LONGEST]}' is no number")
    return value


def positive(text: str, where: str) -> float:
    """A time in which something ran, or a rate of it: a number above 0. Raises Damaged."""
    value = number(text, where)
    if value <= 0:
        raise Damaged(f"{where}: '{text[:LONGEST]}' is not above 0")
    return value


def amount(text: str, where: str) -> float:
    """A time of a part, which a short one rounds to 0, or a share: a number that is not below 0. Raises Damaged."""
    value = number(text, where)
    if value < 0:
        raise Damaged(f"{where}: '{text[:LONGEST]}' is below 0")
    return value


def count(text: str, where: str) -> int:
    """How many: digits and nothing else. Raises Damaged."""
    if not _COUNT.fullmatch(text):
        raise Damaged(f"{where}: '{text[:LONGEST]}' does not say how many")
    return int(text)


# What a launcher puts before every line: srun --label, Open MPI's --tag-output and --output tag, Hydra's -l.
_LABELS = [
    re.compile(rf"^(?:{label})", re.MULTILINE)
    for label in (
        r"[ \t]*\d+:(?: |$)",
        r"\[\d+,\d+\]<std(?:out|err)>:",
        r"\[\S+@\d+,\d+\]<std(?:out|err)>:(?: |$)",
        r"\[\d+\](?: |$)",
    )
]
_TERMINALS = re.compile(r"\ufeff|\x1b\[[0-9;]*m|\r(?=\n)")  # a byte order mark, colours, a line's end of another system
_OF_UCX = r"\[\d{9,}\.\d+\] \[[^\]\n]+\].*"
# Whole lines of what stands between a program and its output: UCX, Open MPI, Slurm, Darshan, libfabric, verbs.
_WARNINGS = re.compile(
    rf"{_OF_UCX}|"
    r"\[[\w.-]+:\d+\] .*|(?:slurmstepd|slurmd|srun)(?:\[\d+\])?: .*"
    r"|darshan_library_\w+: .*|libfabric:\d+:.*|libibverbs: .*"
)


def cleaned(text: str) -> str:
    """An output without what launchers, terminals and the libraries below MPI have put into it.

    A label is taken off only where every line has it, or it may be the program's own.
    """
    text = _TERMINALS.sub("", text)
    full = [line for line in text.splitlines() if line.strip()]
    for label in _LABELS:
        if full and all(label.match(line) for line in full):
            text = label.sub("", text)
    lines = (line for line in text.splitlines(keepends=True) if not _WARNINGS.fullmatch(line.rstrip("\n")))
    return re.sub(_OF_UCX, "", "".join(lines))  # it may begin within a line, where both have one file


def warnings(output: str, errors: str) -> int:
    """How many lines of a launch are no results: those on stderr, and within stdout those of launchers and libraries
    below MPI."""
    others = (re.search(_OF_UCX, line) or _WARNINGS.fullmatch(line) for line in output.splitlines())
    return sum(map(bool, others)) + sum(bool(line.strip()) for line in errors.splitlines())


def processes(pattern: str, text: str) -> int:
    """What the last match of `pattern` says, as its group, of the number of processes; 0 where there is none."""
    found = re.findall(pattern, text, re.MULTILINE)
    return count(found[-1], "number of processes") if found else 0


def whole_lines(text: str) -> None:
    """Raises Damaged where the last line has no end: a number that is cut off is a number still."""
    if not text.endswith("\n"):
        raise Damaged("it ends within a line")


def field(name: str, text: str) -> str:
    """The word after `name`, an equals sign or colon between, of the last line that begins so. Raises Damaged."""
    found = re.findall(rf"^[ \t]*{re.escape(name)}[ \t]*[=:][ \t]*(\S+)", text, re.MULTILINE)
    if not found:
        raise Damaged(f"it lacks '{name}'")
    return str(found[-1])


def only(pattern: str, text: str, what: str) -> str:
    """What the last match of `pattern` has as its group. Raises Damaged."""
    found = re.findall(pattern, text, re.MULTILINE)
    if not found:
        raise Damaged(f"it lacks {what}")
    return str(found[-1])
