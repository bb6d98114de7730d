# SPDX-License-Identifier: BSD-3-Clause
"""./bench calibrate-model: from records of a real system the files by which --system simulated predicts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.base import simulation
from harness.base.errors import UsageError
from harness.commands import options, tables
from harness.job import session as sessions
from harness.sessions.model_points import FIT

if TYPE_CHECKING:
    from simulator.fit import Fit

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
    measured, status = tables.measure_parts(FIT, settings, "fit") if measure else (sessions_given, 0)
    found = sessions.load_all(measured)
    fitted = fit(load([session.path for session in found]))
    origin = [{"session": s.name, "commit": s.facts.git.commit if s.facts.git else ""} for s in found]
    _write(out, fitted, origin)
    print(f"{out}: {simulation.PLATFORM} and {', '.join(f'{mpi}.json' for mpi in fitted.mpis)}")
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
        (partial / simulation.PLATFORM).write_text(platform)
        for mpi, model in fitted.mpis.items():
            (partial / f"{mpi}.json").write_text(json.dumps(model | {"fitted_to": origin}, indent=1) + "\n")
        shutil.rmtree(out, ignore_errors=True)
        partial.rename(out)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise UsageError(f"--out {out} cannot be written ({error.strerror}).") from error


def _words(number: Any) -> str:
    return f"{number.value:.4g} ({number.low:.4g} to {number.high:.4g})"
