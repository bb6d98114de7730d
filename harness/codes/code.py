# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a code: where it comes from, what it is called there, and the cases in which it is run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.codes.output import Parser, Value


@dataclass(frozen=True)
class Quantity:
    """As a record's header declares it."""

    unit: str
    better: str
    leading: bool = False

    def declared(self) -> dict[str, Any]:
        return {"unit": self.unit, "better": self.better, "leading": self.leading}


RANKS = "{ranks}"
TIME = Quantity("s", "lower")
LEADING_TIME = Quantity("s", "lower", leading=True)
SHARE = Quantity("1", "higher")
RATE = Quantity("B/s", "higher")
LEADING_RATE = Quantity("B/s", "higher", leading=True)


@dataclass(frozen=True)
class Case:
    """One way to run a code.

    `arguments`: "{axis}" alone stands for the values of that axis among the points that are asked for, within a word
    for its only value; "{ranks}", in `files` too, for how many ranks there are: `ranks`, and where `any_ranks` holds as
    many as a run asks for. `points`: axis -> values, lines of the code's own output. `quantities`: what is read there;
    the whole time counts where none of them leads. `others`: what the program is called elsewhere. `files`: what it
    reads in its folder, by name. `copies`: files of the code's own installation that it reads there, too: of each the
    patterns, from the folder of its program. `prepare`: commands that are run in the folder before anything is
    launched, each a program of the code's and its arguments. `written`: the file that holds its results, a pattern,
    where it does not print them. `result`: a regular expression of the right one, where the code does not verify it
    by itself. `environment`: variables that it is given. `folders`: variables of the environment that name a folder
    of its installation, from that of its program. `driver`: a script beside this file through which `program`, which
    launches by itself, is run. `built`: what that builds, a pattern from the folder above its program's, with the axes
    of the points and "{label}", the MPI's name, in it.
    """

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    parser: Parser
    points: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    quantities: Mapping[str, Quantity] = field(default_factory=dict)
    ranks: int = 2
    any_ranks: bool = False
    result: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    copies: tuple[tuple[str, ...], ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    written: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    driver: str = ""
    built: str = ""

    def programs(self) -> list[str]:
        """The names by which its program is looked for."""
        return [self.program, *self.others]

    def words(self, points: Sequence[Mapping[str, Any]]) -> list[str]:
        """The arguments with which these points are measured."""
        arguments = [argument.replace(RANKS, str(self.ranks)) for argument in self.arguments]
        return [word for argument in arguments for word in _filled(argument, points)]

    def builds(self, points: Sequence[Mapping[str, Any]], label: str) -> list[str]:
        """The patterns of what its driver builds for these points, each once."""
        return list(dict.fromkeys(self.built.format(label=label, **point) for point in points if self.built))

    def texts(self) -> dict[str, str]:
        """The files that it reads, by name."""
        return {name: text.replace(RANKS, str(self.ranks)) for name, text in self.files.items()}


def _filled(argument: str, points: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    for axis in points[0] if points else ():
        values = list(dict.fromkeys(str(point[axis]) for point in points))
        if argument == f"{{{axis}}}":
            return values
        argument = argument.replace(f"{{{axis}}}", values[0])
    return [argument]


@dataclass(frozen=True)
class Code:
    """`names`: its programs, any of which shows that it is there; `wheel`: the MPI of harness.base.mpis whose wheels
    have it; `debian`: packages, linked to Debian's default MPI unless the title names another; `places`: folders of
    theirs that are not on PATH, as patterns from /; `files`: what else of theirs it needs, likewise; `spack`: its
    package there; `variable`: of the environment, names its folder; `note`: what else to know.
    """

    name: str
    title: str
    names: tuple[str, ...]
    debian: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    spack: str = ""
    wheel: str = ""
    variable: str = ""
    cases: tuple[Case, ...] = ()
    note: str = ""

    def how_to_get(self) -> str:
        """In words."""
        return "; or ".join(self._ways()) or self.note

    def remark(self) -> str:
        """The note, where how_to_get has not said it already."""
        return self.note if self._ways() else ""

    def absent(self) -> str:
        """Why it cannot be run where it is not found."""
        return f"not found, install it with: {self.how_to_get()}" if self._ways() else f"not found: {self.note}"

    def _ways(self) -> list[str]:
        ways = [
            f"./bench apps install {self.name}" if self.debian or self.wheel else "",
            f"spack install {self.spack}" if self.spack else "",
        ]
        return list(filter(None, ways))
