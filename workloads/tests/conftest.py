# SPDX-License-Identifier: BSD-3-Clause
"""Launching the workloads on each MPI that is installed and built, for the tests of this folder."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.base import process
from harness.base.mpis import MPIS, WHEEL_MPIS, Mpi
from harness.base.paths import SCHEMA
from harness.tests import compiler

TIMEOUT_S = 120

# A repetition, whatever it takes: for what verifies itself.
ONCE = ("--min-samples=1", "--max-samples=1", "--warmup=0", "--time-box-s=60")
OVERLAP = {
    *("comm_s", "comp_s", "total_s", "comp_in_s", "post_s", "wait_s", "test_s", "ack_s", "cpu_s"),
    *("application_voluntary_switches", "application_involuntary_switches"),
    *("other_voluntary_switches", "other_involuntary_switches"),
}
VALIDATOR = Draft202012Validator(json.loads(SCHEMA.read_text()))

# A build tree other than build/<mpi>, for whoever works on this folder alone: <this folder>/<mpi>.
BUILDS = os.environ.get("OVERLAP_BENCH_BUILDS")


@dataclass
class Result:
    status: int
    errors: str
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def points(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if "point" in line]

    @property
    def header(self) -> dict[str, Any]:
        header: dict[str, Any] = self.lines[0]["header"]
        return header

    @property
    def end(self) -> dict[str, Any]:
        end: dict[str, Any] = self.lines[-1]["end"]
        return end


def assert_valid(result: Result) -> None:
    """Every line obeys the record schema."""
    for number, line in enumerate(result.lines, 1):
        errors = [f"line {number}: {error.message}" for error in VALIDATOR.iter_errors(line)]
        assert not errors, errors


@dataclass(frozen=True)
class Launcher:
    mpi: Mpi
    build: Path
    folder: Path
    program: str = "microbench"
    variant: str = "bare"
    timeout_s: float = TIMEOUT_S

    def of(self, program: str, variant: str = "bare") -> Launcher:
        """The same for another workload, or under the engine."""
        if not (self.build / "bin" / program).exists():
            pytest.skip(f"{program} is not built for {self.mpi.title}: with --full it is, where its libraries are")
        return replace(self, program=program, variant=variant)

    def within(self, timeout_s: float) -> Launcher:
        """The same for what computes long, on a machine that is busy with more."""
        return replace(self, timeout_s=timeout_s)

    def environment(self) -> dict[str, str]:
        return os.environ | self.mpi.environment("shm")

    def command(self, ranks: int, *arguments: str, preload: str | None = None) -> list[str]:
        # on the ranks alone, not on the launcher
        prefix = ["env", f"LD_PRELOAD={self._compiled(preload)}"] if preload else []
        program = [*prefix, str(self.build / "bin" / self.program), *arguments]
        engine = [str(self.build / "bin" / "progress-run"), "--variant", self.variant, "--"]
        return [*self.mpi.launch_command(ranks, ranks), *(engine if self.variant != "bare" else []), *program]

    def _compiled(self, preload: str) -> Path:
        library = self.folder / f"{preload}.so"
        source = Path(__file__).parent / "faults.c"
        return compiler.compiled(self.mpi.mpicc, self.mpi, source, library, "-shared", "-fPIC", f"-D{preload}")

    def run(self, ranks: int, *arguments: str, preload: str | None = None, **environment: str) -> Result:
        """Runs the workload; its record is read unless the arguments name an output of their own."""
        output = self.folder / "record.jsonl"
        own_output = any(argument.startswith("--output") for argument in arguments)
        if not own_output:
            arguments = (*arguments, f"--output={output}")
        command = self.command(ranks, *arguments, preload=preload)
        # not subprocess.run: given up, it kills mpiexec alone, and Open MPI's ranks would compute on
        said = process.answer(command, self.timeout_s, self.environment() | environment)
        if said.status is None:
            raise subprocess.TimeoutExpired(command, self.timeout_s, said.out, said.err)
        lines = output.read_text().splitlines() if output.exists() else []
        return Result(said.status, said.err, [json.loads(line) for line in lines])


def full(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.full)


def measure(launcher: Launcher, ranks: int, benchmark: str, *points: str, options: tuple[str, ...] = ONCE) -> Result:
    """A launch that must succeed; each workload verifies its own result."""
    result = launcher.run(ranks, benchmark, *(f"--point={point}" for point in points), *options)
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert {line["status"] for line in result.points} == {"ok"}
    assert len(result.points) == ranks * len(points)
    return result


def assert_failed(result: Result, *words: str) -> None:
    """No point was right, and each says why."""
    assert result.status == 1
    assert_valid(result)
    for line in result.points:
        assert (line["status"], line["samples"]) == ("failed", {})
        assert all(word in line["reason"] for word in words), line["reason"]
        assert line["reason"] in result.errors


def assert_refused(result: Result, program: str, *parts: str) -> None:
    """One sentence with these parts, of rank 0 alone; launchers may add words of their own."""
    assert result.status == 2
    assert all(part in result.errors for part in parts), result.errors
    assert result.errors.count(f"{program}: ") == 1, result.errors
    assert result.lines == []


def built_launcher(name: str, folder: Path) -> Launcher:
    mpi = MPIS[name]
    if not mpi.installed():
        pytest.skip(f"{name} is not installed")
    build = Path(BUILDS) / name if BUILDS else mpi.build_dir
    if not (build / "bin" / "microbench").exists():
        pytest.skip(f"the workloads are not built for {name}")
    return Launcher(mpi, build, folder)


@pytest.fixture(params=["mpich", "openmpi", full("intel-mpi")])
def launcher(request: pytest.FixtureRequest, tmp_path: Path) -> Launcher:
    """On MPICH and Open MPI, and with --full on Intel MPI, which is of MPICH's family."""
    return built_launcher(request.param, tmp_path)


@pytest.fixture(params=["mpich", *(full(name) for name in WHEEL_MPIS if name != "mpich")])
def mpich_first(request: pytest.FixtureRequest, tmp_path: Path) -> Launcher:
    """On MPICH, and with --full on each MPI: for what is the workload's more than the MPI's."""
    return built_launcher(request.param, tmp_path)


@pytest.fixture
def mpich(tmp_path: Path) -> Launcher:
    """On MPICH alone, whose launcher is the quickest: for what no MPI changes."""
    return built_launcher("mpich", tmp_path)
