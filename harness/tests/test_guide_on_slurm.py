# SPDX-License-Identifier: BSD-3-Clause
"""docs/how-to/cluster.md from clone to figure with modules: on virtual nodes, under a real Slurm, with a real Lmod.

The guide's commands run as they stand on the login node, but for the words that are a cluster's own (CLUSTERS_OWN).
"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.job import records
from harness.setup import packages
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.pages import blocks
from harness.tests.sessions import BENCH, bench, results, state
from harness.tests.test_guide import GUIDE

__all__ = ["results", "state"]  # fixtures
pytestmark = [
    pytest.mark.full,
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slurm,
    pytest.mark.timeout(2400),
]

MPICH = MPIS["mpich"]
CLUSTERS_OWN = {
    "mvapich2/2.3.7": "mpich/5.0",
    "mvapich2": "mpich",
    "--partition batch": "--partition main",
    "--fabric infiniband": "--fabric ethernet",
    "--cores 64": "--cores 1",
    "mycluster.py": "modules.py",  # with Spack the guide makes another
    "--mpi openmpi": "--mpi mpich",
    "overlap-ratio": "overlap-ratio --scale test",
    # what the guide writes stays out of this checkout
    "./bench": BENCH,
    "-S .": f"-S {ROOT}",
    "-DCMAKE_BUILD_TYPE=Release": "-DCMAKE_BUILD_TYPE=Release -DOVERLAP_BENCH_FAST_BUILD=ON",  # on a node with one CPU
    "$PWD/.venv": f"{ROOT}/.venv",
    "--modules-system": "--bin-dir $PWD/build/{mpi}/bin --modules-system",
}
MODULES = {
    "gcc/12": "",
    "mpich/5.0": f'prepend_path("PATH", "{MPICH.bin}")\n'
    + "".join(f'setenv("{name}", "{value}")\n' for name, value in MPICH.environment("tcp").items()),
}


def in_its_words(line: str) -> str:
    for theirs, here in CLUSTERS_OWN.items():
        line = line.replace(theirs, here)
    return line


def by_modules() -> list[str]:
    """The guide's commands without those of Spack: build, site's file, run, figure."""
    lines = blocks(GUIDE)
    first = lines.index("module load gcc/12 mvapich2/2.3.7")
    return [in_its_words(line) for line in lines[first:] if "spack" not in line]


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
    words = ["vcluster", "exec", "vc0", "--", "bash", "-lc", f"cd {shlex.quote(str(folder))} && {script}"]
    return bench(*words, timeout=1800)  # a build, beside other tests


@pytest.mark.usefixtures("state")
def test_from_clone_to_figure(results: Path, modules: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := virtual_slurm_supported():
        pytest.skip(reason)
    monkeypatch.setenv("MODULEPATH", str(modules))
    assert bench("vcluster", "up", "--nodes", "2", "--slurm").returncode == 0
    before = f"module use {modules}"
    for line in by_modules():
        if line.startswith(("module", "export")):
            before += f" && {line}"
            continue
        done = on_login_node(f"{before} && {line}" if line.startswith("cmake") else line, tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    session = (results / "latest").resolve()
    kept = [records.read(file) for file in (session / "records").iterdir()]
    assert {record.header["mpi_library"].split(":")[0] for record in kept if record.header} == {"MPICH Version"}
    assert all(point["status"] == "ok" for record in kept for point in record.points)
    assert {record.header["context"]["system"] for record in kept if record.header} == {"mycluster:compute"}
    assert list((tmp_path / "figures").glob("**/*.png"))
