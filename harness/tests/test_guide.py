# SPDX-License-Identifier: BSD-3-Clause
"""docs/how-to/cluster.md is followed as far as it goes here; what README.md and it name is there.

Clusters' own words (a partition, modules, an account) are those of a stand-in for a login node; with --full those that
submit run on virtual nodes under a real Slurm.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.base.paths import ROOT
from harness.cli import main
from harness.tests.login_node import host
from harness.tests.pages import DOCS, README, blocks, commands, every_option, indented
from spack_env import make_site

__all__ = ["host"]  # a fixture

GUIDE = DOCS / "how-to" / "cluster.md"
DOCUMENTS = (README, GUIDE)


# what stands in the documents and is another program's
OTHERS = {"--build", "--config", "--help", "--report", "--strict", "--variant", "--yes"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_option_in_the_text_is_one(document: Path) -> None:
    """Also those that are spoken of outside of a command."""
    spoken = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", document.read_text()))
    assert spoken <= set(every_option()) | OTHERS


def test_every_path_in_the_text_is_there() -> None:
    for document in DOCUMENTS:
        for path in re.findall(r"`((?:reframe_checks|spack_env|results|docs|harness)/[\w./]+)`", document.read_text()):
            if "mycluster" not in path:  # what the commands would make
                assert (ROOT / path).exists(), f"{document.name} speaks of {path}"


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
        if re.match("spack (concretize|install|smoke)|run (?!.*--dry-run)", words):
            assert (status, "Spack is not on PATH" in error) == (2, True), words
        else:
            assert status == 0, f"{words}: {error}"
    assert (make_site.SITES / "mycluster" / "packages.yaml").is_file()
    assert (mycluster / "mycluster.py").is_file() and (mycluster / "modules.py").is_file()


def test_the_page_on_a_site_can_be_followed_up_to_its_job(mycluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, *_ = commands(indented(DOCS / "how-to" / "add-a-site.md"))
    assert made[:2] == ["site", "new"]
    assert main(made) == 0, capsys.readouterr().err
    site = (mycluster / made[2]).read_text()
    assert "mvapich2" in site and "batch" in site
    assert main(["list"]) == 0
