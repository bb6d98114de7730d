# SPDX-License-Identifier: BSD-3-Clause
"""A model's answers: to what a session measured, with the same work on as many ranks; and to what will be measured.

The file of predictions is written, and committed, before the same points are measured.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base import machine, process
from harness.base.errors import Failure, UsageError
from harness.base.variants import recipe
from harness.commands import results
from harness.job.launch import Calibration
from harness.job.session import utc_now
from harness.sessions.model_points import SCALE, Part
from harness.simulated import model_folder
from reframe_checks.catalogue import by_names

if TYPE_CHECKING:
    from analysis.records.load import Records
    from simulator.check import Key
    from simulator.medians import Number

LIMIT_S = 600.0


def simulate_like(records: Records, folder: Path, launches: int) -> None:
    """Write a session of `launches` of each variant into `folder`, each with another draw of the model's numbers."""
    (folder / "records").mkdir(parents=True)
    model = model_folder.folder()
    known = model_folder.mpis(model)
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
    model = model_folder.folder()
    for study in by_names(list(part.studies)):
        scale = study.scale(SCALE, part.settings)
        for mpi in model_folder.mpis(model):
            work = Calibration(model_folder.unit_s(model, mpi), {}, mpi)
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
    how = recipe(variant, model_folder.BIN / "progress-run", model_folder.ASYNC_PROGRESS)
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
    simulator = [
        str(model_folder.PROGRAM),
        f"--platform={model / model_folder.PLATFORM}",
        f"--model={model / mpi}.json",
    ]
    written = {"output": folder / "records" / f"{name}.jsonl", **files}
    workload = [*known.workload, *options[1], *(f"--{option}={path}" for option, path in written.items())]
    command = how.line([*simulator, *options[0], "--"], workload)
    ended = process.answer(command, LIMIT_S, dict(os.environ) | how.environment)
    if ended.status != 0:
        raise Failure(f"The simulation of {name} failed: {ended.err.strip() or 'it took too long'}")


SCHEMA = 2


@dataclass(frozen=True)
class Predictions:
    """`committed`: the last commit that changed the file and when; empty where git does not show any."""

    path: Path
    model: str
    written: datetime.datetime
    points: dict[Key, Number]
    committed: tuple[str, datetime.datetime] | None

    def must_be_older(self, session: str, measured: Records) -> None:
        """UsageError where a launch of the session began before this was written, or before it was committed."""
        began = min(map(_time, measured.launches["start_time"]), default=None)
        if began is None:
            return
        if began <= self.written:
            raise UsageError(
                f"{self.path} was written {self.written:%F %T} UTC, and session {session} was measured from "
                f"{began:%F %T} on: a prediction must be older than what it predicts."
            )
        if self.committed and began < self.committed[1]:
            raise UsageError(
                f"{self.path} was changed by commit {self.committed[0]} at {self.committed[1]:%F %T} UTC, and session "
                f"{session} was measured from {began:%F %T} on: a prediction must be older than what it predicts."
            )

    def words(self) -> str:
        there = self.committed
        how = f"committed as {there[0]} {there[1]:%F %T} UTC" if there else "not committed, so git does not show when"
        return f"{self.path}: model {self.model}, written {self.written:%F %T} UTC, {how}"


def write(path: Path, model: Path, predicted: Mapping[Key, Number], left_out: list[str]) -> None:
    """Whole or not at all. UsageError where it cannot be written."""
    from simulator.check import to_json  # noqa: PLC0415 - a second of imports

    files = model_folder.files(model)
    content = {
        "schema": SCHEMA,
        "written": utc_now().isoformat(timespec="seconds"),
        "model": model.name,
        "model_sha256": hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest(),
        "files": files,
        "left_out": left_out,
        "predictions": to_json(predicted),
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--predict {path} cannot be written ({error.strerror}).") from error
    results.write_whole(json.dumps(content, indent=1) + "\n", path, "--predict")


def read(path: Path) -> Predictions:
    """The file at `path`; UsageError where it is none."""
    from simulator.check import from_json  # noqa: PLC0415

    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"--against {path} cannot be read: {error}.") from None
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        raise UsageError(f"--against {path} is no file of predictions: ./bench validate-model --predict writes one.")
    try:
        model, written = str(content["model"]), _time(content["written"])
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"--against {path} is no file of predictions: {error!r}.") from None
    return Predictions(path, model, written, from_json(content.get("predictions"), f"--against {path}"), _commit(path))


def _commit(path: Path) -> tuple[str, datetime.datetime] | None:
    whole = path.resolve()
    repository = next((folder for folder in whole.parents if (folder / ".git").exists()), whole.parent)
    last = machine.ask_git(repository, "log", "-1", "--format=%h %cI", "--", str(whole))
    changed = machine.ask_git(repository, "status", "--porcelain", "--", str(whole))
    if last.status != 0 or changed.status != 0 or changed.out.strip() or not last.out.strip():
        return None
    name, when = last.out.split()
    return name, _time(when)


def _time(text: str) -> datetime.datetime:
    """In UTC, whichever way it is written."""
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found.astimezone(datetime.timezone.utc)
