# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cost benchmarks. A piece is one part on one MPI: launches that alternate, each with its samples."""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from harness import machine, variants
from harness.costs.budgets import BASE, CALL_VARIANTS, PING_PONG_VARIANTS
from harness.errors import Failure
from harness.mpis import Mpi, Where

Piece = dict[str, Any]  # part, mpi, command, time, machine, samples: variant -> benchmark -> launches -> nanoseconds
LAUNCH_LIMIT_S = 60
REPETITIONS = 15  # of a benchmark within a launch
ROUND_TRIPS, ROUND_TRIP_SAMPLES = 1000, 15
NANO = 1e9


def core(mpi: Mpi, launches: int, seed: int) -> Piece:
    """The engine's parts; `mpi` only says which build."""
    program = [str(mpi.build_dir / "bin" / "engine_core_costs")]
    found = [_google_benchmark(program, dict(os.environ)) for _ in range(launches)]
    return _piece("core", "", launches, seed, {"": _by_benchmark(found)})


def calls(mpi: Mpi, launches: int, seed: int) -> Piece:
    """Calls that move nothing, by one rank."""

    def launch(variant: str) -> dict[str, list[float]]:
        program = str(mpi.build_dir / "bin" / "engine_call_costs")
        command = [*mpi.launch_command(1, 1), *_recipe(mpi, variant).prefix, program]
        return _google_benchmark(command, dict(os.environ) | mpi.environment())

    return _alternated("calls", mpi, CALL_VARIANTS, launches, seed, launch)


def ping_pong(mpi: Mpi, launches: int, seed: int) -> Piece:
    """One byte between two ranks, by the workload `microbench latency`."""

    def launch(variant: str) -> dict[str, list[float]]:
        return {"latency": _latency(mpi, variant)}

    return _alternated("ping-pong", mpi, PING_PONG_VARIANTS, launches, seed, launch)


def _alternated(part: str, mpi: Mpi, names: tuple[str, ...], launches: int, seed: int, launch: Any) -> Piece:
    """Rounds over all variants, the order within a round drawn anew."""
    order = random.Random(f"{part} {mpi.name} {seed}")
    found: dict[str, list[dict[str, list[float]]]] = {name: [] for name in (BASE, *names)}
    for _ in range(launches):
        for name in order.sample(list(found), len(found)):
            found[name].append(launch(name))
    return _piece(part, mpi.name, launches, seed, {name: _by_benchmark(runs) for name, runs in found.items()})


def _piece(part: str, mpi: str, launches: int, seed: int, samples: dict[str, dict[str, list[list[float]]]]) -> Piece:
    options = [f"--part {part}", *([f"--mpi {mpi}"] if mpi else []), f"--launches {launches}", f"--seed {seed}"]
    facts = machine.facts()
    return {
        "part": part,
        "mpi": mpi,
        "command": " ".join(["./bench engine-costs", *options]),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": {name: facts[name] for name in ("cpu_model", "cpus", "cores", "kernel", "virtual_machine")},
        "samples": samples,
    }


def _by_benchmark(runs: list[dict[str, list[float]]]) -> dict[str, list[list[float]]]:
    return {name: [run[name] for run in runs] for name in runs[0]}


def _recipe(mpi: Mpi, variant: str) -> variants.Recipe:
    how = variants.recipe(variant, mpi.build_dir / "bin" / "progress-run", mpi.async_progress)
    if isinstance(how, str):
        raise Failure(f"{mpi.title} cannot run variant {variant}: {how}.")
    return how


def _run(command: list[str], environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=LAUNCH_LIMIT_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Failure(f"did not end within {LAUNCH_LIMIT_S} s: {' '.join(command)}") from error
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise Failure(f"status {done.returncode} of {' '.join(command)}: {' '.join(last)}")
    return done.stdout


def _google_benchmark(command: list[str], environment: dict[str, str]) -> dict[str, list[float]]:
    """Nanoseconds an iteration, a value a repetition, of each benchmark of the program."""
    options = ["--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}", "--benchmark_min_time=0.01"]
    text = _run([*command, *options], environment)
    rows = json.loads(text[text.index("{") :])["benchmarks"]
    found: dict[str, list[float]] = {}
    for row in rows:
        if row["run_type"] == "iteration":
            found.setdefault(row["run_name"].split("/")[0], []).append(row["real_time"])
    return found


def _latency(mpi: Mpi, variant: str) -> list[float]:
    how = _recipe(mpi, variant)
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.jsonl"
        command = [
            *mpi.launch_command(2, 2, Where(bind=(os.cpu_count() or 1) > 1)),
            *how.prefix,
            *(str(mpi.build_dir / "bin" / "microbench"), "latency", f"--output={record}"),
            *("--point", f"size_bytes=1,round_trips={ROUND_TRIPS}"),
            *("--warmup=2", f"--min-samples={ROUND_TRIP_SAMPLES}", f"--max-samples={ROUND_TRIP_SAMPLES}"),
            *how.workload_options,
        ]
        _run(command, dict(os.environ) | mpi.environment() | how.environment)
        lines = [json.loads(line) for line in record.read_text().splitlines()]
    point = next(line for line in lines if line.get("rank") == 0 and line.get("status") == "ok")
    return [value * NANO for value in point["samples"]["batch_median_s"]]


RUNNERS = {"core": core, "calls": calls, "ping-pong": ping_pong}
