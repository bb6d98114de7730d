# SPDX-License-Identifier: BSD-3-Clause
"""Record files are whole or absent; what is finished is known exactly, over resumed runs and killed jobs."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import jsonschema
import pytest

from harness.base.paths import SCHEMA
from harness.job import records
from harness.job.plan import PLAN, Launch, Plan
from harness.job.records import Folders, RecordFile
from harness.job.session import salvage
from harness.tests.conftest import POINTS, good_record

LAUNCH = Launch("study.sys.mpich.000.bare", "bare", 0, 0)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    record = good_record(LAUNCH)
    records.write(tmp_path / "r.jsonl", record)
    assert records.read(tmp_path / "r.jsonl") == record
    with pytest.raises(OSError, match="No such file"):
        records.write(tmp_path / "absent" / "r.jsonl", good_record(LAUNCH))
    assert [path.name for path in tmp_path.iterdir()] == ["r.jsonl"]


def test_a_record_that_comes_late_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from another node by a shared file system: first nothing, then a part, then all."""
    lines: list[dict[str, dict[str, str]]] = [{"header": {}}, {"end": {"status": "ok"}}]
    whole = [json.dumps(line) + "\n" for line in lines]
    states = iter([None, "", whole[0], "".join(whole)])

    def comes(_: float) -> None:
        if (text := next(states)) is not None:
            (tmp_path / "r").write_text(text)

    monkeypatch.setattr("harness.job.records.time.sleep", comes)
    assert not records.read_when_whole(tmp_path / "r").cut_off
    assert next(states, "all came") == "all came"
    monkeypatch.setattr(records, "LATE_S", 0.0)
    assert records.read_when_whole(tmp_path / "none").cut_off


def test_a_cut_off_record_gives_its_whole_lines(tmp_path: Path) -> None:
    records.write(tmp_path / "r.jsonl", good_record(LAUNCH))
    text = (tmp_path / "r.jsonl").read_text()
    (tmp_path / "r.jsonl").write_text(text[: text.index('"end"') - 40])
    record = records.read(tmp_path / "r.jsonl")
    assert record.cut_off
    assert len(record.points) == 3


def test_finished_means_ok_on_every_rank(tmp_path: Path) -> None:
    record = good_record(LAUNCH)
    record.points[3]["status"] = "failed"
    records.write(tmp_path / f"{LAUNCH.identity}.jsonl", record)
    assert records.finished(tmp_path, LAUNCH.identity, 2) == {records.key(POINTS[0])}


def test_a_resumed_run_adds_to_what_is_finished(tmp_path: Path) -> None:
    first, second = good_record(LAUNCH), good_record(LAUNCH)
    first.points, second.points = first.points[:2], second.points[2:]
    for record in (first, second):
        records.write(records.next_attempt(tmp_path, LAUNCH.identity), record)
    assert [path.name for path in records.attempts(tmp_path, LAUNCH.identity)] == [
        f"{LAUNCH.identity}.jsonl",
        f"{LAUNCH.identity}.r1.jsonl",
    ]
    assert records.finished(tmp_path, LAUNCH.identity, 2) == {records.key(point) for point in POINTS}


def test_work_units_do_not_identify_a_point() -> None:
    assert records.key({"size_bytes": 8, "work_units": 5}) == records.key({"size_bytes": 8, "work_units": 6})


def killed_in_mid_launch(plan: Plan, folders: Folders, record: RecordFile) -> Launch:
    """What lies in scratch when the runner is killed between two points."""
    launch = plan.launches[0]
    assert record.header
    record.header["context"] = {"launch": launch.identity}
    scratch = folders.scratch / launch.identity
    scratch.mkdir(parents=True)
    folders.make()
    plan.save(scratch / PLAN)
    lines = [{"header": record.header}, *record.points[:2]]
    (scratch / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"point": {"pat')
    return launch


def test_salvage_condemns_what_ran_on_the_wrong_library(plan: Plan, tmp_path: Path) -> None:
    record = good_record(plan.launches[0])
    assert record.header
    record.header["mpi_library"] = "Open MPI v5"
    folders = Folders(tmp_path)
    launch = killed_in_mid_launch(plan, folders, record)
    assert salvage(folders) == 1
    left = records.read(folders.records / f"{launch.identity}.jsonl")
    assert {line["status"] for line in left.points} == {"failed"}
    assert all("'Open MPI v5' answered" in line["reason"] for line in left.points)


def test_salvage_keeps_the_finished_points_of_a_killed_launch_also_while_the_disk_is_full(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = Folders(tmp_path)
    launch = killed_in_mid_launch(plan, folders, good_record(plan.launches[0]))

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr("os.fsync", full)
        salvage(folders)
    assert list(folders.records.iterdir()) == []
    assert salvage(folders) == 1
    assert records.finished(folders.records, launch.identity, 2) == {records.key(POINTS[0])}
    assert (list(folders.scratch.iterdir()), salvage(folders)) == ([], 0)


def test_what_the_harness_writes_itself_obeys_the_schema(plan: Plan) -> None:
    header = records.empty_header({"session": "s", "scale": "test"}, ["a"], "2026-01-01T00:00:00+00:00")
    end = {"status": "timeout", "reason": "did not end", "ranks": [], "elapsed_s": 0.0}
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for line in ({"header": header}, records.unmeasured(dict(plan.points[0]), "timeout", "why"), {"end": end}):
        validator.validate(line)
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"point": {}, "rank": 0, "status": "failed", "samples": {}})
