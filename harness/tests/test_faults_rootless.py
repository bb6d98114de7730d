# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs by somebody without rights, without an account even, from a checkout of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, MPI_DIR, ROOT, VENV
from harness.setup import build
from harness.sites.virtual import virtual_slurm_supported, virtual_supported
from harness.tests.sessions import as_user
from harness.vcluster.tests.vcluster_fixtures import UNPRIVILEGED

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slow,
    pytest.mark.full,
    pytest.mark.timeout(700),
]
RESULTS = ROOT / "results"
RUN_ON = ("mpich", "openmpi")
USER = UNPRIVILEGED if os.geteuid() == 0 else os.geteuid()
PYTHON = VENV.joinpath("bin", "python").resolve()


def what_is_made(folder: str, names: list[str]) -> list[str]:
    """What a checkout has beside its sources; as .gitignore says, but there may be no repository."""
    if Path(folder) == RESULTS:
        return [name for name in names if name not in ("papers", "reference", "schema")]
    here = (".git", ".venv", ".mpi", ".bench", "build")
    return [name for name in names if name in here or name.endswith("_cache") or name.startswith("build-linux-")]


def may_run(program: Path) -> bool:
    """Asked of a shell: setpriv itself still may what its user may not."""
    shell = ["/bin/sh", "-c", f"{program} -c ''"]
    return subprocess.run([*as_user(USER), *shell], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """This checkout's files, owned by the user, with what is set up here."""
    if reason := virtual_supported():
        pytest.skip(reason)
    for mpi in RUN_ON:
        build.ensure(MPIS[mpi])
    with tempfile.TemporaryDirectory(prefix="obu-", dir="/tmp") as name:
        copy = Path(name) / "checkout"
        shutil.copytree(ROOT, copy, ignore=what_is_made)
        # What is large is shared, nothing in it is written; the environment only where its Python may be run.
        for folder in (MPI_DIR, BUILD_DIR, *([VENV] if may_run(PYTHON) else [])):
            (copy / folder.relative_to(ROOT)).symlink_to(folder)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "--no-dereference", f"{USER}:{USER}", name], check=True)
        yield copy


@pytest.mark.slurm
@pytest.mark.parametrize("system", ["vcluster", "vcluster-slurm"])
def test_a_whole_run_without_rights(checkout: Path, system: str) -> None:
    if system == "vcluster-slurm" and (reason := virtual_slurm_supported()):
        pytest.skip(reason)
    command = [*as_user(USER), *([str(PYTHON)] if may_run(PYTHON) else []), str(checkout / "bench")]
    command += ["run", "overlap-ratio", "--scale", "test", "--mpi", ",".join(RUN_ON), "--system", system]
    environment = {"HOME": str(checkout.parent), "PATH": os.environ["PATH"], "OVERLAP_BENCH_STATE": f"{checkout}.s/v"}
    done = subprocess.run(
        command, env=environment, cwd=checkout, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.splitlines()[-1]).is_file()
    assert (checkout / "results" / "latest").resolve().stat().st_uid == USER
    assert list(Path(f"{checkout}.s").iterdir()) == [], "no socket, mount or file of the nodes"
