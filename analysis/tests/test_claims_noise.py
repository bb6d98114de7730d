# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a point beside its interval: what no interval holds bars a decision, the rest is said beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.table import table as claims_table
from analysis.evidence import disturbed, remark
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic
from analysis.tests.test_claims import rows_of, study_session

VARIANTS = {name: USUAL[name] for name in ("bare", "adaptive")}


def changed(session: Path, variant: str, **fields: Any) -> Path:
    """The session with fields of every point of a variant set; a field `noise` is merged into what is there."""
    for file in (session / "records").glob(f"*.{variant}.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            if "point" in line:
                line.update({name: value for name, value in fields.items() if name != "noise"})
                line["noise"] = {**line["noise"], **fields.get("noise", {})}
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return session


def p1(session: Path) -> Any:
    return rows_of(claims_table([session]), "P1")[0]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Synthetic(mpis={"mpich": VARIANTS}, comp_over_comm=(1.0,)).write(tmp_path / "s")


def test_a_quiet_point_decides_without_a_remark(session: Path) -> None:
    assert (p1(session).decision, p1(session).reason) == ("reproduced", "")


def test_a_disturbed_point_cannot_decide(session: Path) -> None:
    row = p1(changed(session, "adaptive", noise={"steal_s": 0.5}))
    assert row.decision == "inconclusive"
    assert "the machine was disturbed: others took" in row.reason


def test_a_little_steal_does_not_bar(session: Path) -> None:
    assert p1(changed(session, "adaptive", noise={"steal_s": 0.01})).decision == "reproduced"


def test_samples_that_did_not_converge_are_named_beside_the_decision(session: Path) -> None:
    row = p1(changed(session, "adaptive", converged=False))
    assert row.decision == "reproduced", "the interval over six launches holds their noise"
    assert row.reason == "its samples did not converge: the interval over launches holds that"


def test_noise_larger_than_the_effect_is_named(tmp_path: Path) -> None:
    same = {"bare": Behaviour(0.93), "adaptive": Behaviour(0.93)}
    row = p1(Synthetic(mpis={"mpich": same}, comp_over_comm=(1.0,)).write(tmp_path / "s"))
    assert "its noise is larger than its difference to bare" in row.reason


def test_other_measures_heed_it_too(tmp_path: Path) -> None:
    def ratio(steal_s: float) -> Any:
        points = [
            {"point": {"receivers": n}, "samples": {"latency_s": [1.0] * 3}, "noise": {"steal_s": steal_s * (n > 1)}}
            for n in (1, 4)
        ]
        name = f"s{steal_s}"
        found = study_session(tmp_path / name, "one-to-many", {"idle": points}, machine={"cores": 8})
        return rows_of(claims_table([found]), "P8")[0]

    assert ratio(0.01).decision == "reproduced"
    disturbed_row = ratio(1.0)
    assert disturbed_row.decision == "inconclusive"
    assert "others took" in disturbed_row.reason


@pytest.mark.parametrize(("share", "said"), [(None, False), (0.02, False), (0.021, True), (float("nan"), False)])
def test_from_two_percent_on_a_point_counts_as_disturbed(share: float | None, said: bool) -> None:
    assert bool(disturbed(share)) == said


def test_remarks_in_words() -> None:
    assert remark(True) == remark(None) == ""
    assert remark(False, True, "bare").startswith("its samples did not converge and its noise is larger than 5 %")
