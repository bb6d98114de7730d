# SPDX-License-Identifier: BSD-3-Clause
"""A notebook's session: the committed reference unless another one is named, and what is said and shown of it.

book = Book("results/reference/demo")
book.states("MPICH hides [0.25] of it.", book.value(MetricAt("overlap_efficiency", "bare", ...), STUDY, mpi="mpich"))

A number stands in brackets, as it was on the reference session: "MPICH hides [0.25] of it". It is checked there against
the value given with the sentence; on another session the value takes its place, written in the same way.
"""

from __future__ import annotations

import importlib
import io
import json
import math
import os
import re
import shlex
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

from analysis.claims.table import ClaimTable, build
from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.render import figure_of
from analysis.figures.toolkit import Drawn
from analysis.records.load import load
from analysis.statistics.interval import Interval
from analysis.subject import Measure, Subject, of_paper, published, subjects
from analysis.words import mpi_title, plain, seconds_text, text
from harness.base import paths

Value = float | int | str | Interval
NUMBER = re.compile(r"\[([^\]]+)\]")
TIME = re.compile(r"^[−\d.]+ (s|ms|µs|ns)$")


class Mismatch(AssertionError):  # noqa: N818 - the name says it
    """A sentence says a number that the session does not have."""


def like(value: Value, sample: str) -> str:
    """The value written as the sample is: with as many digits, in per cent, as a time, with its interval."""
    if isinstance(value, str):
        return value
    if isinstance(value, Interval) and " to " in sample:
        digits = _digits(sample.partition(" ")[0])
        shown, low, high = (plain(number, digits) for number in (value.value, value.low, value.high))
        return f"{shown} ({low} to {high})"
    number = value.value if isinstance(value, Interval) else float(value)
    if TIME.match(sample):
        return seconds_text(number).replace("-", "−")
    if sample.endswith(" %"):
        return f"{plain(100 * number, _digits(sample.removesuffix(' %')))} %"
    return plain(number, _digits(sample))


def _digits(number: str) -> int:
    return len(number.partition(".")[2])


def known(value: Value | None) -> bool:
    """Whether there is a value at all."""
    number = value.value if isinstance(value, Interval) else value
    return number is not None and not (isinstance(number, float) and math.isnan(number))


def fill(sentence: str, values: Sequence[Value]) -> tuple[str, list[str]]:
    """The sentence with these values for its numbers, and how the two differ: 'it says 0.25, computed is 0.31'."""
    samples = NUMBER.findall(sentence)
    if len(samples) != len(values):
        raise Mismatch(f"{len(samples)} numbers in brackets and {len(values)} values: {sentence}")
    said = [like(value, sample) for value, sample in zip(values, samples, strict=True)]
    different = [f"it says {old}, computed is {new}" for old, new in zip(samples, said, strict=True) if old != new]
    in_turn = iter(said)
    return NUMBER.sub(lambda _: next(in_turn), sentence), different


ROOT = Path(__file__).resolve().parents[2]
GATE = Path("gate") / "gate.json"
OF_GATES = [
    "session", "baseline", "candidate", "verdict", "rounds", "point", "candidate / baseline", "from", "to",
    "its copy / baseline",
]  # fmt: skip
VARIABLE = "OVERLAP_BENCH_SESSION"  # what ./bench notebook --session sets


class Book:
    """`reference`: the sessions that the prose was written on. `session`: others, names or folders with blanks between;
    empty: those of the environment variable OVERLAP_BENCH_SESSION, or the reference. `least`: how many it takes."""

    def __init__(self, reference: str, session: str = "", least: int = 1) -> None:
        asked = shlex.split(session or os.environ.get(VARIABLE, "") or reference)
        if len(asked) < least:
            raise UsageError(f"{' '.join(asked)}: {least} sessions are needed here, with a blank between them")
        self.sessions = [folder for name in asked for folder in folders(name)]
        self.records = load(self.sessions)
        self.evidence = Evidence(self.records)
        names = {facts["session"] for facts in self.records.sessions}
        self.is_reference = names == {_name(it) for name in shlex.split(reference) for it in folders(name)}
        for caution in self.records.cautions():
            show(Sentence(f"**Mind:** {caution}"))

    @cached_property
    def how(self) -> str:
        """How the sessions came to their numbers: "measured", "predicted" by a model, or some of them each way."""
        kinds = {
            "predicted" if self.records.simulated(facts["session"]) else "measured" for facts in self.records.sessions
        }
        return " or ".join(sorted(kinds))

    def recorded(self, study: str) -> bool:
        """Whether the session has points of a study."""
        return study in set(self.records.launches["study"])

    def value(self, measure: Measure, study: str, **setting: str) -> Interval | None:
        """The value of a measure in a setting (mpi=, system=, session=); None where it was not measured.

        On the reference session there must be one, or the notebook is not clear; on others the first one counts.
        """
        values = measure(self.evidence, study) if self.recorded(study) else []
        found = [value for value in values if all(getattr(value, name) == it for name, it in setting.items())]
        if self.is_reference and len(found) > 1:
            raise UsageError(f"{study}: {len(found)} values where one is meant: {[value.point for value in found]}")
        return found[0].interval if found else None

    def states(self, sentence: str, *values: Value | None, holds: Any = True) -> None:
        """Say the sentence. Its numbers, in brackets, are `values`; its words are true where `holds`.

        On the reference session both are checked: Mismatch otherwise. On another its own numbers are said.
        """
        there = [value for value in values if value is not None and known(value)]
        if len(there) < len(values):
            if self.is_reference:
                raise Mismatch(f"not in the session: {sentence}")
            show(Sentence(f"*Not {self.how} in this session:* {fill(sentence, ['…'] * len(values))[0]}"))
            return
        said, different = fill(sentence, there)
        if self.is_reference and (different or not holds):
            raise Mismatch(f"{'; '.join(different) or 'the words do not hold'}: {sentence}")
        show(Sentence(said if holds else f"*Not so in this session:* {said}"))

    @cached_property
    def _decided(self) -> ClaimTable:
        return build(self.records, self.evidence.metrics, subjects())

    def claims(self, paper: str) -> pd.DataFrame:
        """The paper's claims as this session decides them: a row a claim and setting."""
        ours = {subject.id for subject in of_paper(paper)}
        rows = [
            {
                "study": row.study,
                "claim": row.claim,
                "MPI": mpi_title(row.mpi),
                self.how: "–" if row.value is None else f"{text(row.value)} ({text(row.low)} to {text(row.high)})",
                "wanted": row.wanted,
                "decision": row.decision,
                "remarks": row.reason,
            }
            for row in self._decided.rows
            if row.study in ours
        ]
        return pd.DataFrame(rows)

    def gates(self) -> pd.DataFrame:
        """What the sessions among these that are gates have told: a row a gate and point."""
        told = [json.loads((it / GATE).read_text()) for it in self.sessions if (it / GATE).is_file()]
        rows = [
            [gate["session"], gate["base"], gate["new"], gate["verdict"], gate["rounds"], point["name"],
             *(point[of] for of in ("ratio", "low", "high", "control"))]
            for gate in told
            for point in gate["points"]
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=OF_GATES)

    def decided(self, paper: str, decision: str) -> int:
        """How often a decision was reached."""
        return int((self.claims(paper)["decision"] == decision).sum())

    def published(self, paper: str) -> pd.DataFrame:
        """The numbers that stand in the paper."""
        frame = published()
        columns = ["study", "quantity", "relation", "value", "high", "unit", "condition", "source"]
        return frame.loc[frame["study"].isin([subject.id for subject in of_paper(paper)]), columns]

    def draw(self, subject: Subject) -> list[str]:
        """Show a subject's figures; returns their names."""
        drawn = [it for figure in subject.figures for it in figure(self.evidence, toolkit.provenance(self.records))]
        for figure in drawn:
            show(Picture(figure))
        return [figure.name for figure in drawn]


class Sentence(str):
    """Text that Jupyter shows as Markdown."""

    __slots__ = ()

    def _repr_markdown_(self) -> str:
        return str(self)


class Picture:
    """A figure that Jupyter shows; drawn when it is shown."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        with mpl.rc_context(toolkit.RC):
            figure_of(self.drawn).savefig(file, dpi=130)
        return file.getvalue()


def show(thing: Any) -> None:
    """Show it in Jupyter; without Jupyter print what is text."""
    if "ipykernel" in sys.modules:
        importlib.import_module("IPython.display").display(thing)
    elif isinstance(thing, str):
        print(thing)


def folders(name: str) -> list[Path]:
    """Sessions' folders by a path, from here or from the repository, or by a name; an archive's are all that it has."""
    results = Path(os.environ.get("OVERLAP_BENCH_RESULTS", ROOT / "results"))
    for path in (Path(name), ROOT / name, results / name):
        if (found := paths.sessions_of(path))[0].is_dir():
            return found
    raise UsageError(f"{name}: no such session; give a folder like results/<session>, or latest")


def _name(session: Path) -> str:
    name: str = json.loads((session / "session.json").read_text())["session"]
    return name
