# SPDX-License-Identifier: BSD-3-Clause
"""The pages are followed, command by command, on a fresh clone: what stands in their indented blocks can be done here.

In fenced blocks is what takes a cluster, hours, or something of the reader's. Some pages have tests of their own.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from harness.base import process
from harness.base.paths import ROOT
from harness.cli import main
from harness.tests.pages import DOCS, FENCED, commands, indented

PAGES = (  # in the order in which a reader comes to them: a later one may use what an earlier one has made
    "tutorial/first-ten-minutes.md",
    "tutorial/own-program.md",
    "how-to/compare-program.md",
    "how-to/read-a-report.md",
    "how-to/reproduce-a-paper.md",
    "how-to/notebooks.md",
    "how-to/tuning.md",
    "how-to/gate.md",
    "how-to/add-an-mpi.md",
    "how-to/add-a-wait-strategy.md",
    "how-to/validating-a-model.md",
    "how-to/rdma-lab.md",
)
ELSEWHERE = {  # page: the test that follows it
    "how-to/cluster.md": "harness/tests/test_guide.py",
    "how-to/add-a-site.md": "harness/tests/test_guide.py",
    "how-to/ci.md": "harness/tests/test_ci_examples.py",
    "how-to/reframe.md": "harness/tests/test_plain_reframe.py",
    "how-to/adding-a-study.md": "reframe_checks/tests/test_adding_a_study.py",
    "how-to/troubleshooting.md": "harness/tests/test_troubleshooting.py",
}
CHEAP = re.compile(r"doctor$|list$|run .*--dry-run$|tune --list$|notebook$")  # takes no build and no launch
ANSWERS = {  # what a measurement may say: statuses beside 0
    "./bench compare ": {1},
    "./bench gate ": {1, 3},
}
LIMIT_S = 1500.0


def files(page: Path) -> dict[str, str]:
    """The files that a page tells its reader to save: name -> text."""
    text = page.read_text()
    names = re.findall(r"Save it as `([^`]+)`", text)
    blocks = [body for _, _, body in FENCED.findall(text) if "#include" in body]
    return dict(zip(names, blocks, strict=True))


def test_a_test_follows_every_tutorial_and_how_to() -> None:
    there = {str(page.relative_to(DOCS)) for kind in ("tutorial", "how-to") for page in (DOCS / kind).glob("*.md")}
    assert there == {*PAGES, *ELSEWHERE}
    for page, test in ELSEWHERE.items():
        assert Path(page).name in (ROOT / test).read_text(), f"{test} does not name {page}"


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
    """A fresh clone of what is committed here: it makes its own environment, MPIs and builds."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git history here to clone")
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_followed_on_a_fresh_clone(page: str, clone: Path) -> None:
    text = clone / "docs" / page
    for name, content in files(text).items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(content)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OVERLAP_BENCH_")}
    environment.pop("PYTHONPATH", None)
    for line in indented(text):
        done = process.answer(["bash", "-c", line], LIMIT_S, environment, clone)
        good = {0}.union(*(statuses for start, statuses in ANSWERS.items() if line.startswith(start)))
        assert done.status in good, f"{line}\n{done.out[-2000:]}\n{done.err[-3000:]}"
        assert "Traceback" not in done.out + done.err, line
