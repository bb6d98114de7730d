# SPDX-License-Identifier: BSD-3-Clause
"""What a model predicted is called so: in claims, in cautions, in figures."""

from __future__ import annotations

import json
from pathlib import Path

from analysis.benchmarks.synthetic import USUAL, Synthetic
from analysis.catalogue import draw_all
from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.records.load import load


def _session(folder: Path) -> Path:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    return Synthetic(mpis={"mpich": variants}, patterns=("both",), comp_over_comm=(1.0,)).write(folder)


def _say(session: Path) -> None:
    """In every record, as the simulator does."""
    for file in (session / "records").iterdir():
        first, *rest = file.read_text().splitlines()
        header = json.loads(first)
        header["header"]["context"]["simulated"] = {"files": {"platform.xml": "0" * 64}, "draw": 0}
        file.write_text("\n".join([json.dumps(header), *rest]) + "\n")


def test_a_simulation_predicts_and_reproduces_nothing(tmp_path: Path) -> None:
    measured, simulated = (_session(tmp_path / name) for name in ("measured", "simulated"))
    _say(simulated)
    rows = [row for row in table([measured, simulated]).rows if row.value is not None]
    decided = {name: {row.decision for row in rows if row.session == name} for name in ("measured", "simulated")}
    assert "reproduced" in decided["measured"]
    assert "predicted" in decided["simulated"]
    assert not decided["simulated"] & {"reproduced", "not reproduced"}
    assert not any("reproduced" in row.reason for row in rows if row.session == "simulated")
    (caution,) = load([measured, simulated]).cautions()
    assert caution.startswith("Session simulated is simulated: a model predicted")


def test_a_figure_of_a_simulation_is_hatched(tmp_path: Path) -> None:
    simulated = _session(tmp_path / "simulated")
    plain = [drawn for drawn in _draw(simulated) if any(axes.patch.get_hatch() for axes in drawn.figure.axes)]
    assert plain == []
    _say(simulated)
    drawn = _draw(simulated)
    assert drawn
    for figure in drawn:
        assert figure.title.endswith("(simulated)")
        assert all(axes.patch.get_hatch() for axes in figure.figure.axes)
        assert "not measured" in figure.caption


def _draw(session: Path) -> list[toolkit.Drawn]:
    records = load([session])
    return draw_all(Evidence(records), toolkit.provenance(records))
