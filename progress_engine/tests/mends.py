#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes each mend of mends_table.py out of a copy of the engine, and sees that its test then fails.

    .venv/bin/python -m progress_engine.tests.mends [--results FILE] [--at-most N] [WORDS]...

With words: the mends whose names contain them all. With --results each row is noted in the file (build/mends/results,
say: one that git ignores) with its commit, and rows that it has of this commit are left out; with --at-most the first N
that are left are run. So all can be run in several calls. The copy is build/mends/source; its build is kept, so that
only what an edit concerns is compiled again. About a minute a mend on two cores.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.base import git
from harness.base.mpis import MPIS
from harness.base.paths import ROOT

from .mend import Edit, Mend
from .mends_results import failing, note, state_of
from .mends_table import MENDS

COPY = ROOT / "build" / "mends" / "source"
ENGINE = ("progress_engine", "progress-run", "progress-info")
# Last words of pytest and of GoogleTest, if at least one case ran.
SOME_RAN = re.compile(r"\b[1-9]\d* (passed|failed)|\[==========\] [1-9]\d* tests? from .* ran\.")
# What the tests need that git ignores.
TOOLS = (".venv", ".mpi")


def tracked_files() -> list[str]:
    said = git.ask(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if said.status != 0:
        raise SystemExit(f"mends: {said.last_line}: only a clone knows its own files.")
    return [name for name in said.out.split("\0") if name and (ROOT / name).is_file()]


def copy_sources() -> None:
    """Only what has changed: the build is by time stamps."""
    for name in tracked_files():
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for name in TOOLS:
        link = COPY / name
        if not link.is_symlink():
            link.symlink_to((ROOT / name).resolve())


def folder(mpi: str) -> Path:
    return COPY / "build" / mpi


def needed_by(test: str) -> tuple[str, ...]:
    """Targets: a unit test has the engine's sources in itself."""
    program, unit, _ = test.partition(":")
    return (program,) if unit else ENGINE


def build(mpi: str, targets: Iterable[str]) -> str:
    """What the compiler said if it failed, else nothing."""
    configure = [str(ROOT / ".venv/bin/cmake"), "--preset", mpi, "-DOVERLAP_BENCH_TESTS=ON"]
    steps = [] if (folder(mpi) / "build.ninja").exists() else [configure]
    for step in [*steps, [str(ROOT / ".venv/bin/ninja"), "-C", str(folder(mpi)), *targets]]:
        ended = subprocess.run(step, cwd=COPY, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            return ended.stdout[-2000:] + ended.stderr[-2000:]
    return ""


@dataclass(frozen=True)
class Outcome:
    """Of a test: how many cases ran, and whether all passed."""

    ran: bool
    passed: bool
    said: str


def run_test(test: str, mpi: str, full: bool) -> Outcome:
    program, unit, cases = test.partition(":")
    if unit:
        command = [str(folder(mpi) / "bin" / program), f"--gtest_filter={cases}"]
    else:
        file, *rest = shlex.split(test)
        chosen = ["-m", "not full"] if mpi == "mpich" and not full else []
        path = f"progress_engine/tests/{file}"
        command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", *chosen, path, *rest]
    ended = subprocess.run(command, cwd=COPY, capture_output=True, text=True, check=False, env=dict(os.environ))
    said = ended.stdout[-1500:] + ended.stderr[-500:]
    return Outcome(SOME_RAN.search(said) is not None, ended.returncode == 0, said)


def apply(edits: tuple[Edit, ...]) -> None:
    for edit in edits:
        path = COPY / "progress_engine" / edit.file
        text = path.read_text()
        if text.count(edit.old) != 1:
            raise SystemExit(f"{edit.file} has {text.count(edit.old)} times, not once: {edit.old!r}")
        path.write_text(text.replace(edit.old, edit.new))


def restore(edits: tuple[Edit, ...]) -> None:
    for edit in edits:
        (COPY / "progress_engine" / edit.file).write_text((ROOT / "progress_engine" / edit.file).read_text())


def verdict_without(mend: Mend) -> str:
    """Nothing if its test fails without it; else what is wrong."""
    apply(mend.edits)
    try:
        if said := build(mend.mpi, needed_by(mend.test)):
            return f"does not compile without it:\n{said}"
        without = run_test(mend.test, mend.mpi, mend.full)
        if not without.ran:
            return f"no test ran: {mend.test}\n{without.said}"
        return f"{mend.test} passes without it" if without.passed else ""
    finally:
        restore(mend.edits)


def parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mends")
    parser.add_argument("--results", type=Path, metavar="FILE", help="note each row here; leave out what it has")
    parser.add_argument(
        "--at-most", type=int, metavar="N", default=len(MENDS), help="of those that are left, the first"
    )
    parser.add_argument("words", nargs="*", help="of the names of mends")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    options = parsed(arguments)
    mends = [mend for mend in MENDS if all(word in mend.name for word in options.words)]
    if not mends:
        print(f"mends: no mend has the words {' '.join(options.words)}.", file=sys.stderr)
        return 2
    for mpi in sorted({mend.mpi for mend in mends if not MPIS[mend.mpi].installed()}):
        print(f"mends: {MPIS[mpi].title} is not installed: what shows on it alone is left out", file=sys.stderr)
    state = state_of(ROOT) if options.results else ""
    known = failing(options.results, state) if options.results else set()
    mends = [mend for mend in mends if MPIS[mend.mpi].installed() and mend.name not in known]
    return run_all(mends[: options.at_most], options.results, state)


def run_all(mends: list[Mend], results: Path | None, state: str) -> int:
    copy_sources()
    mpis = sorted({mend.mpi for mend in mends})
    targets: dict[str, set[str]] = {mpi: set() for mpi in mpis}
    for mend in mends:
        targets[mend.mpi] |= set(needed_by(mend.test))
    if said := "".join(build(mpi, targets[mpi]) for mpi in mpis):
        print(said, file=sys.stderr)
        return 1
    wrong = 0
    failing_anyway = set()
    for test, mpi, full in dict.fromkeys((mend.test, mend.mpi, mend.full) for mend in mends):
        whole = run_test(test, mpi, full)
        if not whole.ran or not whole.passed:
            print(f"mends: {test} does not pass as it is:\n{whole.said}", file=sys.stderr)
            failing_anyway.add((test, mpi))
    for mend in mends:
        anyway = (mend.test, mend.mpi) in failing_anyway
        said = "its test does not pass as it is" if anyway else verdict_without(mend)
        wrong += bool(said)
        if results:
            note(results, state, mend, said)
        print(f"{'WRONG' if said else 'fails'}  {mend.name}: {mend.test}{': ' + said if said else ''}", flush=True)
    for mpi in mpis:
        build(mpi, targets[mpi])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
