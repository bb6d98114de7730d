# SPDX-License-Identifier: BSD-3-Clause
"""compare and claims from the command line: forms, exit status, and a sentence for every kind of bad session."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from analysis.subject import subjects
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic
from harness.cli import main
from harness.tests.sessions import refused

VARIANTS = {name: USUAL[name] for name in ("bare", "adaptive")}
BASE, SLOWER, AGAIN = "20260101-000000-base", "20260101-000001-slower", "20260101-000002-again"


def session(results: Path, name: str, **changed: Any) -> Path:
    made = {"mpis": {"mpich": VARIANTS}, "launches": 6, "samples": 5, "comp_over_comm": (1.0,), **changed}
    return Synthetic(**made).write(results / name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    session(folder, BASE)
    session(folder, SLOWER, seed=2, slowdown=1.1)
    session(folder, AGAIN, seed=3)
    return folder


@pytest.fixture
def results(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "results"))
    return Path(shutil.copytree(made, tmp_path / "results"))


@pytest.mark.usefixtures("results")
def test_status_1_on_a_regression_and_only_then(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", BASE, SLOWER]) == 1
    assert f"## {SLOWER} against {BASE}: slower" in capsys.readouterr().out
    assert main(["compare", SLOWER, BASE]) == 0
    assert main(["compare", BASE, AGAIN]) == 0


def test_the_forms_can_be_read_by_what_they_are_for(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", BASE, SLOWER, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["regression"]) == ("slower", True)
    assert main(["compare", BASE, SLOWER, "--format", "junit", "--out", str(results / "c.xml")]) == 1
    assert ElementTree.parse(results / "c.xml").getroot().tag == "testsuite"
    assert capsys.readouterr().out == ""
    assert main(["claims", BASE, "--json"]) == 0
    decided = {row["study"] for row in json.loads(capsys.readouterr().out)["claims"]}
    assert decided == {subject.id for subject in subjects()}


def test_another_machine_is_compared_only_by_force(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session(results, "20260101-000003-other", machine="Other CPU")
    said = refused("compare", BASE, "20260101-000003-other")
    assert "different processors: Example CPU in BASE, Other CPU in NEW" in said
    assert "cannot be written" in refused("compare", BASE, AGAIN, "--out", str(results / "absent" / "c.md"))
    assert main(["compare", BASE, "20260101-000003-other", "--force"]) == 0
    assert "compared by force: different processors" in capsys.readouterr().out


def damaged(results: Path, kind: str) -> str:
    """The name of a session that is bad in this way."""
    fails = {"mpich": {name: Behaviour(0.5, fails="timeout") for name in VARIANTS}}
    changes: dict[str, dict[str, Any]] = {"failed": {"mpis": fails}, "one": {"launches": 1, "samples": 1}}
    folder = session(results, f"20260101-000004-{kind}", seed=4, **changes.get(kind, {}))
    files = sorted((folder / "records").glob("*.jsonl"))
    spoilt = {
        "schema": ('"schema": 5', '"schema": 6'),
        "nan": ('"total_s": [', '"total_s": [NaN, '),
        "negative": ('"total_s": [', '"total_s": [-1.0, '),
    }
    if kind in spoilt:
        files[0].write_text(files[0].read_text().replace(*spoilt[kind], 1))
    for file in {"empty": files, "interrupted": files[8:]}.get(kind, []):
        file.unlink()
    if kind == "interrupted":
        facts = json.loads((folder / "session.json").read_text())
        (folder / "session.json").write_text(json.dumps({**facts, "state": "interrupted"}))
    return folder.name


# kind -> status and words of `compare BASE`, words of `claims`
BAD = {
    "empty": (2, "no points to compare: no record files", "no record files"),
    "schema": (1, "schema version 6, this analysis reads up to 5", "schema version 6"),
    "interrupted": (0, "is interrupted: what it had measured by then counts", "is interrupted"),
    "nan": (1, "sample 0 is not a finite number", "not a finite number"),
    "negative": (1, "sample 0 is a negative time (-1 s)", "negative time"),
    "one": (1, "No point was measured in both sessions with at least two launches each", "spread within one launch"),
    "failed": (1, "timeout: made up", "no point has what this claim needs"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_session_gets_a_sentence_from_every_command(
    results: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = damaged(results, kind)
    status, compared, claimed = BAD[kind]
    assert main(["compare", BASE, name]) == status
    said = capsys.readouterr()
    assert compared in said.out + said.err
    assert main(["claims", name]) == 0
    assert claimed in capsys.readouterr().out


def test_status_1_where_something_of_base_was_not_measured_again(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "20260101-000005-less"
    for file in (session(results, name, seed=5) / "records").glob("*adaptive*"):
        file.unlink()
    assert main(["compare", BASE, name]) == 1
    assert "1 point of BASE cannot be compared" in capsys.readouterr().out
    assert main(["compare", name, BASE]) == 0


def test_latest_is_the_newest_session_for_every_command(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And what is meant where none is named."""
    (results / "latest").symlink_to(AGAIN)
    said = []
    for words in ([], [AGAIN]):
        assert main(["claims", *words]) == 0
        said.append(capsys.readouterr())
    assert said[0].out == said[1].out
    assert "reproduced" in said[0].out and "miniGhost" not in said[0].out
    assert main(["claims", "--all"]) == 0
    assert "miniGhost" in capsys.readouterr().out
    assert main(["compare", BASE, "latest"]) == 0
    assert f"## {AGAIN} against {BASE}" in capsys.readouterr().out
    assert main(["report"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(results / AGAIN / "report.html")]


def test_claims_before_the_first_session_say_why_nothing_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "none"))
    assert main(["claims"]) == 0
    said = capsys.readouterr()
    assert "not measured" in said.out
    assert "no session yet, so nothing is measured: ./bench demo makes one" in said.err
    assert main(["claims", "latest"]) == 2
