# SPDX-License-Identifier: BSD-3-Clause
"""The pages in docs/: all in the index, their links and commands lead to something."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer

import docs.generate
from docs.generate import differing, everything
from harness.base import engine_settings, process
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.cli import main
from harness.setup import build
from harness.tests.pages import DOCS, README, anchors, blocks, commands, links, pages, spoken_of, take

INDEX = DOCS / "index.md"
KINDS = {"tutorial", "how-to", "reference", "explanation", "measured"}
FOLDERS = (
    ".ci", "analysis", "cmake", "docs", "harness", "progress_engine", "reframe_checks", "results/papers",
    "results/reference", "spack_env", "workloads",
)  # fmt: skip
TEXTS = {".cpp", ".h", ".hpp", ".json", ".md", ".py", ".toml", ".txt", ".yaml"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


each_page = pytest.mark.parametrize("page", [README, *pages()], ids=name)


def test_every_page_is_of_a_kind_and_in_the_index() -> None:
    listed = {(DOCS / link).resolve() for link in links(INDEX)}
    toctree = INDEX.read_text().partition("```{toctree}")[2].partition("```")[0].split()
    for page in set(pages()) - {INDEX}:
        kind = page.relative_to(DOCS).parts[0]
        assert kind in KINDS, f"{name(page)}: its folder is none of {sorted(KINDS)}"
        assert f"{kind}/*" in toctree, f"docs/index.md's toctree has no {kind}/*"
        assert page in listed, f"docs/index.md has no link to {name(page)}"


@each_page
def test_every_link_leads_to_something(page: Path) -> None:
    for link in links(page):
        if re.match(r"https?://", link):
            continue
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), f"{name(page)}: {link}: no such file"
        assert not anchor or anchor in anchors(file), f"{name(page)}: {link}: no such heading"


@each_page
def test_every_command_is_one_and_has_these_options(page: Path) -> None:
    # arguments may be left out of one that is spoken of: --help asks for none
    given = commands(blocks(page))
    given += [[*arguments, "--help"] for arguments in commands(spoken_of(page)) if "--" not in arguments]
    for arguments in given:
        try:
            take(arguments)
        except typer.Exit as end:
            assert end.exit_code == 0, f"{name(page)}: {arguments}"
        except Exception as error:
            raise AssertionError(f"{name(page)}: ./bench {' '.join(arguments)}: {error}") from error


def test_the_generated_pages_are_up_to_date() -> None:
    assert differing() == [], "python -m docs.generate writes them"


@pytest.mark.parametrize("page", ["settings.md", "claims.md"])
def test_an_old_generated_page_would_be_found(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs.generate, "FOLDER", tmp_path)
    for name, text in everything().items():
        (tmp_path / name).write_text(text)
    assert differing() == []
    (tmp_path / page).write_text("another text")
    assert differing() == [page]


def test_a_settings_value_is_written_as_it_is_set() -> None:
    rows = [line.split(" | ") for line in everything()["settings.md"].splitlines() if line.startswith("| `")]
    values = re.compile(r"^(\w+)=")
    named = [found[1] for row in rows if (found := values.match(row[-1]))]
    assert named and set(named) <= {one.key for one in engine_settings.settings()}


@pytest.mark.mpi
def test_the_page_of_the_settings_has_those_that_progress_info_knows() -> None:
    build.ensure(MPIS["mpich"], "progress-info")
    told = json.loads(process.answer([str(MPIS["mpich"].build_dir / "bin" / "progress-info"), "--json"], 60.0).out)
    assert {one.key: one.initial for one in engine_settings.settings()} == {
        setting["key"]: setting["default"] for setting in told["settings"]
    }


@pytest.mark.full
@pytest.mark.timeout(600)
def test_the_site_is_built_without_a_warning_and_needs_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["docs", "--out", str(tmp_path / "site")]) == 0
    index = Path(capsys.readouterr().out.strip())
    assert index == tmp_path / "site" / "index.html"
    assert "--dry-run" in (index.parent / "reference" / "cli-measure.html").read_text()
    for page in pages():
        html = (index.parent / page.relative_to(DOCS)).with_suffix(".html").read_text()
        foreign = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?:', html)
        assert not foreign, f"{name(page)} asks another host: {foreign}"


def test_a_folder_of_somebody_elses_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("")
    assert main(["docs", "--out", str(tmp_path)]) == 2
    assert "no site of pages" in capsys.readouterr().err
    assert (tmp_path / "mine").exists()


def test_every_page_named_in_the_sources_is_there() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in TEXTS]
    assert len(files) > 500
    for path in [*files, README, ROOT / "pyproject.toml"]:
        if "__pycache__" in path.parts or not path.is_file():
            continue
        for page in re.findall(r"\bdocs/[\w/-]+\.(?:md|svg|png)\b", path.read_text(errors="replace")):
            assert (ROOT / page).exists(), f"{name(path)} names {page}"
