# SPDX-License-Identifier: BSD-3-Clause
"""Malformed site files and record lines: a sentence that names the place and a status, never a traceback."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.records import read as analysis_read
from analysis.records.read import Shapes
from harness.cli import main
from harness.job import records
from harness.sites import systems
from harness.tests.conftest import good_record
from harness.tests.sessions import refused
from harness.tests.test_records import LAUNCH

Tree = dict[str, Any]
Path_ = tuple[Any, ...]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A site that is in order."""
    bin_dir = tmp_path_factory.mktemp("bin")
    (bin_dir / "progress-run").write_text("")
    compiler = bin_dir / "cc"  # stands for the one that finds Cray's mpi.h
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    extras = {"mpi": "cray", "library": "CRAY MPICH", "bin_dir": str(bin_dir), "async_progress": {"A": "1"}}
    environment = {
        "name": "cray",
        "cc": str(compiler),
        "features": ["mpi"],
        "extras": extras,
        "target_systems": ["summit"],
    }
    partition = {
        "name": "batch",
        "scheduler": "slurm",
        "launcher": "srun",
        "environs": ["cray"],
        "extras": {"launch": "launcher", "network": "Slingshot", "reap": []},
    }
    system = {"name": "summit", "hostnames": [".*"], "partitions": [partition]}
    return {"systems": [system], "environments": [environment], "logging": [{"handlers": [{"type": "stream"}]}]}


def written(folder: Path, text: str) -> Path:
    """Under a name of its own: Python imports a module once."""
    number = len(list(folder.iterdir()))
    path = folder / f"site_{number}.py"
    path.write_text(text)
    return path


def as_file(configuration: object) -> str:
    return f"site_configuration = {configuration!r}\n"


def changed(good: Tree, place: Path_, value: object) -> Tree:
    """A copy with another value in a place."""
    tree = copy.deepcopy(good)
    node: Any = tree
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    return tree


PARTITION: Path_ = ("systems", 0, "partitions", 0)
ENVIRONMENT: Path_ = ("environments", 0)

WRONG: dict[str, tuple[Path_, object, str]] = {
    "no hostnames": (("systems", 0, "hostnames"), ["^nowhere$"], "this host's name"),
    "bad pattern": (("systems", 0, "hostnames"), ["("], "hostnames"),
    "systems": (("systems",), {}, "systems"),
    "system's name": (("systems", 0, "name"), 7, "name"),
    "scheduler": ((*PARTITION, "scheduler"), "cron", "cron"),
    "launcher": ((*PARTITION, "launcher"), "catapult", "catapult"),
    "environs": ((*PARTITION, "environs"), [], "feature 'mpi'"),
    "environ": ((*PARTITION, "environs"), ["gnu"], "gnu"),
    "features": ((*ENVIRONMENT, "features"), [], "feature 'mpi'"),
    "extras": ((*ENVIRONMENT, "extras"), {}, "extras of environment cray: mpi is missing."),
    "mpi": ((*ENVIRONMENT, "extras", "mpi"), "other", "the environment's own name"),
    "library": ((*ENVIRONMENT, "extras", "library"), 3, "library: a valid string is wanted, not 3."),
    "bin_dir": ((*ENVIRONMENT, "extras", "bin_dir"), "/absent", "bin_dir: there is no progress-run in /absent"),
    "async": (
        (*ENVIRONMENT, "extras", "async_progress"),
        {"A": 1},
        "async_progress.A: a valid string is wanted, not 1.",
    ),
    "launch": ((*PARTITION, "extras", "launch"), "rocket", "launch: 'mpiexec' or 'launcher' is wanted, not 'rocket'."),
    "mpiexec": ((*PARTITION, "extras", "launch"), "mpiexec", "it is one of mpich"),
    "reap": ((*PARTITION, "extras", "reap"), [1], "reap[0]: a valid string is wanted, not 1."),
    "hosts": ((*PARTITION, "extras", "hosts"), "n1", "hosts: a valid list is wanted, not 'n1'."),
    "settle_s": ((*PARTITION, "extras", "settle_s"), -1.0, "settle_s: greater than or equal to 0 is wanted, not -1.0."),
    "alone": ((*PARTITION, "extras", "alone"), {"hosts": ["n1"]}, "batch: alone.cores is missing."),
    "a slip": ((*PARTITION, "extras", "progres_cores"), 1, "there is no progres_cores: progress_cores is meant"),
    "spack": ((*ENVIRONMENT, "extras", "spack"), {"site": "s"}, "spack.environment is missing."),
    "apps": ((*ENVIRONMENT, "extras", "apps"), {"lamps": "/"}, "apps: there is no code 'lamps'. Is lammps meant?"),
    "folder": (
        (*ENVIRONMENT, "extras", "apps"),
        {"lammps": "/absent"},
        "apps.lammps: there is no folder /absent; give",
    ),
    "nodes": ((*PARTITION, "extras", "nodes"), 0, "nodes: greater than or equal to 1 is wanted, not 0."),
}
TEXTS = {
    "no Python": ("site_configuration = {", "SyntaxError"),
    "no configuration": ("x = 1", "no dictionary site_configuration"),
    "raises": ("site_configuration = 1 / 0", "ZeroDivisionError"),
    "imports": ("import nonsense_7\nsite_configuration = {}", "nonsense_7"),
    "exits": ("import sys\nsys.exit(3)\nsite_configuration = {}", "SystemExit"),
    "list": ("site_configuration = []", "no dictionary site_configuration"),
    "empty": ("", "no dictionary site_configuration"),
    "null bytes": ("site_configuration = '\0'", "null bytes"),
}


def test_a_site_in_order(good: Tree, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, as_file(good))
    site = systems.by_name(str(path))
    assert (site.name, list(site.programs or {}), site.exclusive) == ("summit", ["cray"], False)
    assert main(["run", "overlap-ratio", "--scale", "test", "--dry-run", "--system", str(path)]) == 0
    assert "overlap-ratio on summit, cray: 4 launches" in capsys.readouterr().out
    said = refused("run", "overlap-ratio", "--mpi", "mpich", "--dry-run", "--system", str(path))
    assert "has no MPI 'mpich'. There are: cray." in said


@pytest.mark.parametrize("case", [*WRONG, *TEXTS])
def test_a_site_file_with_a_wrong_place_or_none_at_all_is_refused(case: str, good: Tree, tmp_path: Path) -> None:
    text, words = TEXTS.get(case) or (as_file(changed(good, *WRONG[case][:2])), WRONG[case][2])
    path = written(tmp_path, text)
    said = refused("run", "overlap-ratio", "--scale", "test", "--dry-run", "--system", str(path))
    assert said.startswith(f"bench: {path}: ") and words in said


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=4), st.integers(), max_size=2),
)  # fmt: skip


def places(tree: object, before: Path_ = ()) -> list[Path_]:
    """Every place of a tree but its root."""
    steps: list[Any] = (
        list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
    )
    found: list[Path_] = []
    for step in steps:
        found += [(*before, step), *places(tree[step], (*before, step))]  # type: ignore[index]
    return found


def damaged(tree: Tree, data: st.DataObject) -> Tree:
    """The tree with one to three places replaced or removed."""
    for _ in range(data.draw(st.integers(1, 3))):
        there = places(tree)
        if not there:
            break
        place = data.draw(st.sampled_from(there))
        tree = changed(tree, place, data.draw(JUNK))
        if data.draw(st.booleans()):
            parent: Any = tree
            for step in place[:-1]:
                parent = parent[step]
            del parent[place[-1]]
    return tree


RANDOM = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@RANDOM
@given(data=st.data())
def test_malformed_site_files(
    good: Tree, data: st.DataObject, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, as_file(damaged(good, data)))
    status = main(["run", "overlap-ratio", "--scale", "test", "--dry-run", "--system", str(path)])
    captured = capsys.readouterr()
    assert status in (0, 2), captured.err
    assert "Traceback" not in captured.err
    assert (status == 2) == captured.err.startswith(f"bench: {path}: "), captured.err
    if status == 2:
        assert len(captured.err.splitlines()) == 1


def whole_lines() -> list[Tree]:
    record = good_record(LAUNCH)
    assert record.header
    record.header |= {"context": {"launch": LAUNCH.identity}}
    return [{"header": record.header}, *record.points, {"end": record.end}]


def with_one_damaged(data: st.DataObject, spoil: Callable[[Tree], str]) -> str:
    lines = [json.dumps(line) for line in whole_lines()]
    victim = data.draw(st.integers(0, len(lines) - 1))
    lines[victim] = spoil(whole_lines()[victim])
    return "\n".join(lines) + "\n"


@RANDOM
@given(data=st.data())
def test_malformed_record_lines(data: st.DataObject, tmp_path: Path) -> None:
    """What is whole is read, by the job and by the analysis, and the damaged line is named."""

    def spoil(line: Tree) -> str:
        text = json.dumps(damaged(line, data))
        cut = data.draw(st.integers(0, len(text)))
        return data.draw(st.sampled_from([text, text[:cut], text[cut:], json.dumps(data.draw(JUNK))]))

    path = tmp_path / f"{LAUNCH.identity}.jsonl"
    path.write_text(with_one_damaged(data, spoil))
    read = records.read(path)
    assert len(read.points) >= 3
    assert len(records.finished(tmp_path, LAUNCH.identity, 2)) >= 1
    records.skipped(tmp_path, LAUNCH.identity)
    launch = analysis_read.read(path, Shapes())
    assert len(launch.points) >= 3
    assert all(problem.file == str(path) for problem in launch.problems)


def test_the_session_file_of_a_session_that_cannot_be_resumed(results: Path) -> None:
    (results / "s").mkdir(parents=True)
    whole = {"session": "s", "created": "now", "state": "complete"}
    for text, words in {
        "{": "s/session.json: no JSON: EOF while parsing",
        "[1]": "an object is wanted, not [1].",
        "{}": "session is missing.",
        json.dumps(whole): "it has no request",
        json.dumps(whole | {"schema": 2}): "schema: 1 is wanted, not 2.",
        json.dumps(whole | {"state": "over"}): "state: 'running', 'complete', 'incomplete' or 'interrupted' is wanted",
        json.dumps(whole | {"expected": "all"}): "expected: a valid array is wanted, not 'all'.",
        json.dumps(whole | {"colour": 7}): "there is no field colour.",
        json.dumps(whole | {"request": {"seed": "1"}}): "request.variants is missing.",
    }.items():
        (results / "s" / "session.json").write_text(text)
        assert words in refused("run", "--resume", "s")
