# SPDX-License-Identifier: BSD-3-Clause
"""Whole gates: two of them at once on one store, and each kind of side that brings an engine or an MPI from outside.

What a side brings is shown by the launches themselves: an engine in a prefix writes down each rank that it was started
for, and a record names the library that answered.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analysis.gate import store
from harness.base.mpis import MPIS
from harness.base.paths import VENV
from harness.job import records
from harness.sessions import sides
from harness.setup import build, environment
from harness.tests.compiler import READ
from harness.tests.sessions import Running, bench, facts, latest

pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.timeout(900)]

MPICH = MPIS["mpich"]
POINT = ("--set", "size_bytes=65536", "--set", "comp_over_comm=1.0", "--set", "pattern=both")
SHORT = ("--minutes", "1", *POINT)
SAME, ANY = (0, 3), (0, 1, 3)  # statuses of the same program twice, and of two that differ
WAITS = "waiting for another ./bench on this machine (gate, PID "

VARIABLE = "MPIR_CVAR_POLLS_BEFORE_YIELD"  # MPICH's

SITE = """
from reframe_checks.systems.local import site_configuration as here
site_configuration = here
(system,) = site_configuration["systems"]
system["name"] = "site"
system["partitions"][0]["environs"] = ["mpich"]
here["environments"] = [one | {"target_systems": ["site"]} for one in here["environments"] if one["name"] == "mpich"]
"""


@pytest.fixture(autouse=True)
def programs() -> None:
    build.ensure(MPICH, "progress_engine/all", "microbench", "mpi_variables")


# ---- two at once


def at_once(folder: Path, *options: str) -> list[Running]:
    """Two gates of the same engine twice that begin together, and have come to an end."""
    call = ("gate", "--base", "adaptive", "--new", "adaptive", "--store", str(folder), *SHORT, *options)
    both = [Running(*call), Running(*call)]
    ends = [one.ended(600) for one in both]
    for one, status in zip(both, ends, strict=True):
        assert status in SAME and "Traceback" not in one.said, one.said
    return both


def told(folder: Path, results: Path, both: list[Running]) -> list[dict[str, Any]]:
    """The sessions of the two: each came to its verdict, and the store has exactly them."""
    sessions = sorted(path for path in results.glob("2*-gate*"))
    verdicts = [json.loads((one / "gate" / "gate.json").read_text()) for one in sessions]
    assert len(sessions) == 2 and all(found["rounds"] for found in verdicts), verdicts
    for path, found in zip(sessions, verdicts, strict=True):
        (mine,) = [one for one in both if f"session: {path}\n" in one.said]  # another may begin with its name
        assert f"{found['verdict']}: {found['sentence']}" in mine.said
    kept = {entry.session: entry.verdict for entry in store.read(folder)}
    assert kept == {path.name: found["verdict"] for path, found in zip(sessions, verdicts, strict=True)}
    assert len(list(folder.iterdir())) == 2, "and no file that was not finished"
    shown = bench("history", "--store", str(folder))
    assert shown.returncode == 0 and all(path.name in shown.stdout for path in sessions)
    return [facts(path) for path in sessions]


@pytest.mark.vcluster
def test_two_gates_at_once_on_the_virtual_nodes_take_turns(results: Path, state: Path, tmp_path: Path) -> None:
    both = at_once(tmp_path / "gates")
    assert sum(WAITS in one.said for one in both) == 1, "one waited for the other"
    first, second = told(tmp_path / "gates", results, both)
    assert first["finished"] <= second["created"], "and began when that had ended"
    assert all(one.nothing_left(state) for one in both)


def test_two_gates_at_once_on_a_site_measure_side_by_side(results: Path, tmp_path: Path) -> None:
    """A site's scheduler says who waits: here none does. They disturb each other, and the store has both."""
    (tmp_path / "site.py").write_text(SITE)
    both = at_once(tmp_path / "gates", "--system", str(tmp_path / "site.py"))
    assert not any(WAITS in one.said for one in both)
    first, second = told(tmp_path / "gates", results, both)
    assert second["created"] < first["finished"] and first["created"] < second["finished"]


# ---- sides


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """The engine as `cmake --install` puts it anywhere, whose progress-run notes each of its starts in `started`."""
    place = tmp_path / "prefix"
    command = [str(VENV / "bin" / "cmake"), "--install", str(MPICH.build_dir / "progress_engine"), f"--prefix={place}"]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    tool = place / "bin" / "progress-run"
    tool.rename(tool.with_name("installed-run"))
    tool.write_text(f'#!/bin/sh\nhostname >> {tmp_path}/started\nexec {place}/bin/installed-run "$@"\n')
    tool.chmod(0o755)
    return place


def gated(base: str, new: str, *options: str, statuses: tuple[int, ...] = SAME) -> Path:
    """The session of a gate that came to a verdict."""
    running = Running("gate", "--base", base, "--new", new, *SHORT, *options)
    assert running.ended(600) in statuses, running.said
    (path,) = [Path(line.split()[-1]) for line in running.said.splitlines() if "session: " in line]
    found = json.loads((path / "gate" / "gate.json").read_text())
    assert (found["base"], found["new"]) == (base, new)
    assert found["rounds"] and found["points"], found["sentence"]
    return path


def headers(session: Path, side: str) -> Iterator[dict[str, Any]]:
    """Of the launches of this side that were measured."""
    for path in sorted((session / "records").glob("*.jsonl")):
        record = records.read(path)
        if record.header and record.header["context"].get("side") == side and record.header["ranks"]:
            assert all(line["status"] == "ok" for line in record.points), record.points
            yield record.header


def ran_from(prefix: Path, session: Path, *its: str) -> None:
    """The engine of the prefix ran on each rank of these sides, and of no other."""
    started = (prefix.parent / "started").read_text().split()
    ranks = sum(len(header["ranks"]) for side in its for header in headers(session, side))
    assert set(started) >= {"vc1", "vc2"}
    assert ranks == sum(host in ("vc1", "vc2") for host in started) > 0


@pytest.mark.vcluster
@pytest.mark.usefixtures("results", "state")
def test_a_side_that_is_a_prefix(prefix: Path) -> None:
    session = gated("adaptive", f"prefix:{prefix},timer:slice_us=50", statuses=ANY)
    ran_from(prefix, session, "new")


@pytest.mark.vcluster
@pytest.mark.usefixtures("results", "state")
def test_a_side_that_is_modules_of_lmod(prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One brings the engine, the other a variable of the MPI, which every rank has under that side alone."""
    environment.ensure_packages("modules")
    modules = tmp_path / "modulefiles"
    (modules / "engine").mkdir(parents=True)
    (modules / "engine" / "1.0.lua").write_text(f'prepend_path("PATH", "{prefix}/bin")\n')
    (modules / "tuned.lua").write_text(f'setenv("{VARIABLE}", "500")\n')
    monkeypatch.setenv("MODULEPATH", str(modules))
    shell = ["bash", "-lc", "module --version 2>&1"]
    version = subprocess.run(shell, check=True, capture_output=True, text=True, timeout=120).stdout
    assert "Modules based on Lua" in version, "this is Lmod, and no stand-in"
    assert sides.modules(["engine/1.0"]).program("progress-run") == str(prefix / "bin" / "progress-run")
    session = gated("adaptive", "modules:engine/1.0 tuned")
    ran_from(prefix, session, "new")
    ranks = {
        side: [rank for one in headers(session, side) for rank in one["ranks"]] for side in ("base", "control", "new")
    }
    seen = {side: {one["environment"].get(VARIABLE) for one in mine} for side, mine in ranks.items()}
    assert seen == {"base": {None}, "control": {None}, "new": {"500"}}


@pytest.mark.vcluster
@pytest.mark.usefixtures("results", "state")
def test_a_side_that_is_another_mpi() -> None:
    build.ensure(MPIS["openmpi"], "progress_engine/all", "microbench", "mpi_variables")
    session = gated("adaptive", "mpi:openmpi", statuses=ANY)
    libraries = {
        side: {MPIS[name].library in one["mpi_library"] for one in headers(session, side)}
        for side, name in (("base", "mpich"), ("control", "mpich"), ("new", "openmpi"), ("check", "mpich"))
    }
    assert set(map(frozenset, libraries.values())) == {frozenset({True})}, libraries


# ./bench gate of a program of one's own: named as for compare-program and tune, judged by its time and its results.
SIDES = ("--base", "bare", "--new", "adaptive")


def gate(folder: Path, *words: str) -> tuple[int, str]:
    """A short gate of it, and how it ended."""
    build.ensure(MPIS["mpich"], "progress_engine/all", "microbench")
    done = bench("gate", "--mpi", "mpich", *SIDES, "--minutes", "0.3", "--store", str(folder), *READ, *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def verdict(results: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((latest(results) / "gate" / "gate.json").read_text())
    return found


@pytest.mark.mpi
@pytest.mark.vcluster
@pytest.mark.full
@pytest.mark.alone
@pytest.mark.usefixtures("state")
def test_a_program_is_judged_by_its_time_on_two_nodes(program: str, results: Path, tmp_path: Path) -> None:
    status, said = gate(tmp_path / "store", "-n", "2", "--", program)
    assert status in (0, 3), said
    (point,) = verdict(results)["points"]
    assert point["name"] == "own-program: app, 2 ranks"
    session = latest(results)
    assert facts(session)["state"] == "complete"
    one = records.read(next((session / "records").glob("*.001.*.jsonl")))
    assert one.end is not None and one.end["result"] == "energy: -4.6 of 2 ranks"
    assert set(one.points[0]["samples"]) == {"whole_s", "printed_time"}
    check_run = records.read(next((session / "records").glob("*.000.check.jsonl")))
    assert check_run.header is not None and check_run.header["workload"]["name"] == "overlap"
    assert len({rank["host"] for rank in check_run.header["ranks"]}) == 2
    (kept,) = store.read(tmp_path / "store")
    assert list(kept.ratios) == ["own-program: app, 2 ranks"]
    again = bench("run", "--resume", session.name, "--dry-run")
    assert (again.returncode, again.stdout.strip()) == (0, ""), "nothing lacks"


@pytest.mark.mpi
@pytest.mark.full
def test_a_candidate_with_other_results_is_not_passed(program: str, results: Path, tmp_path: Path) -> None:
    """With a launcher of one's own, which the check run has, too."""
    status, said = gate(tmp_path / "store", "--launcher", "mpiexec -n 2", "--", program, "wrong")
    assert status == 3, said
    assert "undecided" in said
    assert "its result is not that of bare" in said
    check_run = records.read(next((latest(results) / "records").glob("*.000.check.jsonl")))
    assert check_run.end is not None and check_run.end["status"] == "ok"
    assert check_run.header is not None and check_run.header["world_size"] == 2
