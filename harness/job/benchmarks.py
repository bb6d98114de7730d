# SPDX-License-Identifier: BSD-3-Clause
"""The engine's own benchmarks, which send no message: programs of Google Benchmark, launched in a plan's order.

They have no record of a workload: what they say is kept in the session as nanoseconds, a file a part and MPI.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base import process, variants
from harness.base.errors import Failure
from harness.base.mpis import Mpi
from harness.job.plan import interleave

LAUNCH_LIMIT_S = 60.0
REPETITIONS = 15  # of a benchmark within a launch
OPTIONS = ("--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.01")


@dataclass(frozen=True)
class Part:
    """One program on one MPI under these variants; under none, "" alone, where no MPI is in it."""

    name: str
    program: str
    variants: Sequence[str]

    def measure(self, mpi: Mpi, launches: int, seed: int) -> dict[str, Any]:
        """Alternated launches of every variant: variant -> benchmark -> launches, each its nanoseconds."""
        found: dict[str, dict[str, list[list[float]]]] = {name: {} for name in self.variants}
        for launch in interleave(f"{self.name}.{mpi.name}", dict.fromkeys(self.variants, launches), seed):
            for benchmark, values in self._launch(mpi, launch.variant).items():
                found[launch.variant].setdefault(benchmark, []).append(values)
        return {"part": self.name, "mpi": mpi.name if any(self.variants) else "", "samples": found}

    def _launch(self, mpi: Mpi, variant: str) -> dict[str, list[float]]:
        command, environment = [str(mpi.build_dir / "bin" / self.program), *OPTIONS], dict(os.environ)
        if variant:
            how = variants.recipe(variant, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
            if isinstance(how, str):
                raise Failure(f"{mpi.title} cannot run variant {variant}: {how}.")
            command = [*mpi.launch_command(1, 1), *how.prefix, *command]
            environment |= mpi.environment() | how.environment
        return parse(_said(command, environment))

    def keep(self, mpi: Mpi, launches: int, seed: int, folder: Path) -> None:
        """Measure what `folder` lacks, and put it there whole."""
        path = folder / f"{self.name}{f'.{mpi.name}' if any(self.variants) else ''}.json"
        if path.exists():
            return
        folder.mkdir(exist_ok=True)
        partial = path.with_name(f"{path.name}.part")
        partial.write_text(json.dumps(self.measure(mpi, launches, seed), indent=1) + "\n")
        partial.replace(path)


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
