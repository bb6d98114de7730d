# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's test suite, from its source package: run on an MPI with or without the engine, compared test by test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.mpis import Mpi
from harness.setup import mpi as mpi_setup
from progress_engine.tests.third_party.fetch import MPI4PY

RANKS = Path(__file__).with_name("mpi4py_ranks.py")
# They wait for each other with time limits of their own, need a launcher that can add processes, or (ulfm) rank
# failures: none of that is the engine's, and on a busy machine they fail without it.
LEFT_OUT = ("util_sync", "util_pool", "spawn", "dynproc", "ulfm")
# What the engine touches most: some seconds a run.
TOUCHED = (
    "test_p2p_buf.py",
    "test_p2p_buf_part.py",
    "test_cco_nb_buf.py",
    "test_rma.py",
    "test_request.py",
)


NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Outcome:
    """What became of each test on each rank: (rank, test) -> passed, failed, skipped, or started and never ended."""

    status: int
    tests: dict[tuple[int, str], str] = field(default_factory=dict)
    output: str = ""
    seconds: float = 0  # where somebody asked

    def different(self, other: Outcome) -> dict[tuple[int, str], str]:
        """The tests that did not come out as in `other`, with both outcomes in words."""
        every = sorted({*self.tests, *other.tests})
        pairs = {key: (other.tests.get(key, "not run"), self.tests.get(key, "not run")) for key in every}
        return {key: f"{before} -> {after}" for key, (before, after) in pairs.items() if before != after}

    def count(self, status: str) -> int:
        return sum(found == status for found in self.tests.values())

    def __add__(self, other: Outcome) -> Outcome:
        """Of two parts of the suite."""
        return Outcome(self.status or other.status, self.tests | other.tests, self.output + other.output,
                       self.seconds + other.seconds)  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """What the engine changed, and what only looked so: `flaky` came out otherwise when it was run again."""

    changed: dict[tuple[int, str], str]
    flaky: int = 0


def modules() -> list[str]:
    """The suite's files, but for those that are left out."""
    return sorted(path.name for path in _tests().glob("test_*.py") if not re.search("|".join(LEFT_OUT), path.name))


def only(files: Iterable[str]) -> tuple[str, ...]:
    """The options that choose these of the suite's files."""
    return tuple(word for name in files for word in ("-i", f"^{re.escape(name)}$"))


def compare(
    mpi: Mpi,
    ranks: int,
    variant: str,
    outcome: Outcome,
    bare: Outcome,
    timeout_s: float = 600,
    more: Mapping[str, str] = NOTHING,
) -> Comparison:
    """What differs is run again, with and without the engine: what is not changed then as before is flaky."""
    changed = outcome.different(bare)
    if not changed:
        return Comparison({})
    files = only(sorted({f"{name}.py" for _, test in changed for name in re.findall(r"\btest_\w+", test)[:1]}))
    bare_again, again = (run(mpi, ranks, name, files, timeout_s, more) for name in ("bare", variant))
    still = {key: words for key, words in again.different(bare_again).items() if changed.get(key) == words}
    return Comparison(still, len(changed) - len(still))


def run(
    mpi: Mpi,
    ranks: int,
    variant: str,
    options: tuple[str, ...] = (),
    timeout_s: float = 600,
    more: Mapping[str, str] = NOTHING,
) -> Outcome:
    """The suite on `ranks` ranks of this machine; `variant` "bare" or a preset of the engine; `more`: environment."""
    with tempfile.TemporaryDirectory(prefix="mpi4py") as name:
        place = Path(name)
        engine = [] if variant == "bare" else [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant, "--"]
        reports = place / "reports"
        reports.mkdir()
        program = [sys.executable, str(RANKS), str(_tests()), str(reports)]
        left_out = [word for name in LEFT_OUT for word in ("-e", name)]
        ended = subprocess.run(
            ["timeout", "-k", "5", str(timeout_s), *mpi.launch_command(ranks, ranks), *engine, *program, *left_out,
             *options],
            env={**os.environ, **environment(mpi), **more}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False, cwd=place,
        )  # fmt: skip
        return Outcome(ended.returncode, _read(reports), ended.stdout)


def _tests() -> Path:
    return MPI4PY.folder() / f"mpi4py-{MPI4PY.version}" / "test"


def environment(mpi: Mpi) -> dict[str, str]:
    """Ranks that share memory and yield to each other, and the library that the wheel's module is to load."""
    mpi_setup.ensure(mpi)
    own = {"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3", "I_MPI_FABRICS": "shm"}
    return mpi.environment() | mpi.loading_environment() | own


def _read(reports: Path) -> dict[tuple[int, str], str]:
    found: dict[tuple[int, str], str] = {}
    for path in reports.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            status, name = json.loads(line)
            key = (int(path.stem), name)
            worse = found.get(key) == "failed" and status != "failed"  # a failed subtest stays one
            if not worse:
                found[key] = "never ended" if status == "start" else status
    return found
