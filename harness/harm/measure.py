# SPDX-License-Identifier: BSD-3-Clause
"""Runs one workload on one MPI under bare and other variants, alternated. A piece is that, with its samples."""

from __future__ import annotations

import datetime
import json
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from harness import machine, variants
from harness.harm.cover import Workload
from harness.launching import launch_line
from harness.mpis import Mpi
from harness.paths import STATE_DIR
from harness.systems import Opened, System

Piece = dict[str, Any]
BASE = "bare"
LIMIT_S = 60
# Half a second: what adaptive needs to find out whether it helps is no more than a part of it.
SAMPLER = ("--warmup=1", "--min-samples=20", "--max-samples=1000", "--time-box-s=0.5")
SIZES = ((2, 2), (1, 1))  # ranks, nodes: the first that the workload takes bare
WHOLE = ("total_s", "elapsed_s")


def piece(
    workload: Workload, mpi: Mpi, system: System, opened: Opened, names: list[str], launches: int, seed: int
) -> Piece:
    """Rounds over bare and `names`, the order within a round drawn anew. What failed is said under `failures`."""

    def launch(how: variants.Recipe, size: tuple[int, int]) -> tuple[str, list[float]] | str:
        return _launch(workload, mpi, system, opened, how, size)

    bare = variants.recipe(BASE, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
    assert not isinstance(bare, str), bare
    size = next((size for size in SIZES if not isinstance(launch(bare, size), str)), SIZES[0])
    order = random.Random(f"{workload.name} {mpi.name} {seed}")
    samples: dict[str, list[list[float]]] = {name: [] for name in dict.fromkeys([BASE, *names])}
    failures: dict[str, str] = {}
    quantity = ""
    for _ in range(launches):
        for name in order.sample(list(samples), len(samples)):
            if name in failures:
                continue
            how = variants.recipe(name, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
            found = how if isinstance(how, str) else launch(how, size)
            if isinstance(found, str):
                failures[name] = found
            else:
                quantity, values = found
                samples[name].append(values)
    facts = machine.facts()
    return {
        "workload": workload.name,
        "point": workload.point,
        "quantity": quantity,
        "mpi": mpi.name,
        "ranks": size[0],
        "system": system.name,
        "network": opened.network,
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {name: facts[name] for name in ("cpu_model", "cpus", "cores", "kernel", "virtual_machine")},
        "samples": {name: found for name, found in samples.items() if found and name not in failures},
        "failures": failures,
    }


def _launch(
    workload: Workload, mpi: Mpi, system: System, opened: Opened, how: variants.Recipe, size: tuple[int, int]
) -> tuple[str, list[float]] | str:
    """The quantity that is compared and rank 0's samples of it, or the sentence why there are none."""
    with tempfile.TemporaryDirectory(prefix="harm-", dir=_shared()) as folder:
        output = Path(folder) / "record.jsonl"
        points = Path(folder) / "points.json"
        points.write_text(json.dumps([workload.point]))
        command = [
            str(workload.program), workload.benchmark, f"--points={points}", f"--output={output}", *SAMPLER
        ]  # fmt: skip
        line, environment = launch_line(mpi, system, opened, how, size, command)
        try:
            done = subprocess.run(
                line, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT_S,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"did not end within {LIMIT_S} s"
        lines = [json.loads(text) for text in output.read_text().splitlines()] if output.exists() else []
    good = [entry for entry in lines if entry.get("rank") == 0 and entry.get("status") == "ok"]
    if done.returncode or not good:
        reasons = [entry["reason"] for entry in lines if entry.get("reason")]
        said = (done.stderr or done.stdout).strip().splitlines()
        return (reasons or said or [f"exit status {done.returncode}"])[-1]
    return compared(good[0]["samples"])


def compared(samples: dict[str, list[float]]) -> tuple[str, list[float]]:
    """The workload's whole time, or else its leading quantity; with its samples."""
    quantity = next((name for name in WHOLE if name in samples), next(iter(samples)))
    return quantity, samples[quantity]


def _shared() -> Path:
    """A folder that virtual nodes see as this machine does."""
    STATE_DIR.mkdir(exist_ok=True)
    return STATE_DIR
