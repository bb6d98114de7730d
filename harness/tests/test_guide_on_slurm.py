# SPDX-License-Identifier: BSD-3-Clause
"""docs/cluster.md from clone to figure, on virtual nodes under a real Slurm: with modules of a real Lmod, or by Spack.

The guide's commands run as they stand on the login node, but for the words that are a cluster's own (CLUSTERS_OWN).
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import spack
from harness.errors import Failure
from harness.mpis import MPIS
from harness.paths import ROOT
from harness.schedule import records
from harness.setup import packages
from harness.systems import virtual_slurm_supported
from harness.tests.sessions import BENCH, bench, results, state
from harness.tests.test_guide import GUIDE, blocks

__all__ = ["results", "state"]  # fixtures
pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.vcluster, pytest.mark.slurm, pytest.mark.timeout(900)]

MPICH = MPIS["mpich"]
CLUSTERS_OWN = {
    "mvapich2/2.3.7": "mpich/5.0",
    "mvapich2": "mpich",
    "--partition batch": "--partition main",
    "--account abc123": "",
    "--fabric infiniband": "--fabric ethernet",
    "--cores 64": "--cores 1",
    "overlap-ratio": "overlap-ratio --scale test",
    "./bench": BENCH,
}
WITH_MODULES = {
    "mycluster.py": "modules.py",  # with Spack the guide makes another
    "--mpi openmpi": "--mpi mpich",
    # what the guide writes stays out of this checkout
    "-S .": f"-S {ROOT}",
    "$PWD/.venv": f"{ROOT}/.venv",
    "--modules-system": "--bin-dir $PWD/build/{mpi}/bin --modules-system",
}
# Spack's site is this machine's, whose MPIs are the wheels, so that what is installed already is not built again.
WITH_SPACK = {"site mycluster": "site here", "--template infiniband": "--template pypi"}
MODULES = {
    "gcc/12": "",
    "mpich/5.0": f'prepend_path("PATH", "{MPICH.bin}")\n'
    + "".join(f'setenv("{name}", "{value}")\n' for name, value in MPICH.environment("tcp").items()),
}


def in_its_words(line: str, more: dict[str, str]) -> str:
    for theirs, here in (CLUSTERS_OWN | more).items():
        line = line.replace(theirs, here)
    return line


def by_modules() -> list[str]:
    """The guide's commands without those of Spack: build, site's file, run, figure."""
    lines = blocks(GUIDE)
    first = lines.index("module load gcc/12 mvapich2/2.3.7")
    return [in_its_words(line, WITH_MODULES) for line in lines[first:] if "spack" not in line]


def through_spack() -> list[str]:
    """The guide's commands without those of modules and their builds: Spack's site, site's file, run, figure."""
    of_modules = ("module", "export", "cmake", "./bench site new modules.py")
    return [in_its_words(line, WITH_SPACK) for line in blocks(GUIDE) if not line.startswith(of_modules)]


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """A tree of modules as a site has it."""
    try:
        packages.ensure("modules")
    except Failure as reason:
        pytest.skip(str(reason))
    for name, text in MODULES.items():
        file = tmp_path / "modules" / f"{name}.lua"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "modules"


def on_login_node(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a person types there, in a login shell."""
    spacks = Path(shutil.which("spack") or "/nowhere/spack").parent  # a login shell begins with a PATH of its own
    script = f"export PATH=$PATH:{shlex.quote(str(spacks))} && cd {shlex.quote(str(folder))} && {script}"
    words = ["vcluster", "exec", "vc0", "--", "bash", "-lc", script]
    return bench(*words, timeout=600)


def up() -> None:
    """Two nodes with Slurm."""
    if reason := virtual_slurm_supported():
        pytest.skip(reason)
    assert bench("vcluster", "up", "--nodes", "2", "--slurm").returncode == 0


def follow(lines: list[str], folder: Path, before: str) -> None:
    """Type these lines there; what modules and exports do goes on for those that build."""
    for line in lines:
        if line.startswith(("module", "export")):
            before += f" && {line}"
            continue
        done = on_login_node(line if line.startswith(f"{BENCH} ") else f"{before} && {line}", folder)
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def measured(session: Path) -> list[dict[str, Any]]:
    """The headers of a session's records; every point is in order and was measured by the guide's cluster."""
    kept = [records.read(file) for file in (session / "records").iterdir()]
    headers = [record.header for record in kept if record.header]
    assert len(headers) == len(kept)
    assert all(point["status"] == "ok" for record in kept for point in record.points)
    assert {header["context"]["system"] for header in headers} == {"mycluster:compute"}
    return headers


@pytest.mark.usefixtures("state")
def test_from_clone_to_figure(results: Path, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODULEPATH", str(modules))
    up()
    follow(by_modules(), tmp_path, f"module use {modules}")
    headers = measured((results / "latest").resolve())
    assert {header["mpi_library"].split(":")[0] for header in headers} == {"MPICH Version"}
    assert list((tmp_path / "figures").glob("**/*.png"))


@pytest.mark.spack
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("state")
def test_from_clone_to_figure_through_spack(results: Path, tmp_path: Path) -> None:
    if reason := spack.supported():
        pytest.skip(f"needs Spack ({reason.split(':')[0].rstrip('.')})")
    up()
    follow(through_spack(), tmp_path, "true")
    headers = measured((results / "latest").resolve())
    assert {header["mpi_library"].split(" v")[0] for header in headers} == {"Open MPI"}
    assert all(header["spack"] == spack.FROM_SPACK["openmpi"].lock() for header in headers)
    assert list((tmp_path / "figures").glob("**/*.png"))
