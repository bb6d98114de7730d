# SPDX-License-Identifier: BSD-3-Clause
"""The pages are followed, command by command, on a fresh clone: what stands in their indented blocks can be done here.

In fenced blocks is what takes a cluster, hours, or something of the reader's. The pages on clusters, plain ReFrame and
adding a study have tests of their own (test_guide*.py, test_plain_reframe.py, reframe_checks/tests).
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import MPI_DIR, ROOT, VENV
from harness.cli import main
from harness.setup import mpi as mpi_setup
from harness.tests.pages import DOCS, FENCED, commands, indented

PAGES = (
    "tutorial/first-ten-minutes.md",
    "tutorial/own-program.md",
    "how-to/read-a-report.md",
    "how-to/reproduce-a-paper.md",
    "how-to/add-an-mpi.md",
)
CHEAP = re.compile(r"doctor$|list$|run .*--dry-run$")  # takes no build and no launch
MAY_DIFFER = "./bench compare "  # two measurements of one program may differ: status 1
LIMIT_S = 900


def files(page: Path) -> dict[str, str]:
    """The files that a page tells its reader to save: name -> text."""
    text = page.read_text()
    names = re.findall(r"Save it as `([^`]+)`", text)
    blocks = [body for _, _, body in FENCED.findall(text) if "#include" in body]
    return dict(zip(names, blocks, strict=True))


@pytest.mark.parametrize("page", PAGES)
def test_what_needs_no_launch_is_done_as_it_stands(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    lines = indented(DOCS / page)
    assert lines
    for arguments in commands(lines):
        if CHEAP.fullmatch(" ".join(arguments)):
            assert main(arguments) == 0, capsys.readouterr().err
            assert capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone; Python's packages and the MPIs, which it would fetch, are those of this one."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git history here to clone")
    mpi_setup.ensure(MPIS["mpich"])
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    (folder / ".venv").symlink_to(VENV)
    (folder / ".mpi").symlink_to(MPI_DIR)
    return folder


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_followed_on_a_fresh_clone(page: str, clone: Path) -> None:
    for name, text in files(DOCS / page).items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OVERLAP_BENCH_")}
    for line in indented(DOCS / page):
        done = subprocess.run(
            ["bash", "-c", line], cwd=clone, env=environment, capture_output=True, text=True, check=False,
            timeout=LIMIT_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        good = (0, 1) if line.startswith(MAY_DIFFER) else (0,)
        assert done.returncode in good, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert "Traceback" not in done.stderr, line
