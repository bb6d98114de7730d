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
from shutil import copytree, unpack_archive
from typing import Any

from harness.base.mpis import MPIS, Mpi
from harness.base.paths import STATE_DIR
from harness.base.process import setup_lock
from harness.setup.build import ABIS, ensure_mpis

RANKS = Path(__file__).with_name("mpi4py_ranks.py")
# They wait for each other with time limits of their own, need a launcher that can add processes, or (ulfm) rank
# failures: none of that is the engine's, and on a busy machine they fail without it.
LEFT_OUT = ("util_sync", "util_pool", "spawn", "dynproc", "ulfm")
# What the engine touches most: some seconds a run.
TOUCHED = ("test_p2p_buf.py", "test_p2p_buf_part.py", "test_cco_nb_buf.py", "test_rma.py", "test_request.py")
LIMIT_S = 600


@dataclass(frozen=True)
class Outcome:
    """What became of each test on each rank: (rank, test) -> passed, failed, skipped, or started and never ended."""

    status: int
    tests: dict[tuple[int, str], str] = field(default_factory=dict)
    output: str = ""
    reports: tuple[dict[str, Any], ...] = ()  # the engine's, of each rank that wrote one

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
        report = f"report_file={place}/engine.%r"
        engine = [] if variant == "bare" else [str(progress_run(mpi)), "--variant", variant, "--set", report, "--"]
        reports = place / "reports"
        reports.mkdir()
        program = [sys.executable, str(RANKS), str(_source() / "test"), str(reports)]
        left_out = [word for name in LEFT_OUT for word in ("-e", name)]
        ended = subprocess.run(
            ["timeout", "-k", "5", str(LIMIT_S), *mpi.launch_command(ranks, ranks), *engine, *program, *left_out,
             *options],
            env={**os.environ, **environment(mpi)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False, cwd=place,
        )  # fmt: skip
        said = tuple(json.loads(path.read_text()) for path in sorted(place.glob("engine.*")))
        return Outcome(ended.returncode, _read(reports), ended.stdout, said)


def _source() -> Path:
    return MPI4PY.folder() / f"mpi4py-{MPI4PY.version}"


def progress_run(mpi: Mpi) -> Path:
    """MPICH's for the standard's ABI, too: it goes by mpi4py's variable."""
    return (MPIS["mpich"] if mpi.name in ABIS else mpi).build_dir / "bin" / "progress-run"


def of_the_standards_abi() -> Path:
    """The folder of an mpi4py that MPICH's wrapper has compiled, once: PyPI's wheels have none for this ABI."""
    place = STATE_DIR / "third_party" / f"mpi4py-{MPI4PY.version}-standard-abi-{sys.implementation.cache_tag}"
    if not place.exists():
        source, tools = _source(), os.pathsep.join(str(tool.folder()) for tool in BUILT_WITH)
        wrapper = str(MPIS["mpich"].bin / ABIS["standard-abi"].wrapper)
        own = {"PYTHONPATH": tools, "MPI4PY_BUILD_MPICC": wrapper, "MPI4PY_BUILD_MPIABI": "1", "CFLAGS": "-O0"}
        with tempfile.TemporaryDirectory(dir=place.parent) as name:
            copy, made = copytree(source, Path(name, "source")), Path(name, "made")
            build = [sys.executable, "setup.py", "-q", "build", f"--build-lib={made}"]
            subprocess.run(build, cwd=copy, env=os.environ | own, check=True, timeout=900)
            if not place.exists():  # another process may have been faster
                made.rename(place)
    return place


def environment(mpi: Mpi) -> dict[str, str]:
    """Ranks that share memory and yield to each other, and the library that mpi4py's module is to load."""
    ensure_mpis(mpi)
    own = {"OMPI_MCA_mpi_yield_when_idle": "1", "I_MPI_THREAD_YIELD": "3", "I_MPI_FABRICS": "shm"}
    abi = {"MPI4PY_MPIABI": "mpiabi", "PYTHONPATH": str(of_the_standards_abi())} if mpi.name in ABIS else {}
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


# What these tests need from PyPI beyond uv.lock: pinned with its hash, unpacked once below .bench.
@dataclass(frozen=True)
class Archive:
    """One file of a PyPI project; `sha256` names which: its source package or its wheel."""

    project: str
    version: str
    sha256: str
    source: bool

    @property
    def place(self) -> Path:
        return STATE_DIR / "third_party" / f"{self.project}-{self.version}"

    def folder(self) -> Path:
        """The unpacked archive, downloaded at the first call. Safe to call from several processes."""
        with setup_lock():
            if not self.place.exists():
                self.place.parent.mkdir(parents=True, exist_ok=True)
                self._download()
        return self.place

    def _download(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.place.parent) as name:
            wanted = Path(name) / "wanted.txt"
            wanted.write_text(f"{self.project}=={self.version} --hash=sha256:{self.sha256}\n")
            kind = "--no-binary" if self.source else "--only-binary"
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q", "--no-deps"]
            command = [*pip, kind, self.project, "--require-hashes", "-r", str(wanted), "-d", name]
            subprocess.run(command, check=True, timeout=240)
            (archive,) = (path for path in Path(name).iterdir() if path != wanted)
            unpacked = Path(name) / "unpacked"
            unpack_archive(archive, unpacked, "gztar" if self.source else "zip")
            unpacked.rename(self.place)


MPI4PY = Archive("mpi4py", "4.1.2", "56860286dc45f20e8821e93cb06669e30462348bf866f685553fa4b712d58d02", source=True)
# Nothing of theirs is compiled, so that one file fits every machine.
BUILT_WITH = (
    Archive("cython", "3.3.1", "61abc7feedd20dac6c4ff7ab3a30e17136a067b242ab9253e2b4a6d9a72c2b61", source=False),
    Archive("setuptools", "84.2.1", "ca140b45d5325a9478f880e351484f62fef15f336462e449ca0c03c873d589c2", source=False),
)
# IMB-MT of Intel's wheel is linked with Intel's OpenMP run time, which has a wheel of its own.
INTEL_OPENMP = Archive(
    "intel-openmp", "2026.2.0", "2308a1a3e74718a9cd8cccf218c34d8cd80b43d3b89dfbb01b38dee205c50980", source=False
)
