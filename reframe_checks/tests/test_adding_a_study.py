# SPDX-License-Identifier: BSD-3-Clause
"""docs/how-to/adding-a-study.md is followed, word by word, in a copy of the sources."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import ROOT, VENV
from harness.setup.build import build_variables, ensure_mpis
from harness.setup.environment import ensure_packages
from reframe_checks import catalogue

PAGE = (ROOT / "docs" / "how-to" / "adding-a-study.md").read_text()
FILE = re.compile(r"`([\w/]+/\w+\.(?:cpp|py|txt))`")
MOST_FILES = 4


def steps() -> Iterator[tuple[str, str]]:
    """File and text of each block: the file is the first that is named after the block before."""
    parts = PAGE.split("```")
    for words, block in zip(parts[::2], parts[1::2], strict=False):
        yield FILE.findall(words)[0], block.partition("\n")[2]


def apply(tree: Path) -> list[str]:
    """Do what the page says; the files that it makes."""
    made = []
    for name, text in steps():
        file = tree / name
        assert not file.exists()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        made.append(name)
    return made


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    tree = copy_to(tmp_path_factory.mktemp("tree"))
    return tree, apply(tree)


def test_a_study_takes_four_new_files(followed: tuple[Path, list[str]]) -> None:
    tree, touched = followed
    assert len(touched) <= MOST_FILES and all(f"`{name}`" in PAGE for name in touched)
    before, now = list(catalogue.studies()), studies(tree)
    added = {"message-rate", "harm-message_rate-window"}  # harm covers every workload
    assert [name for name in now if name not in added] == before and added <= set(now)
    assert now[now.index("message-rate") - 1] == "tasks", "the last of its paper"
    code = "from analysis.subject import of_studies; print([len(one.claims) for one in of_studies(['message-rate'])])"
    assert python(tree, code).strip() == "[1]", "and what is said of it"


def test_the_example_is_as_the_linters_want_it(followed: tuple[Path, list[str]]) -> None:
    tree, touched = followed
    files = [str(tree / name) for name in touched if name.endswith(".py")]
    cxx = [str(tree / name) for name in touched if name.endswith(".cpp")]
    for command in (
        ["ruff", "check", *files],
        ["ruff", "format", "--check", *files],
        ["clang-format", f"--style=file:{ROOT / '.clang-format'}", "--dry-run", "-Werror", *cxx],
    ):
        done = subprocess.run(
            [str(VENV / "bin" / command[0]), *command[1:]], cwd=tree, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.mpi
@pytest.mark.full
@pytest.mark.timeout(900)
def test_it_is_built_and_measured(followed: tuple[Path, list[str]]) -> None:
    """By ReFrame alone, from the copy."""
    tree, _ = followed
    ensure_packages("build")
    mpi = MPIS["mpich"]
    ensure_mpis(mpi)
    (tree / "bench").write_text("")  # what makes it a clone: everything is made there
    (tree / ".venv").symlink_to(VENV)
    (tree / ".mpi").symlink_to(mpi.prefix.parent)
    tools, build = VENV / "bin", tree / "build" / "mpich"
    environment = mpi.shell_environment() | {"PYTHONPATH": str(tree), "LOGNAME": "tester", "HOME": str(tree)}
    environment |= build_variables(None, tree) | {"PATH": f"{tools}:{environment['PATH']}"}  # ccache has most of it
    targets = ("message_rate", "progress-run", "progress_engine")
    for command in (
        ["cmake", "--preset", "mpich"],
        ["ninja", "-C", str(build), *targets],
        ["reframe", "-C", "reframe_checks/systems/local.py", "-c", "reframe_checks/studies/message_rate.py",
         "-P", "scale=test", "-p", "^mpich$", "-r", "--performance-report"],
    ):  # fmt: skip
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert re.search(r"bare/size_bytes=8/window=16\b.*messages/s", done.stdout)


# Copies of the sources that a test may change, and what Python finds in them.
FOLDERS = (
    "analysis", "harness", "progress_engine", "reframe_checks", "results/schema", "simulator", "spack_env", "workloads",
)  # fmt: skip
FILES = ("uv.lock", "pyproject.toml", "CMakeLists.txt", "CMakePresets.json", "cmake/mpi_without_cxx.cmake")


def _left_out(folder: str, names: list[str]) -> set[str]:
    built = shutil.ignore_patterns("build-linux-*", "__pycache__")(folder, names)
    return built | ({"sites"} if Path(folder) == ROOT / "spack_env" else set())


def copy_to(folder: Path) -> Path:
    """The sources without what is built and measured."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=_left_out)
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def python(tree: Path, code: str) -> str:
    """What this code prints there."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tree, env={"PYTHONPATH": str(tree)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def studies(tree: Path) -> list[str]:
    """The names of the studies, in their order."""
    return python(tree, "from reframe_checks import catalogue; print(*catalogue.studies())").split()
