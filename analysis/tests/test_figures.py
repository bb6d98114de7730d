# SPDX-License-Identifier: BSD-3-Clause
"""Figures against pictures that somebody has looked at, and what every figure must have.

OVERLAP_BENCH_BASELINE=write .venv/bin/python -m pytest analysis/tests/test_figures.py     after a wanted change
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.testing.compare import compare_images

from analysis import catalogue
from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.toolkit import Drawn
from analysis.metrics.limit import LIMIT
from analysis.records.load import load
from analysis.tests.synthetic import LIMITED, MB, USUAL, Behaviour, Synthetic
from analysis.words import bytes_text, plain, seconds_text

BASELINE = Path(__file__).parent / "baseline"
TOLERANCE = 4.0  # root mean square of the difference of colours, of 255; another font renderer costs about 2
NAMES = [
    "overlap_efficiency-both",
    "overlap_map-send-time-both",
    "overlap_ratio-4mb",
    "send_time-both",
]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn]:
    folder = tmp_path_factory.mktemp("figures")
    ompi = {
        "bare": Behaviour(0.11, 1.0),
        "mpi-async": Behaviour(0.1, fails="skipped"),
        "idle": Behaviour(0.3, 1.05, fails="timeout"),
        "adaptive": Behaviour(0.9, 1.1),
    }
    mpis = {"mpich": LIMITED, "openmpi": ompi}
    first = Synthetic(mpis=mpis, launches=3, samples=8, sizes=(MB // 16, 4 * MB)).write(folder / "first")
    sizes = (1, 16 << 10, MB, 8 * MB)
    second = Synthetic(
        mpis=mpis, study="send-time", sizes=sizes, comp_s=(0.0, 1e-4, 1e-3, 2e-2), launches=3, samples=8
    ).write(folder / "second")
    records = load([first, second])
    return {figure.name: figure for figure in catalogue.draw_all(Evidence(records), toolkit.provenance(records))}


def render(figure: Drawn, path: Path) -> Path:
    with mpl.rc_context(style.RC):
        figure.figure.savefig(path, dpi=60, metadata={"Software": None})
    return path


@pytest.mark.parametrize("name", NAMES)
def test_pictures_are_as_they_were(drawn: dict[str, Drawn], name: str, tmp_path: Path) -> None:
    expected = BASELINE / f"{name}.png"
    if os.environ.get("OVERLAP_BENCH_BASELINE") == "write":
        BASELINE.mkdir(exist_ok=True)
        render(drawn[name], expected)
    difference = compare_images(str(expected), str(render(drawn[name], tmp_path / "now.png")), TOLERANCE)
    assert difference is None, difference


def test_the_comparison_of_pictures_sees_a_moved_curve(drawn: dict[str, Drawn], tmp_path: Path) -> None:
    made = Synthetic(mpis={"mpich": {**USUAL, "adaptive": Behaviour(0.5)}, "openmpi": USUAL}, launches=3, samples=8)
    records = load([made.write(tmp_path / "s")])
    other = catalogue.draw_all(Evidence(records), "")
    moved = next(figure for figure in other if figure.name == "overlap_ratio-4mb")
    now, before = render(moved, tmp_path / "now.png"), render(drawn["overlap_ratio-4mb"], tmp_path / "before.png")
    assert compare_images(str(before), str(now), TOLERANCE) is not None


def test_every_figure_names_its_formula_and_its_data(drawn: dict[str, Drawn]) -> None:
    assert set(drawn) >= set(NAMES)
    for figure in drawn.values():
        assert "comp" in figure.caption
        assert "session first" in figure.caption
        assert "made up: nothing was sent" in figure.caption


def test_the_csv_holds_exactly_the_drawn_points(drawn: dict[str, Drawn], tmp_path: Path) -> None:
    figure = drawn["overlap_ratio-4mb"]
    paths = toolkit.save(figure, tmp_path)
    table = pd.read_csv(paths["csv"])
    assert set(table["size_bytes"]) == {4 * MB}
    assert set(table["metric"]) == {"overlap_ratio"}
    assert set(table["variant"]) == set(LIMITED)
    assert set(table.loc[table["value"].isna(), "status"]) == {"skipped", "timeout"}
    assert paths["svg"].read_text().startswith("<?xml")


@pytest.mark.parametrize("name", ["overlap_ratio-4mb", "send_time-both", "overlap_efficiency-both"])
def test_the_limit_is_a_line_where_it_was_measured(drawn: dict[str, Drawn], name: str) -> None:
    """Too thin a line for the comparison of pictures to miss."""
    figure = drawn[name]
    measured = figure.points.loc[figure.points["variant"] == LIMIT, "value"].dropna()
    lines = [line for axes in figure.figure.axes for line in axes.lines]
    curves = [y for line in lines if line.get_marker() == style.LIMIT["marker"] for y in np.asarray(line.get_ydata())]
    places = [np.asarray(line.get_xdata()) for line in lines]
    upright = {float(x[0]) for x in places if len(set(x)) == 1}
    assert len(measured) > 0
    assert sorted(measured) == sorted(curves) if curves else set(measured) <= upright


@pytest.mark.full
def test_a_map_has_the_limit_where_it_was_swept_as_the_others(tmp_path: Path) -> None:
    def rows(comp_s: tuple[float, ...], folder: Path) -> set[str]:
        sizes = (1, 16 << 10, MB, 8 * MB)
        made = Synthetic(mpis={"mpich": LIMITED}, study="send-time", sizes=sizes, comp_s=(1e-4, 1e-3, 2e-2), launches=2)
        session = made.write(folder)
        for file in (folder / "records").glob("*.limit.jsonl"):
            lines = file.read_text().splitlines(keepends=True)
            kept = [line for line in lines if json.loads(line).get("point", {}).get("comp_s", comp_s[0]) in comp_s]
            file.write_text("".join(kept))
        found = catalogue.draw_all(Evidence(load([session])), "")
        (drawn_map,) = [figure for figure in found if figure.name.startswith("overlap_map")]
        return set(drawn_map.points["variant"])

    assert LIMIT in rows((1e-4, 1e-3, 2e-2), tmp_path / "whole")
    assert LIMIT not in rows((1e-3,), tmp_path / "once"), "a row of crosses says nothing"


def test_variants_differ_in_more_than_colour() -> None:
    looks = {(look.marker, str(look.line)) for look in style.STYLES.values()}
    assert len(looks) == len(style.STYLES)
    assert len({look.color for look in style.STYLES.values() if look.strong}) == 3


@pytest.mark.parametrize(
    ("size", "words"), [(0, "0 B"), (1, "1 B"), (1024, "1 KB"), (4 * MB, "4 MB"), (80_000_000, "76.29 MB")]
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert bytes_text(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0"), (2.5, "2.5 s"), (5e-4, "500 µs"), (0.0123, "12.3 ms"), (1e-8, "10 ns")]
)
def test_times_in_words(seconds: float, words: str) -> None:
    assert seconds_text(seconds) == words


@pytest.mark.parametrize(("value", "words"), [(-0.001, "0.00"), (-0.2, "−0.20"), (0.935, "0.94"), (1.0, "1.00")])
def test_numbers_in_words(value: float, words: str) -> None:
    assert plain(value) == words
