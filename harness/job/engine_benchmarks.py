# SPDX-License-Identifier: BSD-3-Clause
"""The engine's own benchmarks, which send no message: programs of Google Benchmark, launched in a plan's order.

They have no record of a workload: what they say is kept in the session, a file a part and MPI: nanoseconds, or
instructions.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.base import process, variants
from harness.base.errors import Failure
from harness.base.mpis import Mpi
from harness.job.plan import interleave

LAUNCH_LIMIT_S = 60.0
COUNTED, CALLS = "pe_count_calls", 1000  # call_costs.cpp: the function in which a path is run, and how often
CALLGRIND = ["valgrind", "--quiet", "--tool=callgrind", "--separate-threads=yes"]
CALLGRIND += [f"--zero-before={COUNTED}", f"--dump-after={COUNTED}"]
REPETITIONS = 15  # of a benchmark within a launch
OPTIONS = ("--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.01")


@dataclass(frozen=True)
class Part:
    """One program on one MPI under these variants; under none, "" alone, where no MPI is in it. `profiled`: which of
    them is `off` with the profiler."""

    name: str
    program: str
    variants: Sequence[str]
    profiled: str = ""

    def measure(self, mpi: Mpi, launches: int, seed: int) -> dict[str, Any]:
        """Alternated launches of every variant: variant -> benchmark -> launches, each its nanoseconds."""
        found: dict[str, dict[str, list[list[float]]]] = {name: {} for name in self.variants}
        for launch in interleave(f"{self.name}.{mpi.name}", dict.fromkeys(self.variants, launches), seed):
            for benchmark, values in self._launch(mpi, launch.variant).items():
                found[launch.variant].setdefault(benchmark, []).append(values)
        return {"part": self.name, "mpi": mpi.name if any(self.variants) else "", "samples": found}

    def _launch(self, mpi: Mpi, variant: str) -> dict[str, list[float]]:
        return parse(self._said(mpi, variant, (), OPTIONS))

    def _said(self, mpi: Mpi, variant: str, through: Sequence[str], arguments: Sequence[str]) -> str:
        """What one launch of the program prints; `through`: the command that runs it, if it does not run by itself."""
        command = [*through, str(mpi.build_dir / "bin" / self.program), *arguments]
        environment = dict(os.environ)
        if variant:
            engine = "off" if variant == self.profiled else variant
            how = variants.recipe(engine, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
            if isinstance(how, str):
                raise Failure(f"{mpi.title} cannot run variant {variant}: {how}.")
            # the options are for a workload's command line; this program asks for the highest thread level by itself
            how = replace(how, workload_options=[])
            environment |= mpi.environment() | how.environment
            with tempfile.TemporaryDirectory() as folder:
                if variant == self.profiled:
                    *options, end = how.prefix
                    how = replace(how, prefix=[*options, "--profile", folder, end])
                return _said(how.line(mpi.launch_command(1, 1), command), environment)
        return _said(command, environment)

    def keep(self, mpi: Mpi, launches: int, seed: int, folder: Path) -> None:
        """Measure what `folder` lacks, and put it there whole."""
        path = folder / f"{self.name}{f'.{mpi.name}' if any(self.variants) else ''}.json"
        if path.exists():
            return
        folder.mkdir(exist_ok=True)
        partial = path.with_name(f"{path.name}.part")
        partial.write_text(json.dumps(self.measure(mpi, launches, seed), indent=1) + "\n")
        partial.replace(path)


@dataclass(frozen=True)
class CountedPart(Part):
    """The same program under Valgrind's Callgrind, which counts instructions: the same on any machine, quiet or not."""

    def _launch(self, mpi: Mpi, variant: str) -> dict[str, list[float]]:
        with tempfile.TemporaryDirectory() as folder:
            said = self._said(mpi, variant, [*CALLGRIND, f"--callgrind-out-file={folder}/profile.%p"], ["count"])
            counts = instructions([path.read_text() for path in Path(folder).iterdir()])
        names = [line for line in said.splitlines() if line.isidentifier()]
        if not names or len(names) != len(counts):
            raise Failure(f"{self.program}: Callgrind counted {len(counts)} paths of {len(names)}.")
        return {name: [count] for name, count in zip(names, counts, strict=True)}


def instructions(profiles: Iterable[str]) -> list[float]:
    """Instructions a call of each path, in the order in which they were run: of the thread that made the calls."""
    found = []
    for profile in profiles:
        facts = dict(re.findall(r"^(part|desc: Trigger|summary): (.*)$", profile, re.MULTILINE))
        if facts.get("desc: Trigger", "").endswith(f"={COUNTED}"):
            found.append((int(facts["part"]), int(facts["summary"]) / CALLS))
    return [count for _, count in sorted(found)]


def _said(command: list[str], environment: Mapping[str, str]) -> str:
    done = process.answer(command, LAUNCH_LIMIT_S, environment)
    if done.status != 0:
        how = "did not end" if done.status is None else f"ended with status {done.status}"
        raise Failure(f"{' '.join(command)} {how}: {done.last_line}")
    return done.out


def parse(text: str) -> dict[str, list[float]]:
    """Nanoseconds an iteration, a value a repetition, of each benchmark of the program."""
    found: dict[str, list[float]] = {}
    for row in json.loads(text[text.index("{") :])["benchmarks"]:
        if row["run_type"] == "iteration":
            found.setdefault(row["run_name"].split("/")[0], []).append(row["real_time"])
    return found
