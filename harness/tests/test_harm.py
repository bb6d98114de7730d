# SPDX-License-Identifier: BSD-3-Clause
"""./bench harm: a short way to a session of the group `harm`, and what such a session says of the engine."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from analysis.tests.synthetic import Synthetic
from harness.base.paths import SCHEMA
from harness.cli import main
from harness.job import records
from harness.tests.sessions import bench, facts, latest, reasons

HERE = ("--mpi", "mpich", "--system", "local", "--scale", "test")
LATENCY = ("--only", "microbench latency")


@pytest.mark.parametrize("command", ["harm", "engine-costs"])
def test_a_session_of_something_else_has_no_table(
    capsys: pytest.CaptureFixture[str], results: Path, command: str
) -> None:
    Synthetic(launches=1, samples=3).write(results / "other")
    assert main([command, "--table", "other"]) == 2
    assert f"other: no {'workload' if command == 'harm' else 'part'} of ./bench {command} was run there" in (
        capsys.readouterr().err
    )


def test_the_plan_names_every_workload_with_its_point(capsys: pytest.CaptureFixture[str], results: Path) -> None:
    assert main(["harm", "--mpi", "mpich", "--variant", "adaptive", "--only", "microbench", "--list"]) == 0
    said = capsys.readouterr().out
    assert "microbench overlap: {'size_bytes': 1048576, 'work_units': 10000}" in said
    assert "harm-microbench-overlap on vcluster, mpich: 12 launches of 1 points (adaptive)" in said
    assert "npb" not in said and not results.exists()


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.usefixtures("mpich")
def test_it_leaves_a_normal_session_whose_records_verify_the_engine(results: Path) -> None:
    done = bench("harm", *HERE, *LATENCY, "--variant", "adaptive", "--launches", "1")
    assert done.returncode == 3, "one launch cannot tell"
    session = latest(results)
    assert facts(session)["state"] == "complete" and facts(session)["studies"] == ["harm-microbench-latency"]
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    presets, studies = set(), set()
    for path in (session / "records").glob("*.jsonl"):
        for line in path.read_text().splitlines():
            validator.validate(json.loads(line))
        record = records.read(path)
        assert record.header and record.end and {line["status"] for line in record.points} == {"ok"}
        assert record.header["context"]["variant"] in path.name
        studies.add(record.header["context"]["study"])
        presets |= {(rank["engine"] or {"preset": "bare"})["preset"] for rank in record.end["ranks"]}
    assert presets == {"adaptive"} and studies == {"harm-microbench-latency"}
    assert (session / "report.html").exists() and list((session / "nodes").iterdir())
    assert "| microbench latency | mpich | latency_s |" in done.stdout
    again = bench("harm", "--table", session.name, "--out", str(session / "harm.md"))
    assert again.returncode == 3 and (session / "harm.md").read_text() in done.stdout
    next((session / "records").glob("*.adaptive.jsonl")).unlink()
    refused = bench("engine-costs", "--resume", session.name)
    assert refused.returncode == 2 and "is none of ./bench engine-costs" in refused.stderr
    resumed = bench("harm", "--resume", session.name)
    assert resumed.returncode == 3 and "1 launches" in resumed.stderr, resumed.stderr
    assert len(list((session / "records").glob("*.jsonl"))) == 1
    assert "armed" in records.read(next((session / "records").glob("*.adaptive.jsonl"))).points[0]["samples"]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.usefixtures("mpich")
def test_an_engine_that_stood_down_is_reported_as_failed(results: Path) -> None:
    """Its settings switch it off: the workload runs and ends well, as fast as bare."""
    done = bench("harm", *HERE, *LATENCY, "--variant", "adaptive:points=none", "--launches", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    session = latest(results)
    assert facts(session)["state"] == "incomplete"
    assert all("the engine did not run on rank" in reason for reason in reasons(session).values())
    row = next(line for line in done.stdout.splitlines() if line.startswith("| microbench latency |"))
    assert "| failed |" in row
    assert "- microbench latency on mpich, adaptive:points=none: failed: the engine did not run" in done.stdout
