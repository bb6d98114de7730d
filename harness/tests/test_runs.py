# SPDX-License-Identifier: BSD-3-Clause
"""Whole runs on virtual nodes: every MPI, from the command to the report; and what a run leaves when it is stopped."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.base.paths import SCHEMA
from harness.job import records
from harness.sessions.run import REFRAME_DB
from harness.tests.sessions import Running, bench, results, state
from harness.tests.waiting import eventually

__all__ = ["results", "state"]  # fixtures

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.vcluster,
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.usefixtures("state"),
]


ROUNDS = 3  # on a machine that does other work one round may see nothing
# both sides compute for as long as a 4 MB message takes
AT_COMM = {"pattern": "both", "size_bytes": 4 * 1024 * 1024, "comp_over_comm": 1.0}


def lines(session: Path) -> list[dict[str, Any]]:
    files = sorted((session / "records").glob("*.jsonl"))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]


def best_total(session: Path, mpi: str, variant: str) -> float:
    """The best rather than the median: whatever else runs on the machine can only add to it."""
    values: list[float] = []
    for path in (session / "records").glob(f"*.{mpi}.*.{variant}.jsonl"):
        for line in records.read(path).points:
            if line["rank"] == 0 and line["point"] | {"work_units": 0} == AT_COMM | {"work_units": 0}:
                values += line["samples"]["total_s"]
    return min(values)


def nothing_runs(state: Path) -> bool:
    """No process of a virtual node is left, and no folder of the cluster."""
    left = subprocess.run(["pgrep", "-f", str(state)], capture_output=True, text=True, check=False).stdout
    return not left.strip() and not list(state.glob("*/*.sock"))


def test_a_whole_run_on_both_families_over_two_nodes(results: Path) -> None:
    which = ("--mpi", "mpich,openmpi", "--variant", "bare,adaptive", "--scale", "test")  # ./bench demo: three, longer
    points = ("pattern=both", "size_bytes=4194304", "comp_over_comm=0.5,1", "launches=1")
    done = bench("run", "overlap-ratio", *which, *(f"--set={point}" for point in points))
    assert done.returncode == 0, done.stderr
    session = (results / "latest").resolve()
    report = Path(done.stdout.splitlines()[-1])
    assert report == session / "report.html"
    assert "Open MPI" in report.read_text()
    with contextlib.closing(sqlite3.connect(REFRAME_DB)) as database:
        rows = database.execute("SELECT json_blob FROM sessions WHERE json_blob LIKE ?", [f"%{session}/%"])
        (kept,) = [json.loads(text)["session_info"] for (text,) in rows]
    assert "Open MPI" in kept["verdict"] and f"{kept['verdict']}\ndrawing" in done.stderr
    facts = json.loads((session / "session.json").read_text())
    assert facts["state"] == "complete"
    assert {path.stem for path in (session / "records").iterdir()} == set(facts["expected"])
    assert {path.name.partition(".")[0] for path in (session / "nodes").iterdir()} == {"vc1", "vc2"}
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for line in lines(session):
        validator.validate(line)
        if "header" in line:
            assert line["header"]["context"]["network_measured"] == facts["network_measured"] != {}
    work: dict[str, set[int]] = {}
    for line in lines(session):
        if "point" in line:
            work.setdefault(records.key(line["point"]), set()).add(line["point"]["work_units"])
    assert all(len(units) == 1 for units in work.values()), "every MPI does the same work at a point"
    assert [path.name for path in (session / "calibration").glob("*.json")] == ["overlap-ratio.vcluster.json"]


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize("mpi", ["mpich", "openmpi"])
def test_the_engine_clearly_overlaps_where_the_mpi_does_not(results: Path, mpi: str) -> None:
    points = [f"--set={name}={value}" for name, value in AT_COMM.items()]
    shares: list[float] = []
    while not shares or (min(shares) > 0.9 and len(shares) < ROUNDS):
        done = bench("run", "overlap-ratio", "--mpi", mpi, "--variant", "bare,adaptive", "--set", "launches=1", *points)
        assert done.returncode == 0, done.stderr
        session = (results / "latest").resolve()
        bare, adaptive = (best_total(session, mpi, variant) for variant in ("bare", "adaptive"))
        shares.append(adaptive / bare)
    assert min(shares) < 0.9, shares


@pytest.mark.full
@pytest.mark.parametrize("study", ["overlap-ratio", "send-time"])
def test_the_limit_moves_its_messages_over_the_network_of_the_nodes(results: Path, study: str) -> None:
    settings = ("--variant", "bare,adaptive,limit", "--set", "wake_us=300,1000", "--set", "launches=1")
    done = bench("run", study, "--scale", "test", "--mpi", "mpich", *settings)
    assert done.returncode == 0, done.stdout + done.stderr
    session = results / "latest"
    files = sorted((session / "records").glob("*.limit.jsonl"))
    assert len(files) == 1
    for file in files:
        record = records.read(file)
        assert {line["status"] for line in record.points} == {"ok"}
        assert {line["point"]["wake_us"] for line in record.points} == {300, 1000}
        assert record.header and record.end
        assert record.header["thread_level"]["asked"] == "funneled"
        assert [rank["engine"] for rank in record.end["ranks"]] == [None, None]
        received = sum(rank["interface_bytes"]["eth0"]["received"] for rank in record.end["ranks"])
        sent = [x["point"]["size_bytes"] * len(x["samples"]["total_s"]) for x in record.points if x["role"] == "sender"]
        assert received > (2 if study == "overlap-ratio" else 1) * sum(sent) > 0
    drawn = [file.read_text() for file in (session / "figures").glob("*.csv")]
    assert any(",limit," in table for table in drawn)


LONG = ("run", "overlap-ratio", "--mpi", "mpich", "--scale", "test", "--set", "launches=3")


@pytest.mark.full
@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=["SIGINT", "SIGTERM", "SIGKILL"]
)
def test_a_run_that_is_stopped_keeps_what_is_finished_and_can_be_resumed(
    results: Path, state: Path, number: signal.Signals
) -> None:
    running = Running(*LONG)
    running.wait_for("2/6")
    os.kill(running.process.pid, number)
    assert running.ended() == (-number if number == signal.SIGKILL else 130)
    session = (results / "latest").resolve()
    assert (
        number == signal.SIGKILL or f"bench: interrupted: ./bench run --resume {session.name} goes on" in running.said
    )
    assert eventually(lambda: nothing_runs(state)), "processes of the nodes are left"
    finished = len(list((session / "records").glob("*.jsonl")))
    assert 2 <= finished < 6
    again = bench("run", "--resume", session.name)
    assert again.returncode == 0, again.stderr
    facts = json.loads((session / "session.json").read_text())
    assert facts["state"] == "complete"
    for identity in facts["expected"]:
        assert len(records.finished(session / "records", identity, 2)) == 1


@pytest.mark.full
def test_a_session_is_not_resumed_with_another_engine(results: Path) -> None:
    once = ("--system", "local", "--variant", "bare", "--mpi", "mpich", "--scale", "test")
    assert bench("run", "harm-microbench-latency", *once).returncode == 0
    session = (results / "latest").resolve()
    facts = json.loads((session / "session.json").read_text())
    facts["identity"]["mpich engine"] = "0123456789abcdef"
    (session / "session.json").write_text(json.dumps(facts))
    next((session / "records").glob("*000*")).unlink()
    refused = bench("run", "--resume", session.name)
    assert refused.returncode == 2
    assert "mpich engine: was 0123456789abcdef" in refused.stderr
    assert bench("run", "--resume", session.name, "--force").returncode == 0
