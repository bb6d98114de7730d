# SPDX-License-Identifier: BSD-3-Clause
"""docs/how-to/cluster.md is followed: on a stand-in for a login node up to the first job, and with --full from clone to
figure on virtual nodes, under a real Slurm, with a real Lmod."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, ROOT
from harness.cli import main
from harness.job import records
from harness.setup import build, environment
from harness.sites.virtual import virtual_slurm_supported
from harness.tests.pages import DOCS, blocks, commands
from harness.tests.sessions import BENCH, bench
from spack_env import make_site

GUIDE = DOCS / "how-to" / "cluster.md"


@pytest.fixture
def mycluster(host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The guide's login node: its modules, its partition `batch`, and MVAPICH2's programs built where it says."""
    monkeypatch.chdir(host)
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(host / "results"))
    monkeypatch.setattr("harness.sites.site_writer.HOME", host)
    programs = host / "build" / "mvapich2" / "bin"
    programs.mkdir(parents=True)
    (programs / "progress-run").write_text("")
    return host


def test_the_guide_can_be_followed_up_to_the_first_job(mycluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In its order: what needs no compiling and no job is run as it stands; the rest is refused for want of Spack."""
    lines = blocks(GUIDE)
    for arguments in commands(lines[: lines.index("./bench run --resume latest")]):
        words = " ".join(arguments)
        status = main(arguments)
        error = capsys.readouterr().err
        refused = re.match("spack (concretize|install|smoke)|run (?!.*--dry-run)", words)
        assert (status, "Spack is not on PATH" in error) == ((2, True) if refused else (0, False)), f"{words}: {error}"
    assert (make_site.SITES / "mycluster" / "packages.yaml").is_file()
    assert all((mycluster / name).is_file() for name in ("mycluster.py", "modules.py"))


MPICH = MPIS["mpich"]
BUILT = BUILD_DIR / "guide"  # there ccache knows what the other builds have compiled
CLUSTERS_OWN = {
    "mvapich2/2.3.7": "mpich/5.0",
    "mvapich2": "mpich",
    "--partition batch": "--partition main",
    "--fabric infiniband": "--fabric ethernet",
    "--cores 64": "--cores 1",
    "mycluster.py": "modules.py",  # with Spack the guide makes another
    "--mpi openmpi": "--mpi mpich",
    "overlap-ratio": "overlap-ratio --scale test",
    "cmake --build build/mpich": f"cmake --build {BUILT} --target progress_engine/all microbench",
    "-B build/mpich": f"-B {BUILT}",
    # what else the guide writes stays out of this checkout
    "/opt/progress-engine": "$PWD/installed",
    "./bench": BENCH,
    "--preset": f"-S {ROOT} --preset",
    "--install build/mpich": f"--install {BUILT}",
    "$PWD/.venv": f"{ROOT}/.venv",
    "--modules-system": f"--bin-dir {BUILT}/bin --modules-system",
}
VARIABLES = "".join(f'setenv("{name}", "{value}")\n' for name, value in MPICH.environment("tcp").items())
MODULES = {"gcc/12": "", "mpich/5.0": f'prepend_path("PATH", "{MPICH.bin}")\n{VARIABLES}'}


def by_modules() -> list[str]:
    """The guide's commands without those of Spack, in the words of these nodes: build, site's file, run, figure."""
    lines = blocks(GUIDE)
    wanted = [line for line in lines[lines.index("module load gcc/12 mvapich2/2.3.7") :] if "spack" not in line]
    for theirs, here in CLUSTERS_OWN.items():
        wanted = [line.replace(theirs, here) for line in wanted]
    return wanted


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.slurm
@pytest.mark.timeout(2400)
@pytest.mark.usefixtures("state")
def test_from_clone_to_figure(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := virtual_slurm_supported():
        pytest.skip(reason)
    try:
        environment.ensure_packages("modules")
    except Failure as lacking:
        pytest.skip(str(lacking))
    for name, text in MODULES.items():
        file = tmp_path / "modules" / f"{name}.lua"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "modules"))
    assert bench("vcluster", "up", "--nodes", "2", "--slurm").returncode == 0
    shutil.rmtree(BUILT, ignore_errors=True)
    cache = {name: value for name, value in build.build_variables(None).items() if name.startswith("CCACHE_")}
    before = " && ".join([f"module use {tmp_path / 'modules'}", *(f"export {name}={cache[name]}" for name in cache)])
    for line in by_modules():
        if line.startswith(("module", "export")):
            before += f" && {line}"
            continue
        done = on_login_node(f"{before} && {line}" if line.startswith("cmake") else line, tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    kept = [records.read(file) for file in (results / "latest" / "records").iterdir()]
    assert {record.header["mpi_library"].split(":")[0] for record in kept if record.header} == {"MPICH Version"}
    assert all(point["status"] == "ok" for record in kept for point in record.points)
    assert {record.header["context"]["system"] for record in kept if record.header} == {"mycluster:compute"}
    assert list((tmp_path / "figures").glob("**/*.png"))


def on_login_node(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a person types there, in a login shell."""
    words = ["vcluster", "exec", "vc0", "--", "bash", "-lc", f"cd {shlex.quote(str(folder))} && {script}"]
    return bench(*words, timeout=1800)  # a build, beside other tests
