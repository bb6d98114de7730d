# SPDX-License-Identifier: BSD-3-Clause
"""The serial kernels: against the roofline of the machine, and beside the codes that they repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from analysis.catalogue import draw_all
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.studies.roofline import shares
from analysis.studies.serial import AS_FAST, SLOWER, UNKNOWN, Pair, pairs
from analysis.tests.test_claims import study_session
from analysis.tests.test_cross_check import Session


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


FIELD: dict[str, Any] = {"nx": 64, "ny": 64, "nz": 64, "field": "complex", "fields": 1}


def of_kernel(made: Session, kernel: str, ours: float, theirs: float, launches: int = 6) -> None:
    point = {"kernel": kernel, "class": "A", "mode": "blocking"}
    made.add(f"serial-kernel-{kernel}", "bare", point, {"mops": ours}, launches=launches)
    their_point = {"benchmark": kernel.upper(), "class": "A"}
    made.add(f"serial-npb-original-{kernel}", "bare", their_point, {"mops": theirs}, launches=launches)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    made = Session(tmp_path / "s")
    of_kernel(made, "cg", 1000.0, 1050.0)
    of_kernel(made, "mg", 850.0, 1000.0)
    of_kernel(made, "is", 500.0, 100.0, launches=2)
    pencils, whole = {**FIELD, "mode": "blocking"}, {**FIELD, "mode": "fftw"}
    real = {**FIELD, "field": "real", "mode": "fftw"}
    fields = [(pencils, {"mops": 5700.0}), (whole, {"mops": 6000.0}), (real, {"mops": 6000.0})]
    made.add_all("serial-fft", "bare", fields, noise=0.2)
    return made


def of(found: list[Pair], what: str) -> Pair:
    (one,) = [one for one in found if one.what == what]
    return one


def test_a_rate_is_held_against_the_same_kernel_and_class_of_theirs(session: Session) -> None:
    found = pairs(session.evidence())
    assert len(found) == 4, "a real field has our side missing"
    assert of(found, "NPB CG, class A").ratio.value == pytest.approx(1000 / 1050, rel=0.01)
    assert of(found, "NPB CG, class A").verdict == AS_FAST
    assert of(found, "NPB MG, class A").verdict == SLOWER
    assert of(found, "NPB IS, class A").verdict == UNKNOWN, "two launches decide nothing"


def test_what_the_same_launches_measured_is_compared_launch_by_launch(session: Session) -> None:
    """A launch may be half as fast as another: theirs is so, too."""
    field = of(pairs(session.evidence()), "FFT of 64 x 64 x 64, complex")
    assert field.ours.high / field.ours.low > 1.2
    assert field.ratio.value == pytest.approx(0.95, rel=0.01)
    assert field.verdict == AS_FAST


def test_the_figure_has_a_row_each(session: Session) -> None:
    (drawn,) = [drawn for drawn in draw_all(session.evidence(), "") if drawn.name == "serial"]
    assert len(drawn.points) == 4
