# SPDX-License-Identifier: BSD-3-Clause
"""R4 on made-up records: the best preset of each program against bare; SPEC's own runs are estimates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from analysis.catalogue import draw_all
from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.studies.ruhela import COUNTERPARTS, BestPreset
from analysis.tests.synthetic import end, header, write_lines
from analysis.tests.test_compare_failures import timed_out

TIMES = (10.0, 10.02, 9.99, 10.01, 9.98, 10.03)


def session(folder: Path, study: str, point: dict[str, Any], factors: dict[str, float], name: str = "lammps") -> Path:
    """Six launches a variant that take `factors` of ten seconds."""
    (folder / "records").mkdir(parents=True, exist_ok=True)
    (folder / "session.json").write_text(json.dumps({"session": folder.name, "machine": {}}))
    for repetition, seconds in enumerate(TIMES):
        for variant, factor in factors.items():
            launch = f"{study}.{repetition}.{variant}"
            context = {"study": study, "system": "s", "mpi": "debian-openmpi", "variant": variant, "launch": launch}
            head = header(context)
            head["header"]["workload"] = {"name": name, "version": None}
            samples = {"whole_s": [seconds * factor], "time_s": [0.9 * seconds * factor]}
            line = {"point": point, "rank": 0, "status": "ok", "samples": samples}
            write_lines(folder / "records" / f"{launch}.jsonl", [head, line, end(variant)])
    return folder


def rows(folder: Path) -> dict[str, tuple[str, str, str]]:
    """Claim -> decision, point and reason."""
    return {row.claim[:10]: (row.decision, row.point, row.reason) for row in table([folder]).rows if row.study == "R4"}


CAVITY = "spec-openfoam-cavity"
EVERY = [part.study for part in COUNTERPARTS if part.study]


def test_the_best_preset_counts_with_an_interval_for_all_of_them(tmp_path: Path) -> None:
    factors = {"bare": 1.0, "idle": 1.2, "adaptive": 0.95, "offload": 0.9}
    folder = session(tmp_path / "s", "spec-dolfinx-poisson-cg", {}, factors)
    value, *others = BestPreset("whole_s")(Evidence(load([folder])), "spec-dolfinx-poisson-cg")
    assert value.variant == "offload"
    assert value.interval.low < 0.9 < value.interval.high
    assert "simultaneous over 3 points" in value.interval.kind
    assert value.point == "dolfinx-poisson-cg (offload, best of 3 presets)"
    assert [one.caveat for one in others] == [
        f"{name.removeprefix('spec-')}: not run" for name in EVERY if name != "spec-dolfinx-poisson-cg"
    ]


def test_what_was_not_run_keeps_the_claim_open(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    for name in EVERY[:-1]:
        session(folder, name, {}, {"bare": 1.0, "adaptive": 0.9})
    decision, _, reason = rows(folder)["The best p"]
    assert (decision, reason) == ("inconclusive", "npb-original-lu: not run")
    session(folder, EVERY[-1], {}, {"bare": 1.0, "adaptive": 0.9})
    decision, point, _ = rows(folder)["The best p"]
    assert decision == "reproduced"
    assert point.endswith(" (adaptive, best of 1 preset)")


def test_every_program_must_hold(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", "spec-lammps-melt", {"atoms": 32000}, {"bare": 1.0, "adaptive": 1.0})
    session(folder, CAVITY, {}, {"bare": 1.0, "adaptive": 1.3}, "openfoam")
    decision, point, _ = rows(folder)["The best p"]
    assert decision == "not reproduced"
    assert point == "openfoam-cavity (adaptive, best of 1 preset)"


def test_a_preset_that_failed_is_not_the_best(tmp_path: Path) -> None:
    factors = {"bare": 1.0, "adaptive": 1.0, "offload": 0.5}
    folder = timed_out(session(tmp_path / "s", CAVITY, {}, factors), "*.0.offload*")
    value = BestPreset("whole_s")(Evidence(load([folder])), CAVITY)[0]
    assert value.point == "openfoam-cavity (adaptive, best of 1 preset)"
    assert value.remark == "offload left out (timeout: did not end within 60 s)"
    for variant, why in (("bare", "bare: timeout: "), ("adaptive", "no preset has a value; adaptive left out (")):
        failing = timed_out(session(tmp_path / variant, CAVITY, {}, {"bare": 1.0, "adaptive": 1.0}), f"*.{variant}*", 6)
        value = BestPreset("whole_s")(Evidence(load([failing])), CAVITY)[0]
        assert value.caveat.startswith(why)


def test_the_figure_says_what_stands_for_which_code(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", "spec-lammps-melt", {"atoms": 32000}, {"bare": 1.0, "adaptive": 1.0})
    (drawn,) = [one for one in draw_all(Evidence(load([folder])), "") if one.chapter == "R4"]
    assert drawn.name == "spec_substitute"
    assert "126.lammps (molecular dynamics): lammps-melt;" in drawn.found
    assert "128.GAPgeofem (finite elements): dolfinx-poisson-cg, not run" in drawn.found
    by_hand, _, lacking = drawn.found.partition(" Without a counterpart: ")
    assert "run by hand as ./bench apps says: 122.tachyon (ray tracing): tachyon; 125.RAxML (phylog" in by_hand
    assert "121.pop2 (ocean): no packaged counterpart was found" in lacking
    assert "tachyon" not in lacking


def test_specs_own_codes_are_estimates_and_the_licence_is_seen(tmp_path: Path) -> None:
    point = {"benchmark": "126.lammps", "size": "mref"}
    factors = {"bare": 1.0, "adaptive": 0.5}
    folder = session(tmp_path / "s", "spec-mpi2007-medium", point, factors, "spec-mpi2007")
    decision, _, reason = rows(folder)["SPEC MPI20"]
    assert decision == "not testable here"
    assert "384 processes" in reason
    assert "licensed" not in reason
    (drawn,) = [one for one in draw_all(Evidence(load([folder])), "") if one.chapter == "R4"]
    assert (drawn.name, drawn.title) == ("spec_mpi2007", "SPEC MPI2007: estimates, no compliant runs")


def test_the_substitute_is_not_taken_for_the_suite(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", "spec-lammps-melt", {"atoms": 32000}, {"bare": 1.0, "adaptive": 0.5})
    decision, _, reason = rows(folder)["SPEC MPI20"]
    assert decision == "not testable here"
    assert "SPEC MPI2007 is licensed and was not given" in reason


def test_every_code_of_the_suite_is_named_once() -> None:
    names = [name for part in COUNTERPARTS for name in part.theirs]
    assert len(names) == len(set(names)) == 18
    assert all([bool(part.study), bool(part.by_hand), bool(part.why)].count(True) == 1 for part in COUNTERPARTS)
