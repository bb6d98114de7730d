# SPDX-License-Identifier: BSD-3-Clause
"""A model is held against points to which it is not fitted, and against what was measured after it had predicted."""

from __future__ import annotations

import datetime
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis.records.load import load
from analysis.tests.synthetic import USUAL, Synthetic
from harness.base.errors import UsageError
from harness.base.mpis import WHEEL_MPIS
from harness.base.paths import ROOT
from harness.cli import main
from harness.commands import predictions
from harness.sessions.model_points import FIT, VALIDATION, without_computation
from harness.simulated import model_file, model_folder
from harness.sites import systems
from harness.tests.sessions import refused
from simulator.check import judge, page, pair, totals

KEPT = ROOT / "results" / "reference"
MODEL = model_folder.SHIPPED / model_folder.DEFAULT
MEASURED = datetime.datetime(2026, 11, 21, 9, tzinfo=datetime.timezone.utc)  # as analysis.tests.synthetic says
BEFORE, AFTER = (MEASURED + datetime.timedelta(hours=hours) for hours in (-1, 1))


def test_no_point_is_in_both_tables() -> None:
    fitted, held = ([point for part in table for point in part.points()] for table in (FIT, VALIDATION))
    assert fitted and held
    assert [point for point in held if point in fitted] == []
    assert without_computation({"size_bytes": 1, "comp_s": 0.1}) == without_computation({"size_bytes": 1})


def test_every_part_is_a_run_of_all_three_mpis_and_more_ranks_than_cores_sleep() -> None:
    system = systems.by_name("vcluster")
    for part in FIT + VALIDATION:
        jobs = part.request(system, {"launches": "1"}).jobs()
        assert {job.mpi for job in jobs} == set(WHEEL_MPIS)
        asleep = {point.get("compute") for job in jobs for point in job.scale.points()}
        assert asleep == {"sleep"} if part.nodes > 2 else "sleep" not in asleep
    assert {part.nodes for part in VALIDATION} == {2, 4, 8}


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    return Synthetic(mpis={"mpich": variants}, comp_over_comm=(1.0,), comp_s=(0.03,)).write(tmp_path / "measured")


def _written(path: Path, when: datetime.datetime, monkeypatch: pytest.MonkeyPatch, factor: float = 1.0) -> Path:
    """What the session's own times, by `factor`, would be as predictions."""
    times = totals(load([path.parent / "measured"]))
    monkeypatch.setattr(predictions, "utc_now", lambda: when)
    predictions.write(path, MODEL, {key: number.scaled(factor) for key, number in times.items()}, [])
    return path


def test_errors_and_page_are_those_of_the_file(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = _written(tmp_path / "predicted.json", BEFORE, monkeypatch, 1.1)
    content = json.loads(file.read_text())
    assert content["files"] == model_folder.files(MODEL)
    assert len(content["model_sha256"]) == 64
    found = predictions.read(file)
    records = load([measured])
    found.must_be_older("measured", records)
    verdict = judge(pair(found.points, totals(records)))
    assert len(verdict.points) == 2
    assert verdict.error == pytest.approx(0.1)
    assert (verdict.pairs, verdict.in_order) == (1, 1)
    assert set(verdict.errors) == {"mpich", "overlap-ratio", "2 ranks"}
    text = page(verdict, ["made up"], records.sessions)
    rows = [line for line in text.splitlines() if line.startswith("| overlap-ratio | mpich | 2 |")]
    assert len(rows) == 1 and rows[0].count("+10 %") == 2, "a row a point, a cell a variant"
    assert "| all 2 points | 10.0 % |" in text and "right in 1 of 1 (100 %)." in text
    assert "- session measured: " in text


def test_a_younger_prediction_is_refused(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = predictions.read(_written(tmp_path / "predicted.json", AFTER, monkeypatch))
    with pytest.raises(UsageError, match=r"was written 2026-11-21 10:00:00 UTC, and session measured was measured"):
        found.must_be_older("measured", load([measured]))


@pytest.mark.skipif(not shutil.which("git"), reason="git is not here")
def test_a_prediction_committed_later_is_refused(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _written(tmp_path / "predicted.json", BEFORE, monkeypatch)
    assert "not committed" in predictions.read(file).words()

    def git(*words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True, timeout=120)

    def commit(when: datetime.datetime) -> None:
        monkeypatch.setenv("GIT_COMMITTER_DATE", when.isoformat())
        git("add", file.name)
        git("commit", "-m", "as predicted")

    git("init")
    commit(BEFORE)
    found = predictions.read(file)
    assert "committed as" in found.words()
    found.must_be_older("measured", load([measured]))
    file.write_text(file.read_text() + "\n")
    commit(AFTER)
    with pytest.raises(UsageError, match=r"was changed by commit \w+ at 2026-11-21 10:00:00 UTC"):
        predictions.read(file).must_be_older("measured", load([measured]))


def test_a_fit_says_who_asks_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sessions = [str(KEPT / "model" / name) for name in ("messages", "lengths", "collectives")]
    assert main(["calibrate-model", *sessions, "--out", str(tmp_path / "model")]) == 0
    model_file.read(tmp_path / "model" / "mpich.json")
    said = capsys.readouterr().out
    assert "  mpich asks first, above 1572864 bytes\n" in said
    assert "  intel-mpi asks nobody before it sends\n" in said


def test_a_line_that_no_model_has_is_not_fitted_and_a_page_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    out, against = tmp_path / "model", str(ROOT / "results" / "predictions" / "vcluster.json")
    said = refused("calibrate-model", str(KEPT / "collectives" / "two-nodes"), "--out", str(out))
    assert "is of a line limited by tbf" in said and not out.exists()
    assert "is of a line limited by tbf" in refused("validate-model", str(KEPT / "collectives" / "two-nodes"))
    call = ("validate-model", str(KEPT / "model" / "eight-ranks"), "--against", against)
    assert "page.md cannot be written" in refused(*call, "--out", str(tmp_path / "none" / "page.md"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', '{"schema": 2, "model": "m", "written": "soon"}'])
def test_what_is_no_file_of_predictions_is_a_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "predicted.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"--against .*predicted\.json"):
        predictions.read(file)
