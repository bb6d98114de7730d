# SPDX-License-Identifier: BSD-3-Clause
"""./bench validate-model: how far is the model from what was measured?"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.base import simulation
from harness.base.errors import UsageError
from harness.commands import options, predictions, tables
from harness.job import session as sessions
from harness.sessions.model_points import VALIDATION
from harness.sites import simulated

if TYPE_CHECKING:
    from analysis.records.load import Records
    from simulator.check import Compared, Key, Verdict
    from simulator.medians import Number

LAUNCHES = 6


def validate_model(
    names: Annotated[list[str], typer.Argument(metavar="[SESSION...]", help="Measured.")] = [],  # noqa: B006
    predict: Annotated[
        Path | None, typer.Option("--predict", metavar="FILE", help="Write what the model says of the points, and end.")
    ] = None,
    measure: Annotated[bool, typer.Option("--measure", help="Measure these points, as sessions, and end.")] = False,
    against: Annotated[
        Path | None, typer.Option("--against", metavar="FILE", help="Such a file, from before SESSION was measured.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The comparison as Markdown, every point in it.")
    ] = None,
    settings: options.Settings = [],  # noqa: B006 - Typer copies it
) -> int:
    """Hold predictions against measurements: the error of each point, and the order of the variants.

    First --predict FILE, which is committed; then --measure; then the sessions with --against FILE, which must be older
    than they. The points are those of group validation, to none of which a model is fitted: 2 ranks, and 4 and 8 whose
    computation is slept. Without --against the model predicts the points of SESSION now, with the work done at them.
    Example: ./bench validate-model latest
    """
    if sum(map(bool, (predict, measure, names))) != 1:
        raise UsageError("One of three is wanted: --predict FILE, --measure, or the sessions that were measured.")
    if out and not names:
        raise UsageError("--out is for the comparison: it wants the sessions that were measured.")
    if predict:
        return _predict(predict)
    if measure:
        measured, status = tables.measure_parts(VALIDATION, settings, "validation")
        print(f"measured: {' '.join(measured)}")
        return status
    return _compare(sessions.load_all(names), predictions.read(against) if against else None, out)


def _compare(found: list[sessions.Session], earlier: predictions.Predictions | None, out: Path | None) -> int:
    from analysis.records.load import load  # noqa: PLC0415
    from simulator.check import (  # noqa: PLC0415
        judge,
        page,
        pair,
        totals,
    )
    from simulator.medians import must_be_as_fast  # noqa: PLC0415

    points: list[Compared] = []
    sources = []
    for session in found:
        measured = load([session.path])
        if measured.simulated(session.name):
            raise UsageError(f"Session {session.name} is simulated: a measured one is wanted, or --predict FILE.")
        if earlier:
            earlier.must_be_older(session.name, measured)
        model = simulation.SHIPPED / earlier.model if earlier else simulation.folder()
        if rate := simulation.bytes_per_s(model):
            must_be_as_fast(measured.launches, rate, model.name)
        points += pair(earlier.points if earlier else _simulated(measured), totals(measured))
        sources += measured.sessions
    verdict = judge(sorted(points, key=lambda point: point.key))
    said = (
        earlier.words() if earlier else f"model {simulation.folder().name}, with the work that was done at each point"
    )
    if out:
        tables.write(page(verdict, [said], sources), out)
        return 0
    print(said)
    _print(verdict)
    return 0


def _ready() -> None:
    if reason := simulated.supported():
        raise UsageError(reason)
    simulated.set_up([])


def _simulated(measured: Records) -> dict[Key, Number]:
    from analysis.records.load import load  # noqa: PLC0415
    from harness.commands.predictions import simulate_like  # noqa: PLC0415
    from simulator.check import totals  # noqa: PLC0415

    _ready()
    with tempfile.TemporaryDirectory(prefix="overlap-bench-") as temporary:
        folder = Path(temporary) / "predicted"
        simulate_like(measured, folder, LAUNCHES)
        return totals(load([folder]))


def _predict(path: Path) -> int:
    from analysis.records.load import load  # noqa: PLC0415
    from harness.commands.predictions import simulate_part  # noqa: PLC0415
    from simulator.check import totals  # noqa: PLC0415

    _ready()
    predicted: dict[Key, Number] = {}
    left_out: dict[str, None] = {}
    with tempfile.TemporaryDirectory(prefix="overlap-bench-") as temporary:
        for part in VALIDATION:
            folder = Path(temporary) / f"{part.nodes}-nodes"
            simulate_part(part, folder, LAUNCHES)
            records = load([folder])  # one by one: their launches have the same names
            predicted |= totals(records)
            left_out |= dict.fromkeys(records.points["reason"].dropna())
    predictions.write(path, simulation.folder(), predicted, list(left_out))
    print(f"{path}: {len(predicted)} points")
    for reason in left_out:
        print(f"  left out: {reason}")
    return 0


def _print(verdict: Verdict) -> None:
    from analysis.text_table import plain  # noqa: PLC0415
    from simulator.check import order_words  # noqa: PLC0415

    columns = ["study", "MPI", "ranks", "point", "variant", "predicted ms", "measured ms", "95 % of launches", "error"]
    print(plain(columns, [_row(point) for point in verdict.points]))
    for part, error in verdict.errors.items():
        print(f"{part}: median error {100 * error:.1f} %")
    print(f"all {len(verdict.points)} points: median error {100 * verdict.error:.1f} %")
    print(order_words(verdict))
    for pair in verdict.wrong:
        print(f"  wrong: {pair}")


def _row(point: Compared) -> list[object]:
    study, mpi, ranks, text, variant = point.key
    words = ", ".join(f"{name}={value}" for name, value in json.loads(text).items())
    measured = point.measured
    spread = f"{1e3 * measured.low:.2f} to {1e3 * measured.high:.2f}"
    numbers = [
        f"{1e3 * point.predicted.value:.2f}",
        f"{1e3 * measured.value:.2f}",
        spread,
        f"{100 * point.error:+.0f} %",
    ]
    return [study, mpi, ranks, words, variant, *numbers]
