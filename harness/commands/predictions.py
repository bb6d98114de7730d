# SPDX-License-Identifier: BSD-3-Clause
"""A model's answers: to what a session measured, with the same work on as many ranks; and to what will be measured."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base import process, simulation
from harness.base.errors import Failure
from harness.base.variants import recipe
from harness.job.calibrate import Calibration
from harness.sessions.model_points import SCALE, Part
from reframe_checks.catalogue import by_names

if TYPE_CHECKING:
    from analysis.records.load import Records

LIMIT_S = 600.0


def simulate_like(records: Records, folder: Path, launches: int) -> None:
    """Write a session of `launches` of each variant into `folder`, each with another draw of the model's numbers."""
    (folder / "records").mkdir(parents=True)
    model = simulation.folder()
    known = simulation.mpis(model)
    points = records.points[records.points["status"] == "ok"]
    arguments = dict(zip(records.launches["launch"], records.launches["arguments"], strict=True))
    units = units_of(records)
    sizes = dict(zip(records.launches["launch"], records.launches["world_size"], strict=True))
    for (study, mpi, variant), group in points.groupby(["study", "mpi", "variant"], observed=True):
        if mpi not in known:
            continue
        ranks = int(sizes[group["launch"].iloc[0]])
        unique = [json.loads(text) for text in dict.fromkeys(map(_point, group.to_dict("records")))]
        what = (str(study), str(mpi), str(variant))
        settle = [word for word in arguments[group["launch"].iloc[0]] if word.startswith("--settle-s")]
        options = [f"--ranks={ranks}", *units.get(what[:2], [])]
        for draw in range(launches):
            _simulate(folder, model, what, (options, settle), unique, draw)


def simulate_part(part: Part, folder: Path, launches: int) -> None:
    """Write a session of what `part` will measure into `folder`: the computations as long as they are meant to be."""
    (folder / "records").mkdir(parents=True)
    model = simulation.folder()
    for study in by_names(list(part.studies)):
        scale = study.scale(SCALE, part.settings)
        for mpi in simulation.mpis(model):
            work = Calibration(simulation.unit_s(model, mpi), {}, mpi)
            points = [work.with_work(dict(point)) for point in scale.points()]
            for variant in part.variants or scale.variants:
                for draw in range(launches):
                    options = [f"--ranks={study.tasks(part.nodes)}"]
                    _simulate(folder, model, (study.name, mpi, variant), (options, []), points, draw)


def units_of(records: Records) -> dict[tuple[str, str], list[str]]:
    """What a unit of work took in this session: an input, since machines differ, and no result."""
    from simulator.medians import launch_medians  # noqa: PLC0415 - a second of imports

    table = launch_medians(records)
    if "work_units" not in table or "comp_s" not in table:
        return {}
    rows = table[(table["variant"] == "bare") & (table["work_units"] > 0)]
    each = (
        rows.assign(unit=rows["comp_s"] / rows["work_units"]).groupby(["study", "mpi"])["unit"].median().reset_index()
    )
    return {(row["study"], row["mpi"]): [f"--unit-s={row['unit']:.9g}"] for row in each.to_dict("records")}


def _point(row: Mapping[Any, Any]) -> str:
    """A point with the work that was done at it."""
    units = row.get("work_units")
    worked = {} if units is None or math.isnan(units) else {"work_units": int(units)}
    return json.dumps(json.loads(row["point"]) | worked)


def _simulate(
    folder: Path,
    model: Path,
    what: tuple[str, str, str],
    options: tuple[list[str], list[str]],
    points: list[dict[str, Any]],
    draw: int,
) -> None:
    study, mpi, variant = what
    how = recipe(variant, simulation.BIN / "progress-run", simulation.ASYNC_PROGRESS)
    if isinstance(how, str):
        return
    name = f"{study}.simulated.{mpi}.{draw:03d}.{variant.replace(':', '+')}"
    context: dict[str, Any] = {
        "session": folder.name,
        "launch": name,
        "study": study,
        "system": "simulated:model",
        "mpi": mpi,
    }
    context |= {"variant": variant, "repetition": draw, "scale": "test"}
    files = {"points": folder / "points.json", "context": folder / "context.json"}
    files["points"].write_text(json.dumps(points))
    files["context"].write_text(json.dumps(context))
    (known,) = by_names([study])
    simulator = [str(simulation.PROGRAM), f"--platform={model / simulation.PLATFORM}", f"--model={model / mpi}.json"]
    written = {"output": folder / "records" / f"{name}.jsonl", **files}
    workload = [*known.workload, *options[1], *(f"--{option}={path}" for option, path in written.items())]
    command = how.line([*simulator, *options[0], "--"], workload)
    ended = process.answer(command, LIMIT_S, dict(os.environ) | how.environment)
    if ended.status != 0:
        raise Failure(f"The simulation of {name} failed: {ended.err.strip() or 'it took too long'}")
