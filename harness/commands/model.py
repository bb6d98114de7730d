# SPDX-License-Identifier: BSD-3-Clause
"""The models of --system simulated: ./bench calibrate-model fits one to records, ./bench validate-model says how
far it is from what was measured.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.base.errors import UsageError
from harness.commands import measuring, options, results
from harness.job import session as sessions
from harness.sessions.model_points import FIT
from harness.simulated import model_folder

if TYPE_CHECKING:
    from simulator.fit import Fit
import tempfile
from typing import TYPE_CHECKING

from harness.commands import predictions
from harness.sessions.model_points import VALIDATION
from harness.sites import simulated

if TYPE_CHECKING:
    from analysis.records.load import Records
    from simulator.check import Compared, Key, Verdict
    from simulator.medians import Number


HOSTS = 4096
CLUSTER = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<!-- {origin} -->
<platform version="4.1">
  <cluster id="{name}" prefix="node-" radical="0-{last}" suffix="" speed="1Gf" sharing_policy="SPLITDUPLEX"
           bw="{bandwidth:.6g}Bps" lat="{latency:.4g}s"/>
</platform>
"""


def calibrate_model(
    sessions_given: Annotated[
        list[str], typer.Argument(metavar="[SESSION...]", help="Records to fit to, or latest.")
    ] = [],  # noqa: B006 - Typer copies it
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The model's folder, which is made.")] = Path(
        "model"
    ),
    measure: Annotated[bool, typer.Option("--measure", help="Measure the points first to which it is fitted.")] = False,
    settings: options.Settings = [],  # noqa: B006
    force: Annotated[bool, typer.Option("--force", help="Replace a folder that is there.")] = False,
) -> int:
    """Fit a model of MPIs and network to sessions of two ranks: overlap-ratio and collective-overlap.

    Sessions of fft on one node and on two, and of minife-packets, give what these applications compute.
    With --measure on the virtual cluster, at points which ./bench validate-model has none of.
    Each number stands in the files with its interval and where it comes from. What no record says is an error.
    Example: ./bench calibrate-model SESSION OTHER --out my-model; OVERLAP_BENCH_MODEL=my-model ./bench run ...
    """
    from analysis.records.load import load  # noqa: PLC0415
    from simulator.fit import fit  # noqa: PLC0415 - a second of imports

    if out.exists() and not force:
        raise UsageError(f"--out {out}: there is something already; name another folder, or add --force.")
    if measure == bool(sessions_given):
        raise UsageError("One of two is wanted: the sessions to fit to, or --measure.")
    measured, status = measuring.measure_parts(FIT, settings, "fit") if measure else (sessions_given, 0)
    found = sessions.load_all(measured)
    fitted = fit(load([session.path for session in found]))
    origin = [{"session": s.name, "commit": s.facts.git.commit if s.facts.git else ""} for s in found]
    _write(out, fitted, origin)
    print(f"{out}: {model_folder.PLATFORM} and {', '.join(f'{mpi}.json' for mpi in fitted.mpis)}")
    for mpi, model in fitted.mpis.items():
        print(f"  {mpi} {_protocol(model['protocol'])}")
    return status


def _protocol(found: dict[str, Any]) -> str:
    """What all else hangs on, in words: a machine that was not quiet can turn it round."""
    if not found["handshake"]:
        return "asks nobody before it sends"
    return f"asks first, above {found['eager_bytes']['value']:.0f} bytes"


def _write(out: Path, fitted: Fit, origin: list[dict[str, Any]]) -> None:
    """The whole folder or nothing."""
    partial = out.with_name(f".{out.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        words = "fitted to " + ", ".join(f"{entry['session']} (commit {entry['commit'][:7]})" for entry in origin)
        rate, latency = _words(fitted.bandwidth.scaled(1e-6)), _words(fitted.latency.scaled(1e6))
        platform = CLUSTER.format(
            origin=f"{words}: bandwidth {rate} MB/s, latency {latency} us",
            name=out.name,
            last=HOSTS - 1,
            bandwidth=fitted.bandwidth.value,
            latency=fitted.latency.value / 2,  # out of one host, into the other
        )
        (partial / model_folder.PLATFORM).write_text(platform)
        for mpi, model in fitted.mpis.items():
            (partial / f"{mpi}.json").write_text(json.dumps(model | {"fitted_to": origin}, indent=1) + "\n")
        shutil.rmtree(out, ignore_errors=True)
        partial.rename(out)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise UsageError(f"--out {out} cannot be written ({error.strerror}).") from error


def _words(number: Any) -> str:
    return f"{number.value:.4g} ({number.low:.4g} to {number.high:.4g})"


MEASURED_LAUNCHES = 6


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
        measured, status = measuring.measure_parts(VALIDATION, settings, "validation")
        print(f"measured: {' '.join(measured)}")
        return status
    return _compare(sessions.load_all(names), predictions.read(against) if against else None, out)


def _compare(found: list[sessions.Session], earlier: predictions.Predictions | None, out: Path | None) -> int:
    from analysis.records.load import load  # noqa: PLC0415
    from simulator.check import judge, page, pair, totals  # noqa: PLC0415
    from simulator.medians import must_be_as_fast  # noqa: PLC0415

    points: list[Compared] = []
    sources = []
    for session in found:
        measured = load([session.path])
        if measured.simulated(session.name):
            raise UsageError(f"Session {session.name} is simulated: a measured one is wanted, or --predict FILE.")
        if earlier:
            earlier.must_be_older(session.name, measured)
        model = model_folder.SHIPPED / earlier.model if earlier else model_folder.folder()
        if rate := model_folder.bytes_per_s(model):
            must_be_as_fast(measured.launches, rate, model.name)
        points += pair(earlier.points if earlier else _simulated(measured), totals(measured))
        sources += measured.sessions
    verdict = judge(sorted(points, key=lambda point: point.key))
    said = (
        earlier.words() if earlier else f"model {model_folder.folder().name}, with the work that was done at each point"
    )
    if out:
        results.write_table(page(verdict, [said], sources), out)
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
        simulate_like(measured, folder, MEASURED_LAUNCHES)
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
            simulate_part(part, folder, MEASURED_LAUNCHES)
            records = load([folder])  # one by one: their launches have the same names
            predicted |= totals(records)
            left_out |= dict.fromkeys(records.points["reason"].dropna())
    predictions.write(path, model_folder.folder(), predicted, list(left_out))
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
