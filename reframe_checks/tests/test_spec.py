# SPDX-License-Identifier: BSD-3-Clause
"""R4's studies are those that the report maps to SPEC's codes, and every code of the suite is in that map."""

from __future__ import annotations

from analysis.studies.ruhela.spec import COUNTERPARTS
from reframe_checks.catalogue import studies
from reframe_checks.studies.ruhela import OPEN
from workloads.apps.spec import LARGE, MEDIUM
from workloads.apps.table import CODES


def test_the_report_maps_what_is_run() -> None:
    assert {f"spec-{case}" for case in OPEN} == {part.study for part in COUNTERPARTS if part.study}
    assert {f"spec-{case}" for case in OPEN} <= set(studies())
    assert {name for part in COUNTERPARTS for name in part.theirs} == {*MEDIUM, *LARGE}


def test_what_is_run_by_hand_is_a_code_that_says_how() -> None:
    by_hand = {part.by_hand for part in COUNTERPARTS if part.by_hand}
    rows = {code.name: code for code in CODES if not code.cases and code.debian}
    assert by_hand == set(rows)
    assert all("./bench mpirun --mpi debian-openmpi --variant adaptive" in code.note for code in rows.values())


def test_a_run_that_names_none_takes_the_distributions_mpi() -> None:
    assert all(
        scale.mpis == ("debian-openmpi",) for name in OPEN for scale in studies()[f"spec-{name}"].scales.values()
    )
