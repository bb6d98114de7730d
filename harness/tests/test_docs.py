# SPDX-License-Identifier: BSD-3-Clause
"""The pages in docs/, the README and the notebooks: their links and commands lead to something, and can be followed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from analysis.records.load import load
from analysis.subject import PAPERS
from docs.generate import differing
from harness.base import paths, process, variants
from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, ROOT
from harness.cli import main
from harness.commands import results
from harness.setup import build, environment
from harness.tests.pages import (
    DOCS,
    FENCED,
    README,
    anchors,
    blocks,
    commands,
    indented,
    links,
    pages,
    sentences,
    spoken_of,
    take,
)

INDEX = DOCS / "index.md"
# In the order in which a reader comes to them: a later one may use what an earlier one has made. The commands of other
# pages have whole tests of their own (gate, tune, models, the RDMA laboratory).
FOLLOWED = (
    "tutorial/first-ten-minutes.md",
    "tutorial/own-program.md",
    "how-to/compare-program.md",
    "how-to/read-a-report.md",
    "how-to/reproduce-a-paper.md",
    "how-to/add-an-mpi.md",
    "how-to/add-a-wait-strategy.md",
)
ANSWERS = {"./bench compare ": {0, 1}}  # what a measurement may say
LIMIT_S = 1500.0
OTHER_PAGES = [
    ROOT / "results/papers/README.md",
    ROOT / "results/reference/README.md",
    ROOT / "spack_env/TESTED.md",
    ROOT / "workloads/README.md",
]
MOST_WORDS = 30  # of a sentence: so a reader whose first language is another takes it in at once


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_page_is_in_the_index() -> None:
    listed = {(DOCS / link).resolve() for link in links(INDEX)}
    toctree = INDEX.read_text().partition("```{toctree}")[2].partition("```")[0].split()
    for page in set(pages()) - {INDEX}:
        assert f"{page.relative_to(DOCS).parts[0]}/*" in toctree and page in listed, name(page)


@pytest.mark.parametrize("page", [README, *pages()], ids=name)
def test_links_and_commands_of_a_page_lead_to_something(page: Path) -> None:
    for link in links(page):
        if not re.match(r"https?://", link):
            target, _, anchor = link.partition("#")
            file = (page.parent / target).resolve() if target else page
            assert file.exists() and (not anchor or anchor in anchors(file)), link
    # arguments may be left out of one that is spoken of: --help asks for none
    spoken = [[*arguments, "--help"] for arguments in commands(spoken_of(page)) if "--" not in arguments]
    for arguments in commands(blocks(page)) + spoken:
        taken(arguments)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda path: path.stem)
def test_commands_of_a_notebooks_prose_are_commands(path: Path) -> None:
    text = path.read_text().replace("\\\n#      ", "")
    named = re.findall(r"^#     (\./bench .*)$", text, re.MULTILINE) + re.findall(r"`(\./bench [^`]+)`", text)
    assert named
    for arguments in commands(named):
        taken([*arguments, "--help"])


@pytest.mark.parametrize("page", [README, *pages(), *OTHER_PAGES], ids=name)
def test_no_sentence_of_a_page_is_too_long(page: Path) -> None:
    assert [one for one in sentences(page.read_text()) if len(one.split()) > MOST_WORDS] == []


def taken(arguments: list[str]) -> None:
    try:
        take(arguments)
    except typer.Exit as end:
        assert end.exit_code == 0, arguments
    except Exception as error:
        raise AssertionError(f"./bench {' '.join(arguments)}: {error}") from error


def test_the_readmes_figure_is_of_the_commit_that_it_names() -> None:
    (session,) = load([ROOT / "results/reference/demo"]).sessions
    text = " ".join(README.read_text().split())
    named = re.search(r"Made by `\./bench demo` at commit ([0-9a-f]{7,}) on ([\d-]+), with", text)
    assert named and session["git"]["commit"].startswith(named[1]) and not session["git"]["dirty"]
    assert session["created"].startswith(named[2])


def test_the_generated_pages_are_up_to_date() -> None:
    assert differing() == [], "python -m docs.generate writes them"


@pytest.mark.mpi
def test_the_page_of_the_settings_has_those_that_progress_info_knows() -> None:
    build.ensure(MPIS["mpich"], "progress-info")
    told = json.loads(process.answer([str(MPIS["mpich"].build_dir / "bin" / "progress-info"), "--json"], 60.0).out)
    assert {one.key: one.initial for one in variants.settings()} == {
        setting["key"]: setting["default"] for setting in told["settings"]
    }


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_site_is_built_without_a_warning_and_needs_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["docs", "--out", str(tmp_path / "site")]) == 0
    index = Path(capsys.readouterr().out.strip())
    assert "--dry-run" in (index.parent / "reference" / "cli-measure.html").read_text()
    for page in pages():
        html = (index.parent / page.relative_to(DOCS)).with_suffix(".html").read_text()
        assert not re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', html), name(page)


def test_a_folder_of_somebody_elses_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("")
    assert main(["docs", "--out", str(tmp_path)]) == 2
    assert "no site of pages" in capsys.readouterr().err
    assert (tmp_path / "mine").exists()


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh clone of what is committed here: it makes its own environment, MPIs and builds. What has been compiled
    here is not compiled again."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git history here to clone")
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    cache = BUILD_DIR / "ccache"
    if cache.is_dir():
        shutil.copytree(cache, folder / cache.relative_to(ROOT))
    return folder


@pytest.mark.long
@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("page", FOLLOWED)
def test_a_page_is_followed_on_a_fresh_clone(page: str, clone: Path) -> None:
    """Its indented blocks; in fenced ones is what takes a cluster, hours or something of the reader's."""
    text = (clone / "docs" / page).read_text()
    programs = [body for _, _, body in FENCED.findall(text) if "#include" in body]
    for file, content in zip(re.findall(r"Save it as `([^`]+)`", text), programs, strict=True):
        (clone / file).parent.mkdir(parents=True, exist_ok=True)
        (clone / file).write_text(content)
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("OVERLAP_BENCH_", "PYTHONPA"))
    }
    for line in indented(clone / "docs" / page):
        done = process.answer(["bash", "-c", line], LIMIT_S, environment, clone)
        good = next((statuses for start, statuses in ANSWERS.items() if line.startswith(start)), {0})
        assert done.status in good, f"{line}\n{done.out[-2000:]}\n{done.err[-3000:]}"
        assert "Traceback" not in done.out + done.err, line


DEMO = paths.folder_of(ROOT / "results" / "reference" / "demo")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    """What would be run, where nothing is installed or opened."""
    calls: list[tuple[list[str], dict[str, str]]] = []
    monkeypatch.setattr(results, "COPIES", tmp_path / "copies")
    monkeypatch.setattr(environment, "ensure_group", lambda _name: None)
    monkeypatch.setattr(os, "execve", lambda _path, words, variables: calls.append((words, variables)))

    def convert(_title: str, words: list[str]) -> None:
        Path(words[words.index("--output") + 1]).write_text(Path(words[-1]).read_text())

    monkeypatch.setattr(results, "run_step", convert)
    return calls


def test_jupyterlab_opens_a_copy_on_the_session(
    started: list[tuple[list[str], dict[str, str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OVERLAP_BENCH_SESSION", raising=False)
    results.notebook("does-mpi-progress", session=str(DEMO), browser=False)
    ((words, variables),) = started
    assert words[0].endswith("bin/jupyter-lab")
    assert words[-1] == str(tmp_path / "copies" / "does_mpi_progress.ipynb")
    assert "--no-browser" in words
    assert variables["OVERLAP_BENCH_SESSION"] == f"'{DEMO}'"
    results.notebook("tuning")
    assert "OVERLAP_BENCH_SESSION" not in started[1][1]


def test_ones_own_copy_is_kept_unless_another_is_asked_for(
    started: list[tuple[list[str], dict[str, str]]], tmp_path: Path
) -> None:
    copy = tmp_path / "copies" / "papers.ipynb"
    results.notebook("papers")
    copy.write_text("mine")
    results.notebook("papers")
    assert copy.read_text() == "mine"
    results.notebook("papers", anew=True)
    assert "Denis" in copy.read_text()
    assert len(started) == 3


def test_a_name_or_session_that_is_not_there(started: list[tuple[list[str], dict[str, str]]]) -> None:
    with pytest.raises(UsageError, match=r"no notebook 'paper'\. Is papers meant\? There are: does-mpi-progress"):
        results.notebook("paper")
    for paper in PAPERS:
        with pytest.raises(UsageError, match=f"'{paper}' is a part of 'papers'"):
            results.notebook(paper)
    with pytest.raises(UsageError, match="no session 'nowhere'"):
        results.notebook("papers", session="nowhere")
    assert not started
