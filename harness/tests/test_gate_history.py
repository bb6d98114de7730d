# SPDX-License-Identifier: BSD-3-Clause
"""./bench history: which commits it names, and of which comparison a change is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.gate import changes, store
from harness.cli import main

OLD, NEW, CHECKOUT = "0123456789abcdef" * 2 + "01234567", "f" * 40, "c" * 40


def entry(number: int, ratio: float) -> store.Entry:
    return store.Entry(
        session=f"gate-{number:02d}",
        time=f"2026-11-{number + 1:02d}",
        where="vcluster (vc1, vc2), mpich",
        base=f"commit:{OLD}",
        new=f"commit:{NEW},timer" if number >= 10 else "adaptive",
        verdict="same",
        ratios={"overlap: 1 MB": ratio},
        values={},
        commit=CHECKOUT,
    )


def stepped(number: int) -> float:
    """A tenth slower from the tenth gate on."""
    return (1.1 if number >= 10 else 1.0) + number * 7 % 5 / 1e4


def test_the_commits_of_a_gate_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 11):
        store.add(tmp_path, entry(number, 1.0))
    store.add(tmp_path, replace(entry(12, 1.0), commit=f"{CHECKOUT}+changes"))
    assert main(["history", "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"| adaptive | commit:{OLD[:12]} | {CHECKOUT[:12]} | same | gate-01 |" in said
    assert f"| commit:{NEW[:12]},timer | commit:{OLD[:12]} |" in said
    assert f"| {CHECKOUT[:12]}+changes | same | gate-12 |" in said


def test_a_change_is_told_with_what_was_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        store.add(tmp_path, replace(entry(number, stepped(number)), new=f"commit:{NEW}"))
    assert main(["history", "--store", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert f"overlap: 1 MB on vcluster (2 nodes), mpich, against commit:{OLD}: +10" in said
    assert f"since gate-10 (commit:{NEW[:12]} of checkout {CHECKOUT[:12]})" in said


def test_a_folder_that_takes_no_figures_is_a_wrong_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where there is nothing to draw yet."""
    (tmp_path / "file").write_text("")
    for gates in range(2):
        for out in ("file", "file/figures"):
            call = ["history", "--store", str(tmp_path / "store"), "--out", str(tmp_path / out)]
            assert main(call) == 2
            told = capsys.readouterr()
            assert f"--out {tmp_path / out} cannot be written (Not a directory)" in " ".join(told.err.split())
            assert not told.out
        store.add(tmp_path / "store", entry(gates, 1.0))


@pytest.mark.full
def test_figures_and_json_have_every_series_with_its_changes(tmp_path: Path) -> None:
    """One of the gates has no interval."""
    for number in range(20):
        slower = stepped(number)
        kept = replace(entry(number, slower), new=f"commit:{NEW}", ratios={"overlap: 1 MB": slower, "latency: 8": 1.0})
        known = {"overlap: 1 MB": [slower - 0.01, slower + 0.01]} if number else {}
        store.add(tmp_path / "store", replace(kept, intervals=known))
    out = tmp_path / "out"
    assert main(["history", "--store", str(tmp_path / "store"), "--out", str(out)]) == 0
    found = {one["point"]: one for one in json.loads((out / "history.json").read_text())}
    assert [change["session"] for change in found["overlap: 1 MB"]["changes"]] == ["gate-10"]
    assert not found["latency: 8"]["changes"]
    first, second = found["overlap: 1 MB"]["gates"][:2]
    assert (first["low"], second["low"]) == (None, pytest.approx(0.9902)) and first["commit"] == CHECKOUT
    for one in found.values():
        assert {path.suffix for path in out.glob(f"{one['figure']}.*")} == {".png", ".svg", ".pdf", ".csv"}
    (change,) = changes.changes(store.read(tmp_path / "store"))
    gates = changes.series(store.read(tmp_path / "store"))[change.key]
    drawn = changes.draw(changes._told(change.key, gates, [change]))
    upright = [line for line in drawn.figure.axes[0].lines if np.asarray(line.get_xdata()).tolist() == [9.5, 9.5]]
    assert len(upright) == 1, "between the ninth gate and the tenth"
    assert "+10" in drawn.caption and "since gate-10" in drawn.caption


@pytest.mark.full
def test_a_program_of_ones_own_is_drawn_whatever_its_command_is(tmp_path: Path) -> None:
    """Its dollars are no formula, and XML has no way to write some of its characters."""
    point = "own-program: sh -c 'echo $x_{ $y^\x07', 2 ranks"
    store.add(tmp_path / "store", replace(entry(1, 1.0), ratios={point: 1.0}))
    out = tmp_path / "out"
    assert main(["history", "--store", str(tmp_path / "store"), "--out", str(out)]) == 0
    (figure,) = out.glob("*.svg")
    assert "echo $x_{ $y^ '" in "".join(ElementTree.parse(figure).getroot().itertext())
    assert [one["point"] for one in json.loads((out / "history.json").read_text())] == [point]


def test_a_change_is_drawn_at_its_gate_also_where_another_one_has_its_sessions_name() -> None:
    """Those of two folders of results that began in one second."""
    gates = [replace(entry(number, stepped(number)), session="gate", origin=str(number)) for number in range(20)]
    ((key, series),) = changes.series([replace(one, new="adaptive") for one in gates]).items()
    (change,) = changes.changes([one for one, _ in series])
    assert changes._told(key, series, [change]).places == [10]
