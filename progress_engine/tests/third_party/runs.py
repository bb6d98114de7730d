# SPDX-License-Identifier: BSD-3-Clause
"""The runs of other people's suites that were really made: data, and docs/measured/third-party.md's tables.

Committed, since nobody repeats all of them at every change; the tests compare the tables with the data.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from progress_engine.tests.conftest import PRESETS

DATA = Path(__file__).with_name("runs.jsonl")
DOCUMENT = ROOT / "docs" / "measured" / "third-party.md"
BEGIN, END = "<!-- runs: generated -->\n", "<!-- end of runs -->\n"
VARIANTS = ("bare", *PRESETS, "offload")


@dataclass(frozen=True)
class Run:
    """One suite under one variant. `result`: "same" as bare, "ended" (of bare itself), or what was different, in words.

    `commit` names the engine; `flaky` tests differed once and not again; `seconds` is wall time, on a shared machine.
    """

    date: str
    commit: str
    suite: str
    mpi: str
    ranks: int
    variant: str
    result: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    flaky: int = 0
    seconds: int = 0

    @property
    def cell(self) -> tuple[str, str, int, str]:
        return self.suite, self.mpi, self.ranks, self.variant

    @property
    def words(self) -> str:
        flaky = f", {self.flaky} flaky" if self.flaky else ""
        if self.result == "ended":
            return f"{self.passed} + {self.failed} + {self.skipped}"
        return (self.result if self.result == "same" else "**different**") + flaky


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def engine_commit() -> str:
    command = ["git", "log", "-1", "--format=%h", "--", "progress_engine/src", "progress_engine/presets.json"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def load() -> list[Run]:
    return [Run(**json.loads(line)) for line in DATA.read_text().splitlines()] if DATA.exists() else []


def save(run: Run) -> None:
    """Keep this run in place of an earlier one of the same cell, and write the tables anew."""
    with DATA.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one writer at a time
        _save(run)


def _save(run: Run) -> None:
    runs = [other for other in load() if other.cell != run.cell] + [run]
    runs.sort(key=lambda one: (one.suite, list(MPIS).index(one.mpi), one.ranks, VARIANTS.index(one.variant)))
    DATA.write_text("".join(json.dumps(asdict(one)) + "\n" for one in runs))
    put_between(DOCUMENT, tables(runs))


def put_between(document: Path, text: str) -> None:
    """Write the generated part of a document anew."""
    head, _, rest = document.read_text().partition(BEGIN)
    document.write_text(head + BEGIN + text + END + rest.partition(END)[2])


def between(document: Path) -> str:
    """The generated part of a document."""
    return document.read_text().partition(BEGIN)[2].partition(END)[0]


def tables(runs: Iterable[Run]) -> str:
    """A table for each suite: a row for each MPI and number of ranks, a column for each variant."""
    by_suite: dict[str, dict[tuple[str, int], dict[str, Run]]] = {}
    for run in runs:
        by_suite.setdefault(run.suite, {}).setdefault((run.mpi, run.ranks), {})[run.variant] = run
    return "".join(_table(suite, rows) for suite, rows in by_suite.items()) + _engines(by_suite) + _differences(runs)


def _table(suite: str, rows: dict[tuple[str, int], dict[str, Run]]) -> str:
    text = f"\n### {suite}\n\n| MPI | ranks | {' | '.join(VARIANTS)} |\n|---|---|{'---|' * len(VARIANTS)}\n"
    for (mpi, ranks), runs in rows.items():
        cells = [runs[variant].words if variant in runs else "not run" for variant in VARIANTS]
        text += f"| {MPIS[mpi].title} | {ranks} | {' | '.join(cells)} |\n"
    return text + "\n"


def _engines(by_suite: dict[str, dict[tuple[str, int], dict[str, Run]]]) -> str:
    """Which engine each run had: suites with the same ones share a row."""
    presets = VARIANTS[1:]
    suites_of: dict[tuple[str, int, tuple[str, ...]], list[str]] = {}
    for suite, rows in by_suite.items():
        for (mpi, ranks), runs in rows.items():
            had = tuple(_engine(runs[name]) if name in runs else "not run" for name in presets)
            suites_of.setdefault((mpi, ranks, had), []).append(suite)
    text = "\n### Which engine: commit and day of November 2026\n\n"
    text += f"| MPI | ranks | suites | {' | '.join(presets)} |\n|---|---|---|{'---|' * len(presets)}\n"
    for (mpi, ranks, had), suites in suites_of.items():
        text += f"| {MPIS[mpi].title} | {ranks} | {', '.join(suites)} | {' | '.join(had)} |\n"
    return text + "\n"


def _engine(run: Run) -> str:
    return f"{run.commit}, {int(run.date[-2:])}."


def _differences(runs: Iterable[Run]) -> str:
    text = ""
    for run in runs:
        if run.result not in ("same", "ended"):
            text += f"- {run.suite}, {MPIS[run.mpi].title}, {run.ranks} ranks, {run.variant}: {run.result}\n"
    return f"What was different:\n\n{text}\n" if text else ""
