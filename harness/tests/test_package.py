# SPDX-License-Identifier: BSD-3-Clause
"""The installed package, outside of any clone: bench, and the checks under ReFrame alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from harness import __version__
from harness.base import machine
from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, HOME, MPI_DIR, ROOT, VENV
from harness.setup import build
from harness.setup.environment import install

pytestmark = pytest.mark.timeout(600)
full = pytest.mark.full


class Installed:
    """A virtual environment with the package in it, and a folder to work in. What it depends on is the clone's."""

    def __init__(self, folder: Path) -> None:
        self.prefix, self.work, self.made = folder / "venv", folder / "work", folder / "overlap-bench"
        self.work.mkdir()
        self.made.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.prefix)], check=True)
        packages = Path(sysconfig.get_path("purelib", vars={"base": str(self.prefix)}))
        (packages / "shared.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        install("the package", self.prefix, ["--no-deps", str(ROOT)])
        self.tree = packages / "overlap_bench"

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], "LOGNAME": "tester", "HOME": str(self.work.parent)}
        return subprocess.run(
            command, cwd=self.work, env=environment, capture_output=True, text=True, check=False, timeout=300
        )

    def bench(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.prefix / "bin" / "bench"), *arguments)

    def reframe(self, *options: str) -> subprocess.CompletedProcess[str]:
        """The script of the clone's virtual environment, with this one's Python."""
        checks = self.tree / "reframe_checks"
        config = str(checks / "systems" / "local.py")
        command = [str(self.prefix / "bin" / "python"), str(VENV / "bin" / "reframe"), "-C", config, "-c", str(checks)]
        return self.run(*command, "-R", *options)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"))


@pytest.mark.mpi
def test_its_programs_need_nothing_that_it_lacks(tmp_path: Path) -> None:
    """The package has no folder `tests`."""
    for name in ("cmake", "progress_engine", "simulator", "workloads"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("tests", "build-linux-*"))
    for name in ("CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(ROOT / name, tmp_path)
    command = ["cmake", "--preset", "mpich", f"-DMPI_C_COMPILER={MPIS['mpich'].mpicc}"]
    environment = {**os.environ, "PATH": f"{VENV / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@full
def test_it_lists_what_the_clone_lists(installed: Installed) -> None:
    done = installed.bench("list", "--json")
    assert done.returncode == 0, done.stderr
    here = subprocess.run([sys.executable, "-m", "harness", "list", "--json"], cwd=ROOT, capture_output=True, text=True)  # noqa: PLW1510
    assert json.loads(done.stdout)["studies"] == json.loads(here.stdout)["studies"]


@full
def test_reframe_lists_the_checks_there(installed: Installed) -> None:
    """Those of the MPIs that are there; where none is, it says how to get one."""
    mpi = MPIS["mpich"]
    for tool in (mpi.mpicc, mpi.bin / mpi.launcher):
        made = installed.made / tool.relative_to(HOME)
        made.parent.mkdir(parents=True, exist_ok=True)
        made.touch()
    listed = installed.reframe("-l")
    assert listed.returncode == 0
    assert "- OverlapRatio %scale=quick" in listed.stdout
    assert "WARNING" not in listed.stdout and "No MPI" not in listed.stderr
    shutil.rmtree(installed.made / MPI_DIR.name)
    if not any(mpi.installed() for mpi in MPIS.values() if mpi.packages):
        nothing = installed.reframe("-l")
        assert "Found 0 check(s)" in nothing.stdout
        assert nothing.stderr.count("`bench exec --mpi mpich -- true` installs one") == 1


@full
@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("test", "--fast"), "./bench test needs a clone of Overlap Bench"),
        (("spack", "concretize", "mpich"), "Spack builds from a clone of Overlap Bench"),
    ],
)
def test_what_needs_a_clone_says_so(installed: Installed, command: tuple[str, ...], words: str) -> None:
    done = installed.bench(*command)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@full
def test_what_it_makes_is_in_the_users_home(installed: Installed) -> None:
    assert f"There is no session in {installed.made}/results yet" in installed.bench("report", "latest").stderr


@full
@pytest.mark.mpi
def test_reframe_measures_there(installed: Installed) -> None:
    build.ensure(MPIS["mpich"], "progress_engine/all", "microbench")
    for made in (BUILD_DIR, MPI_DIR):
        (installed.made / made.name).symlink_to(made)
    done = installed.reframe("-n", "^OverlapRatio", "-p", "^mpich$", "-P", "scale=test", "-S", "variants=bare", "-r")
    assert done.returncode == 0, done.stdout[-4000:]
    facts = json.loads((installed.made / "results" / "latest" / "session.json").read_text())
    assert (facts["state"], facts["version"]) == ("complete", __version__)
    assert facts["git"] == machine.commit_state(ROOT)
    reported = installed.bench("report", "latest")
    assert reported.returncode == 0, reported.stderr
    assert Path(reported.stdout.strip().splitlines()[-1]).is_file()
