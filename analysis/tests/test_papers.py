# SPDX-License-Identifier: BSD-3-Clause
"""The published numbers are complete rows, and the claims' thresholds are theirs."""

from __future__ import annotations

import pytest

from analysis.catalogue import CHAPTERS
from analysis.papers import COLUMNS, FOLDER, published


def test_every_number_has_its_source() -> None:
    frame = published()
    assert list(frame.columns) == [*COLUMNS, "paper"]
    assert frame.drop(columns="high").notna().all().all()
    assert set(frame["study"]) <= {chapter.id for chapter in CHAPTERS}
    assert set(frame["relation"]) <= {"=", "<", "<=", ">", "about", "up to"}
    assert set(frame["unit"]) <= {"s", "percent", "ratio", "bytes", "count", "bits_per_s", "Hz"}
    assert (frame["high"].isna() | (frame["high"] > frame["value"])).all()
    assert len(list(FOLDER.glob("*.csv"))) == 5


@pytest.mark.parametrize(
    ("study", "quantity", "threshold"),
    [
        ("M1", "performance improvement of the computation thread", lambda v: 1 + v / 100),
        ("R3", "performance improvement of P3DFFT", lambda v: 1 - v / 100),
        ("R4", "performance improvement of SPEC MPI compute-intensive applications", lambda v: 1 - v / 100),
        ("R1", "improvement of all-to-one collectives", lambda v: 1 - v / 100),
        ("P7", "overhead", lambda v: 1 + v / 100),
        ("P9", "maximum latency", lambda v: v),
        ("F4", "speed-up over existing parallel systems", lambda v: 1 / v),
    ],
)
def test_claims_use_the_published_numbers(study: str, quantity: str, threshold: object) -> None:
    frame = published()
    value = frame.loc[(frame["study"] == study) & (frame["quantity"] == quantity), "value"].item()
    claims = next(chapter for chapter in CHAPTERS if chapter.id == study).claims
    assert callable(threshold)
    assert pytest.approx(threshold(value)) in [claim.threshold for claim in claims]
