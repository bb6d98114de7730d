# SPDX-License-Identifier: BSD-3-Clause
"""Does what Spack installed run? Two ranks, the engine loaded, and the MPI library that answered is the one meant.

A build that linked the wrong MPI ends with status 0 and runs, so the answer of the library itself is what counts.
"""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from pathlib import Path
from typing import Any

from harness.base import process
from harness.base.errors import Failure
from harness.base.mpis import MPIS
from harness.base.variants import recipe
from harness.job import records
from spack_env.site_environment import SiteEnvironment

RANKS = 2
LAUNCHER = f"mpiexec -n {RANKS}"
VARIANT = "adaptive"
TIMEOUT_S = 120.0
POINT = {"pattern": "both", "size_bytes": 65536, "work_units": 1000}
SAMPLER = ["--min-samples=3", "--max-samples=3", "--warmup=1", "--time-box-s=5"]


def activated(environment: Path) -> dict[str, str]:
    """The environment variables as they are where the Spack environment in this folder is active."""
    script = f'eval "$(spack env activate --sh {shlex.quote(str(environment))})" && env -0'
    done = process.answer(["sh", "-c", script], TIMEOUT_S)
    if done.status != 0:
        raise Failure(f"Environment {environment.name} cannot be activated: {done.err.strip()[-500:]}")
    return dict(pair.split("=", 1) for pair in done.out.split("\0") if "=" in pair)


def run(environment: SiteEnvironment, launcher: str = LAUNCHER) -> dict[str, Any]:
    """Run the workload under the engine; what answered. Failure if that is not what was asked for."""
    name = environment.environment.name
    for program in ("progress-run", "microbench"):
        if not (environment.bin / program).exists():
            raise Failure(f"{environment.bin / program} is not there: ./bench spack install {name} first.")
    with tempfile.TemporaryDirectory(prefix="overlap-bench-smoke-") as folder:
        record = _launch(environment, launcher, Path(folder))
    return judge(environment, record)


def _launch(environment: SiteEnvironment, launcher: str, folder: Path) -> records.RecordFile:
    (folder / "points.json").write_text(json.dumps([POINT]))
    (folder / "context.json").write_text("{}")
    how = recipe(VARIANT, environment.bin / "progress-run", {})
    assert not isinstance(how, str)
    files = [f"--points={folder}/points.json", f"--context={folder}/context.json", f"--output={folder}/record.jsonl"]
    workload = [str(environment.bin / "microbench"), "overlap", *files, *SAMPLER]
    command = how.line(shlex.split(launcher), workload)
    variables = activated(environment.folder) | dict(environment.environment.needs) | _as_root()
    ended = process.run(command, variables, folder / "log", TIMEOUT_S)
    if ended.status != 0:
        how_ended = "did not end in time" if ended.status is None else f"ended with status {ended.status}"
        words = (folder / "log").read_text(errors="replace").strip()[-1500:]
        raise Failure(f"{environment.environment.name}: {shlex.join(command)} {how_ended}:\n{words}")
    return records.read(folder / "record.jsonl")


def _as_root() -> dict[str, str]:
    """Open MPI refuses root, and two ranks on one CPU, unless told; others do not know these variables."""
    root = MPIS["openmpi"].environment() if os.geteuid() == 0 else {}
    return root | {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}


def judge(environment: SiteEnvironment, record: records.RecordFile) -> dict[str, Any]:
    """What the record says; Failure if another library, another number of ranks or no engine is in it."""
    name, wanted = environment.environment.name, environment.environment.library
    header, end = record.header or {}, record.end or {}
    library = header.get("mpi_library") or "no library"
    if wanted not in library:
        raise Failure(f"{name}: '{library}' answered instead of {wanted}: the build linked another MPI.")
    if header.get("world_size") != RANKS:
        raise Failure(f"{name}: MPI_COMM_WORLD had {header.get('world_size')} ranks instead of {RANKS}.")
    reports = [rank.get("engine") or {} for rank in end.get("ranks", [])]
    if len(reports) != RANKS or not all(report.get("active") for report in reports):
        raise Failure(f"{name}: the engine did not run on each of the {RANKS} ranks.")
    return {
        "environment": name,
        "library": library,
        "engine": f"preset {reports[0].get('preset')}, driver {reports[0].get('driver')}, on {len(reports)} ranks",
        "lock_sha256": environment.lock()["lock_sha256"],
    }
