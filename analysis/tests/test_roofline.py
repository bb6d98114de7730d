# SPDX-License-Identifier: BSD-3-Clause
"""The roofline's bounds and shares on made-up records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.catalogue import draw_all
from analysis.documents.roofline import shares
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.tests.test_claims import study_session


def point(quantity: str, value: float, **parameters: Any) -> dict[str, Any]:
    return {"point": parameters, "samples": {quantity: [value] * 3}}


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    rates = {"multiply-integer": 8e9, "divide": 2e9, "sqrt": 1e9}
    studies = {
        "roofline-triad": [point("moved_bytes_per_s", 36e9, megabytes=4)],
        "roofline-peak": [point("operations_per_s", rate, operation=name) for name, rate in rates.items()],
        "roofline-himeno": [point("mflops", 12750, grid="XS"), point("mflops", 1, grid="L")],
        "roofline-npb": [point("mops", 400, **{"class": "S"})],
    }
    for name, points in studies.items():
        made = study_session(tmp_path / name, name, {"bare": points})
        for file in (made / "records").iterdir():
            (tmp_path / "s" / "records").mkdir(parents=True, exist_ok=True)
            file.rename(tmp_path / "s" / "records" / f"{name}.{file.name}")
    (tmp_path / "s" / "session.json").write_text("{}")
    return Evidence(load([tmp_path / "s"]))


def test_a_kernel_is_held_against_the_bound_of_its_own_size(evidence: Evidence) -> None:
    himeno, ep = shares(evidence)
    assert himeno.size == "XS"
    assert [himeno.reached.value, himeno.bound.value] == pytest.approx([12.75, 17])
    assert himeno.share.value == pytest.approx(0.75)
    assert [ep.reached.value, ep.bound.value] == pytest.approx([5.0, 1.75])
    assert ep.share.value == pytest.approx(0.35)


def test_the_report_has_a_figure(evidence: Evidence) -> None:
    (drawn,) = draw_all(evidence, "Data: made up.")
    assert (drawn.name, drawn.chapter) == ("roofline", "L1")
    assert drawn.found == "Himeno XS: 75 % of its bound; EP S: 35 % of its bound."


def test_what_was_measured_elsewhere_is_no_bound(evidence: Evidence, tmp_path: Path) -> None:
    """A kernel of another session has no bound there."""
    other = study_session(tmp_path / "other", "roofline-himeno", {"bare": [point("mflops", 100, grid="XS")]})
    assert len(shares(Evidence(load([tmp_path / "s", other])))) == len(shares(evidence)) == 2
