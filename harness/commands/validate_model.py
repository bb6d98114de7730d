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
from harness.sessions import session as sessions
from harness.sites import simulated

if TYPE_CHECKING:
    from analysis.models.medians import Number
    from analysis.models.validate import Compared, Key, Verdict

LAUNCHES = 6
SCHEMA = 1


def validate_model(
    names: Annotated[list[str], typer.Argument(metavar="SESSION...", help="Measured; with --predict: simulated.")],
    predict: Annotated[
        Path | None, typer.Option("--predict", metavar="FILE", help="Write down what SESSION predicts, and end.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", metavar="FILE", help="Such a file, from before SESSION was measured.")
    ] = None,
) -> int:
    """Hold predictions against measurements: the error of each point, and the order of the variants.

    Without --against the model predicts the points of SESSION now, with the work that was done at them.
    To predict before: ./bench run STUDY --system simulated, --predict FILE of that session, measure, --against FILE.
    Example: ./bench validate-model latest
    """
    from analysis.models.validate import judge, pair, totals  # noqa: PLC0415 - a second of imports
    from analysis.records.load import load  # noqa: PLC0415

    found = [sessions.load(name) for name in names]
    if predict:
        _write(predict, [session.name for session in found], totals(load([session.path for session in found])))
        return 0
    points: list[Compared] = []
    for session in found:
        measured = load([session.path])
        if measured.simulated(session.name):
            raise UsageError(f"Session {session.name} is simulated: a measured one is wanted, or --predict FILE.")
        points += pair(_read(against) if against else _simulated(measured), totals(measured))
    _print(judge(points))
    return 0


def _simulated(measured: object) -> dict[Key, Number]:
    from analysis.models.validate import totals  # noqa: PLC0415
    from analysis.records.load import Records, load  # noqa: PLC0415
    from harness.commands.predictions import simulate_like  # noqa: PLC0415

    assert isinstance(measured, Records)
    if reason := simulated.supported():
        raise UsageError(reason)
    simulated.set_up([])
    with tempfile.TemporaryDirectory(prefix="overlap-bench-") as temporary:
        folder = Path(temporary) / "predicted"
        simulate_like(measured, folder, LAUNCHES)
        return totals(load([folder]))


def _write(path: Path, names: list[str], predicted: dict[Key, Number]) -> None:
    from analysis.models.validate import to_json  # noqa: PLC0415

    model = simulation.folder()
    content = {"schema": SCHEMA, "model": model.name, "files": simulation.files(model), "sessions": names}
    partial = path.with_name(f".{path.name}.part")
    try:
        partial.write_text(json.dumps(content | {"predictions": to_json(predicted)}, indent=1) + "\n")
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"--predict {path} cannot be written ({error.strerror}).") from error
    print(f"{path}: {len(predicted)} points")


def _read(path: Path) -> dict[Key, Number]:
    from analysis.models.validate import from_json  # noqa: PLC0415

    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"--against {path} cannot be read: {error}.") from None
    return from_json(content.get("predictions") if isinstance(content, dict) else None, f"--against {path}")


def _print(verdict: Verdict) -> None:
    from analysis.text_table import plain  # noqa: PLC0415

    columns = ["study", "MPI", "ranks", "point", "variant", "predicted ms", "measured ms", "95 % of launches", "error"]
    print(plain(columns, [_row(point) for point in verdict.points]))
    for mpi, error in verdict.errors.items():
        print(f"{mpi}: median error {100 * error:.1f} %")
    print(f"all {len(verdict.points)} points: median error {100 * verdict.error:.1f} %")
    share = f" ({100 * verdict.in_order / verdict.pairs:.0f} %)" if verdict.pairs else ""
    print(
        f"order of two variants that the measurement tells apart: right in {verdict.in_order} of {verdict.pairs}{share}"
    )
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
