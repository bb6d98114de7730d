# SPDX-License-Identifier: BSD-3-Clause
"""The file of predictions: written, and committed, before the same points are measured."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base import git, simulation
from harness.base.errors import UsageError
from harness.commands import tables
from harness.job.session import utc_now

if TYPE_CHECKING:
    from analysis.records.load import Records
    from simulator.check import Key
    from simulator.medians import Number

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

    files = simulation.files(model)
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
    tables.write_whole(json.dumps(content, indent=1) + "\n", path, "--predict")


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
    last = git.ask(repository, "log", "-1", "--format=%h %cI", "--", str(whole))
    changed = git.ask(repository, "status", "--porcelain", "--", str(whole))
    if last.status != 0 or changed.status != 0 or changed.out.strip() or not last.out.strip():
        return None
    name, when = last.out.split()
    return name, _time(when)


def _time(text: str) -> datetime.datetime:
    """In UTC, whichever way it is written."""
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found.astimezone(datetime.timezone.utc)
