# SPDX-License-Identifier: BSD-3-Clause
"""A session that is kept has its samples and no path of this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.base import git
from harness.base.paths import ROOT
from harness.sessions import session as sessions
from harness.sessions.keep import main


@pytest.fixture
def session(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    for name in ("records", "logs", "figures", "calibration", "nodes"):
        (folder / name).mkdir(parents=True)
    launches = ["fft.vcluster.mpich.000.bare", "nas.vcluster.mpich.000.bare"]
    facts = {"state": "complete", "studies": ["fft", "nas"], "expected": launches, "build": f"{ROOT}/build/mpich"}
    (folder / "session.json").write_text(json.dumps(facts))
    for name in launches:
        (folder / "records" / f"{name}.jsonl").write_text(f'{{"program": "{ROOT}/build/mpich/bin/{name}"}}\n')
    (folder / "report.html").write_text(f"<p>{ROOT}</p>")
    return folder


def kept(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_samples_stay_and_paths_become_relative(session: Path, tmp_path: Path) -> None:
    assert main([str(session), str(tmp_path / "kept")]) == 0
    records = ["records/fft.vcluster.mpich.000.bare.jsonl", "records/nas.vcluster.mpich.000.bare.jsonl"]
    assert kept(tmp_path / "kept") == [*records, "session.json"]
    assert json.loads((tmp_path / "kept/session.json").read_text())["build"] == "build/mpich"
    assert not any(str(ROOT) in file.read_text() for file in (tmp_path / "kept").rglob("*.json*"))


@pytest.mark.parametrize(
    ("folder", "file"),
    [("gate", "gate.md"), ("gate", "gate.json"), ("tuning", "tuned-mpi.env"), ("costs", "core.json")],
)
def test_what_a_gate_a_race_or_the_costs_left_stays(session: Path, tmp_path: Path, folder: str, file: str) -> None:
    (session / folder).mkdir()
    (session / folder / file).write_text(f"of {ROOT}/build")
    assert main([str(session), str(tmp_path / "kept")]) == 0
    assert (tmp_path / "kept" / folder / file).read_text() == "of build"


def test_points_that_failed_are_kept_only_where_that_is_asked_for(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = json.loads((session / "session.json").read_text()) | {"state": "incomplete"}
    (session / "session.json").write_text(json.dumps(facts))
    assert main([str(session), str(tmp_path / "kept")]) == 2
    said = capsys.readouterr().err
    assert "is incomplete: only a complete session is kept; with points that failed, --failed keeps it" in said
    assert main([str(session), str(tmp_path / "kept"), "--failed"]) == 0
    assert json.loads((tmp_path / "kept/session.json").read_text())["state"] == "incomplete"
    (session / "session.json").write_text(json.dumps(facts | {"state": "running"}))
    assert main([str(session), str(tmp_path / "another"), "--failed"]) == 2


def test_some_studies_and_what_was_drawn(session: Path, tmp_path: Path) -> None:
    assert main([str(session), str(tmp_path / "kept"), "nas", "--drawn"]) == 0
    assert kept(tmp_path / "kept") == ["records/nas.vcluster.mpich.000.bare.jsonl", "report.html", "session.json"]
    facts = json.loads((tmp_path / "kept/session.json").read_text())
    assert (facts["studies"], facts["expected"]) == (["nas"], ["nas.vcluster.mpich.000.bare"])


@pytest.mark.parametrize(
    ("change", "arguments", "sentence"),
    [
        ("", ("himeno",), "The session has no study himeno: it has fft, nas."),
        ("interrupted", (), "is interrupted: only a complete session is kept."),
        ("gone", (), "is no session: it has no session.json."),
        ("there", (), "exists: remove it first, or name another folder."),
    ],
)
def test_mistakes_are_a_sentence_and_leave_nothing(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, arguments: tuple[str, ...],
    sentence: str,
) -> None:  # fmt: skip
    facts = session / "session.json"
    if change == "interrupted":
        facts.write_text(facts.read_text().replace("complete", change))
    if change == "gone":
        facts.unlink()
    before = {tmp_path / "kept"} if change == "there" else set()
    for folder in before:
        folder.mkdir()
    assert main([str(session), str(tmp_path / "kept"), *arguments]) == 2
    assert sentence in capsys.readouterr().err
    assert set(tmp_path.iterdir()) == {session, *before}


def test_a_kept_session_that_is_read_leaves_the_checkout_as_it_was() -> None:
    """Else every session that follows would say that it was measured with changes."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone")
    kept_one = sessions.load("results/reference/demo")
    kept_one.tidy()
    assert (kept_one.path / "lock").exists()
    told = git.ask(ROOT, "status", "--porcelain", "--", str(kept_one.path))
    assert told.status == 0 and "lock" not in told.out
    assert not git.ask(ROOT, "ls-files", "results/reference/**/lock").out
