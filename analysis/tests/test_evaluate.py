# SPDX-License-Identifier: BSD-3-Clause
"""From records to metrics: the truth that the synthetic sessions were made with must come out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.metrics.evaluate import evaluate
from analysis.records.load import load
from analysis.tests.synthetic import MB, Behaviour, Synthetic


def metric(frame: pd.DataFrame, name: str, variant: str, **where: object) -> pd.Series:
    part = frame[(frame["metric"] == name) & (frame["variant"] == variant)]
    for column, value in where.items():
        part = part[part[column] == value]
    assert len(part) == 1
    return part.iloc[0]


def exact(**changed: object) -> Synthetic:
    """A session without any spread: every number is known."""
    return Synthetic(**({"launches": 2, "samples": 3, "launch_spread": 0.0, "sample_spread": 0.0} | changed))  # type: ignore[arg-type]


def test_efficiency_and_inflation_are_those_the_session_was_made_with(tmp_path: Path) -> None:
    frame = evaluate(load([exact(patterns=("both", "sender", "receiver")).write(tmp_path / "s")]))
    for pattern in ("both", "sender", "receiver"):
        for ratio in (0.25, 1.0, 4.0):
            where = {"pattern": pattern, "comp_over_comm": ratio}
            assert metric(frame, "overlap_efficiency", "adaptive", **where)["value"] == pytest.approx(0.93, abs=1e-4)
            # No computation is longer than the step that it is in.
            inflation = min(1.97, (ratio + 1 + 0.2 * min(ratio, 1)) / ratio)
            found = metric(frame, "compute_inflation", "mpi-async", **where)["value"]
            assert found == pytest.approx(inflation, abs=1e-4)
            assert metric(frame, "standing_cost", "mpi-async", **where)["value"] == pytest.approx(1.5, abs=1e-4)


def test_the_acknowledgement_is_subtracted(tmp_path: Path) -> None:
    made = exact(comp_over_comm=(1.0,), sizes=(1024,))
    frame = evaluate(load([made.write(tmp_path / "s")]))
    comm, _, total = made.truth({"size_bytes": 1024, "comp_over_comm": 1.0}, Behaviour(0.93))
    found = metric(frame, "send_time", "adaptive")
    assert found["value"] == pytest.approx(total, abs=2e-9)
    assert found["reference_comm_s"] == pytest.approx(comm, abs=2e-9)


def test_an_acknowledgement_that_came_meanwhile_is_not_subtracted(tmp_path: Path) -> None:
    session = exact(comp_over_comm=(1.0,), sizes=(1024,)).write(tmp_path / "s")
    own = ("post_s", "comp_in_s", "wait_s")
    for file in (session / "records").glob("*adaptive*"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for samples in (line["samples"] for line in lines if line.get("samples")):
            samples["total_s"] = [sum(parts) for parts in zip(*(samples[name] for name in own), strict=True)]
            whole = samples["total_s"][0]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    row = metric(evaluate(load([session])), "send_time", "adaptive")
    assert [row[name] for name in ("low", "value", "high")] == pytest.approx([whole] * 3, abs=2e-9)


def test_the_reference_is_bares_even_where_the_variant_slows_its_own(tmp_path: Path) -> None:
    frame = evaluate(load([exact(comp_over_comm=(1.0,)).write(tmp_path / "s")]))
    row = metric(frame, "overlap_ratio", "mpi-async")
    assert row["reference_comp_s"] == pytest.approx(metric(frame, "overlap_ratio", "bare")["reference_comp_s"])
    assert row["value"] == pytest.approx(2.2, abs=1e-4)


def test_intervals_say_what_they_are(tmp_path: Path) -> None:
    for launches, words, defensible in (
        (6, "95 % interval", True),
        (3, "spread of 3", False),
        (1, "one launch", False),
    ):
        made = Synthetic(launches=launches, comp_over_comm=(1.0,)).write(tmp_path / f"s{launches}")
        row = metric(evaluate(load([made])), "overlap_efficiency", "adaptive")
        assert words in row["interval"]
        assert row["defensible"] == defensible
        assert row["low"] < row["value"] < row["high"]


def test_failed_points_and_missing_variants_keep_a_row_with_the_reason(tmp_path: Path) -> None:
    variants = {"bare": Behaviour(0.1), "idle": Behaviour(0.3, fails="timeout"), "adaptive": Behaviour(0.9)}
    session = Synthetic(mpis={"mpich": variants}, launches=1, comp_over_comm=(1.0,)).write(tmp_path / "s")
    file = next((session / "records").glob("*adaptive*"))
    file.write_text("\n".join(file.read_text().splitlines()[:1]) + "\n")  # died before its first point
    frame = evaluate(load([session]))
    idle = metric(frame, "overlap_ratio", "idle")
    assert (idle["status"], idle["reason"], np.isnan(idle["value"])) == ("timeout", "made up", True)
    adaptive = metric(frame, "overlap_ratio", "adaptive")
    assert adaptive["status"] == "missing"
    assert "incomplete" in adaptive["reason"]


def test_without_bare_there_is_a_sentence_in_place_of_a_ratio(tmp_path: Path) -> None:
    session = exact(mpis={"mpich": {"adaptive": Behaviour(0.9)}}, comp_over_comm=(1.0,)).write(tmp_path / "s")
    frame = evaluate(load([session]))
    assert "no reference" in metric(frame, "overlap_efficiency", "adaptive")["note"]
    assert metric(frame, "send_time", "adaptive")["value"] > 0


def test_computation_of_zero(tmp_path: Path) -> None:
    session = exact(study="send-time", comp_s=(0.0,), sizes=(MB,)).write(tmp_path / "s")
    frame = evaluate(load([session]))
    assert metric(frame, "send_time", "bare")["ideal"] == pytest.approx(50e-6 + MB / 120e6, rel=1e-4)
    assert "no computation" in metric(frame, "overlap_ratio", "bare")["note"]


def test_nothing_measured_is_an_empty_frame(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert len(evaluate(load([tmp_path / "empty"]))) == 0


def test_the_same_records_give_the_same_intervals(tmp_path: Path) -> None:
    session = Synthetic(launches=2, comp_over_comm=(1.0,)).write(tmp_path / "s")
    pd.testing.assert_frame_equal(evaluate(load([session])), evaluate(load([session])))


def test_one_sample_has_a_value_and_no_confidence(tmp_path: Path) -> None:
    frame = evaluate(load([Synthetic(launches=1, samples=1, comp_over_comm=(1.0,)).write(tmp_path / "s")]))
    row = metric(frame, "overlap_ratio", "adaptive")
    assert row["value"] > 0
    assert not row["defensible"]


def test_different_work_in_one_point_is_said(tmp_path: Path) -> None:
    session = exact(mpis={"mpich": {"bare": Behaviour(0.1)}}, comp_over_comm=(1.0,)).write(tmp_path / "s")
    file = min((session / "records").glob("*.jsonl"))
    file.write_text(file.read_text().replace('"work_units": 1000', '"work_units": 1100'))
    assert "different amounts of work" in metric(evaluate(load([session])), "overlap_ratio", "bare")["note"]
