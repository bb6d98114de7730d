# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's test suite, from its source package: run on an MPI with or without the engine, compared test by test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.mpis import Mpi
from harness.setup.build import ABIS
from harness.setup.environment import ensure_mpis
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
LIMIT_S = 600


@dataclass(frozen=True)
class Outcome:
    """What became of each test on each rank: (rank, test) -> passed, failed, skipped, or started and never ended."""

    status: int
    tests: dict[tuple[int, str], str] = field(default_factory=dict)
    output: str = ""

    def different(self, other: Outcome) -> dict[tuple[int, str], str]:
        """The tests that did not come out as in `other`, with both outcomes in words."""
        every = sorted({*self.tests, *other.tests})
        pairs = {key: (other.tests.get(key, "not run"), self.tests.get(key, "not run")) for key in every}
        return {key: f"{before} -> {after}" for key, (before, after) in pairs.items() if before != after}


def only(files: Iterable[str]) -> tuple[str, ...]:
    """The options that choose these of the suite's files."""
    return tuple(word for name in files for word in ("-i", f"^{re.escape(name)}$"))


def changed(mpi: Mpi, ranks: int, variant: str, outcome: Outcome, bare: Outcome) -> dict[tuple[int, str], str]:
    """What the engine changes: what differs is run again, with and without it, and counts if it changed as before."""
    found = outcome.different(bare)
    if not found:
        return {}
    files = only(sorted({f"{name}.py" for _, test in found for name in re.findall(r"\btest_\w+", test)[:1]}))
    bare_again, again = (run(mpi, ranks, name, files) for name in ("bare", variant))
    return {key: words for key, words in again.different(bare_again).items() if found.get(key) == words}


def run(mpi: Mpi, ranks: int, variant: str, options: tuple[str, ...] = ()) -> Outcome:
    """The suite on `ranks` ranks of this machine; `variant` "bare" or a preset of the engine."""
    with tempfile.TemporaryDirectory(prefix="mpi4py") as name:
        place = Path(name)
        engine = [] if variant == "bare" else [str(mpi.build_dir / "bin" / "progress-run"), "--variant", variant, "--"]
        reports = place / "reports"
        reports.mkdir()
        program = [sys.executable, str(RANKS), str(_tests()), str(reports)]
        left_out = [word for name in LEFT_OUT for word in ("-e", name)]
        ended = subprocess.run(
            ["timeout", "-k", "5", str(LIMIT_S), *mpi.launch_command(ranks, ranks), *engine, *program, *left_out,
             *options],
            env={**os.environ, **environment(mpi)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False, cwd=place,
        )  # fmt: skip
        return Outcome(ended.returncode, _read(reports), ended.stdout)


def _tests() -> Path:
    return MPI4PY.folder() / f"mpi4py-{MPI4PY.version}" / "test"


def environment(mpi: Mpi) -> dict[str, str]:
    """Ranks that share memory and yield to each other, and the library that the wheel's module is to load."""
    ensure_mpis(mpi)
    own = {"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3", "I_MPI_FABRICS": "shm"}
    abi = {"MPI4PY_MPIABI": "mpiabi"} if mpi.name in ABIS else {}
    return mpi.environment() | mpi.loading_environment() | own | abi


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
