# SPDX-License-Identifier: BSD-3-Clause
"""A launch and its nodes: a launcher's status alone is not believed, the nodes are asked what they are like, and one
that was not what it says, or that no job came to, is found out."""

from __future__ import annotations

import json
import re
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base import machine, variants
from harness.base.variants import Recipe
from harness.job import known_failures, records
from harness.job.launch import Attempt, context, name_of, step_words
from harness.job.plan import Launch, Plan, Side
from harness.job.reap import kill, marked
from harness.job.records import Folders, RecordFile
from harness.job.runner import Runner
from harness.job.verify import engine_of, problems
from harness.tests.conftest import good_record, on_another_platform
from harness.tests.waiting import eventually
from reframe_checks.catalogue import studies

# Writes the record that it is given, leaves a process behind and reports success.
PROGRAM = """
import subprocess, sys
output = next(a for a in sys.argv if a.startswith("--output=")).partition("=")[2]
open(output, "w").write(open(sys.argv[1]).read())
subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("last words")
"""


def _attempt(plan: Plan, tmp_path: Path, whole: bool) -> Attempt:
    launch = plan.launches[0]
    tmp_path.mkdir(exist_ok=True)
    given = tmp_path / "given.jsonl"
    records.write(given, good_record(launch))
    if not whole:
        given.write_text("".join(given.read_text().splitlines(keepends=True)[:-1]))
    folders = Folders(tmp_path / "session")
    folders.make()
    here = replace(plan.platform, launch_command=[], reap=[sys.executable, "-c", ""])
    own = replace(plan, platform=here, workload=[sys.executable, "-c", PROGRAM, str(given)])
    return Attempt(own, launch, Recipe(), [], folders, folders.records / f"{launch.identity}.jsonl")


def _left(attempt: Attempt) -> list[int]:
    return list(marked(_name(attempt)))


def _name(attempt: Attempt) -> str:
    return name_of(attempt.folders.logs / f"{attempt.launch.identity}.log")


def test_success_without_an_end_is_a_failure_and_reaped_in_its_own_session_alone(plan: Plan, tmp_path: Path) -> None:
    """What a good launch leaves in the background is not."""
    here, there = (_attempt(plan, tmp_path / name, name == "here") for name in ("here", "there"))
    assert here.launch.identity == there.launch.identity
    assert here.run().status == "ok"
    outcome = there.run()
    assert (outcome.status, outcome.reason) == ("failed", "the record is cut off; last words: last words")
    try:
        assert len(_left(here)) == 1, "only what its own session left"
        assert eventually(lambda: not _left(there))
        assert all(records.read(attempt.target).end is not None for attempt in (here, there))
    finally:
        kill(_name(here))


@pytest.mark.parametrize(
    ("differs", "whole", "status", "begins"),
    [
        ({}, False, "skipped", "expected failure: it is so (the record is cut off; last words: last words)"),
        ({}, True, "ok", "unexpected success: it is so"),
        ({"library": "MPICH Version: 4"}, False, "failed", "the record is cut off"),
        ({"said": "other words"}, False, "failed", "the record is cut off"),
        ({"study": "another"}, True, "ok", ""),
        ({"variant": "off|adaptive"}, True, "ok", ""),
        ({"over_ip": True}, False, "failed", "the record is cut off"),
    ],
)
def test_what_is_known_to_fail_on_a_version_of_an_mpi_is_told_as_that(
    differs: dict[str, Any],
    whole: bool,
    status: str,
    begins: str,
    plan: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "LATE_S", 0.0)
    row = {"study": plan.study, "variant": "bare", "library": "MPICH Version: 5", "said": "last words"}
    monkeypatch.setattr(known_failures, "KNOWN", [known_failures.Known(**row | {"reason": "it is so"} | differs)])
    of_memory = on_another_platform(replace(plan, launches=[BARE]), check_interfaces=False)
    attempt = _attempt(of_memory, tmp_path, whole)
    outcome = attempt.run()
    kill(_name(attempt))
    end = records.read(attempt.target).end or {}
    assert (outcome.status, end["status"], end.get("reason", "")) == (status, status, outcome.reason)
    assert outcome.reason.startswith(begins) and bool(outcome.reason) == bool(begins)
    of_side = known_failures.told(
        plan, replace(BARE, side=Side("base", "bare")), good_record(BARE), "ok", "", tmp_path / "log"
    )
    assert of_side == ("ok", ""), "of a gate a failure is a finding"


def test_what_is_known_is_of_studies_and_variants_that_there_are() -> None:
    for known in known_failures.KNOWN:
        assert any(re.fullmatch(known.study, name) for name in studies())
        assert set(known.variant.split("|")) <= variants.known().keys()


def test_a_record_says_that_its_processors_are_emulated_and_only_then(plan: Plan) -> None:
    emulated = replace(plan, platform=replace(plan.platform, emulated=True))
    assert context(emulated, plan.launches[0])["emulated"] is True and "emulated" not in context(plan, plan.launches[0])


# A launcher that runs the program on "the nodes", which have other names, without this process's environment.
LAUNCHER = """
import subprocess, sys
env, path, python, *options, module, folder = sys.argv[1:]
for host in ("n1", "n2"):
    program = (
        f"import runpy, socket, sys; socket.gethostname = lambda: {host!r}; sys.argv = [{module!r}, {folder!r}]; "
        f"runpy.run_module({module!r}, run_name='__main__')"
    )
    subprocess.run([env, "-i", path, python, "-c", program], check=True, cwd="/")
"""


def described(folder: Path) -> list[dict[str, str]]:
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def test_two_nodes_of_one_name_and_one_that_changed_do_not_overwrite_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "node")
    machine.write(tmp_path)
    machine.write(tmp_path)
    assert [facts["host"] for facts in described(tmp_path)] == ["node"], "a second rank of one node says the same"
    monkeypatch.setattr(machine, "facts", lambda: {"kernel": "another"})
    machine.write(tmp_path)
    assert len(described(tmp_path)) == 2
    assert not list(tmp_path.glob("*.part"))


def test_the_nodes_that_a_job_launches_on_are_those_described(plan: Plan, tmp_path: Path) -> None:
    launch = [sys.executable, "-c", LAUNCHER]
    runner = Runner(replace(plan, platform=replace(plan.platform, launch_command=launch)), tmp_path)
    runner._describe_nodes()
    log = "".join(path.read_text() for path in Folders(tmp_path).logs.glob("*nodes.log"))
    assert [facts["host"] for facts in described(Folders(tmp_path).nodes)] == ["n1", "n2"], log


def test_a_launcher_that_is_not_there_ends_nothing(plan: Plan, tmp_path: Path) -> None:
    Runner(
        replace(plan, platform=replace(plan.platform, launch_command=["/absent/mpiexec"])), tmp_path
    )._describe_nodes()
    assert described(Folders(tmp_path).nodes) == []
    assert "absent" in next(Folders(tmp_path).logs.glob("*nodes.log")).read_text()


BARE = Launch("l.bare", "bare", 0, 0)
ADAPTIVE = Launch("l.adaptive", "adaptive:burst=4", 0, 1)
OFF = Launch("l.off", "off", 0, 1)


def _record(change: Callable[[RecordFile], object], launch: Launch = BARE) -> RecordFile:
    record = good_record(launch)
    change(record)
    return record


def _end_rank(record: RecordFile) -> dict[str, object]:
    assert record.end is not None
    rank: dict[str, object] = record.end["ranks"][1]
    return rank


def _header(record: RecordFile) -> dict[str, object]:
    assert record.header is not None
    return record.header


def test_a_good_launch_has_no_problem(plan: Plan) -> None:
    for launch in (BARE, ADAPTIVE):
        assert problems(plan, launch, _record(lambda _: None, launch)) == []


WRONG: list[tuple[str, Launch, Callable[[RecordFile], object], str]] = [
    ("singletons", BARE, lambda r: _header(r).update(world_size=1), "1 ranks instead of 2"),
    ("one host", BARE, lambda r: _header(r)["ranks"][1].update(host="vc1"), "1 hosts (vc1) instead of 2"),  # type: ignore[index]
    ("library", BARE, lambda r: _header(r).update(mpi_library="Open MPI v4"), "'Open MPI v4' answered"),
    ("binding", BARE, lambda r: _header(r)["ranks"][1].update(cpus_allowed=[0]), "wrong binding"),  # type: ignore[index]
    ("no traffic", BARE, lambda r: [e.update(interface_bytes={}) for e in r.end["ranks"]], "0 bytes crossed"),  # type: ignore[index]
    ("stray engine", BARE, lambda r: _end_rank(r).update(engine={"preset": "idle"}), "had the engine loaded"),
    ("no engine", ADAPTIVE, lambda r: _end_rank(r).update(engine=None), "without the engine"),
    ("other preset", ADAPTIVE, lambda r: _end_rank(r).update(engine={"preset": "idle"}), "idle instead of adaptive"),
    (
        "inactive",
        ADAPTIVE,
        lambda r: _end_rank(r).update(engine={"preset": "adaptive", "active": False, "reason": "level refused"}),
        "level refused",
    ),
    ("setting", ADAPTIVE, lambda r: _end_rank(r)["engine"]["settings"].update(burst=5), "burst=5 instead of burst=4"),  # type: ignore[index]
    ("no settings", ADAPTIVE, lambda r: _end_rank(r)["engine"].pop("settings"), "burst= instead of burst=4"),  # type: ignore[attr-defined]
    ("nothing written", BARE, lambda r: setattr(r, "header", None), "wrote nothing"),
]


@pytest.mark.parametrize(("name", "launch", "change", "words"), WRONG, ids=[case[0] for case in WRONG])
def test_each_kind_of_wrong_launch_is_found(
    plan: Plan, name: str, launch: Launch, change: Callable[[RecordFile], object], words: str
) -> None:
    found = problems(plan, launch, _record(change, launch))
    assert len(found) == 1, name
    assert words in found[0]


def test_what_looks_wrong_and_is_meant_so_is_no_problem(plan: Plan) -> None:
    """CPUs are counted a host, unless the nodes share a kernel; unbound ranks may share a set that is large enough."""
    off = _record(lambda r: [e.update(engine={"preset": "off", "active": False}) for e in r.end["ranks"]])  # type: ignore[index]
    assert problems(plan, OFF, off) == []
    same = _record(lambda r: _header(r)["ranks"][1].update(cpus_allowed=[0]))  # type: ignore[index]
    assert problems(on_another_platform(plan, cpus_shared=False), BARE, same) == []
    assert problems(on_another_platform(plan, cpus_too_few="4 nodes on 2 CPUs"), BARE, same) == []
    unbound = _record(lambda r: [rank.update(cpus_allowed=[0, 1]) for rank in _header(r)["ranks"]])  # type: ignore[attr-defined]
    assert problems(plan, BARE, unbound) == []


def test_a_setting_is_the_same_in_other_words() -> None:
    told = {"preset": "adaptive", "active": True, "settings": {"burst": 4, "pcontrol": True, "wait": "futex"}}
    assert engine_of(0, "adaptive:burst=7:burst=004:pcontrol=1:wait=futex", told) is None
    assert engine_of(0, "adaptive:wait=epoll", told) == "rank 0 ran with wait=futex instead of wait=epoll"


def test_what_a_launch_found_is_the_slowest_ranks_step_at_the_longest_message() -> None:
    def line(size: int, *seconds: float) -> dict[str, Any]:
        return {"point": {"size_bytes": size}, "samples": {"total_s": list(seconds)}}

    found = [line(65536, 9.0), line(4194304, 0.03, 0.04, 0.05), line(4194304, 0.01), {"point": {}, "status": "failed"}]
    assert step_words(RecordFile(points=found)) == "a step of 4 MB takes 40 ms"
    assert step_words(RecordFile(points=found[-1:])) == ""


def test_a_variable_that_a_process_did_not_see_is_found(plan: Plan) -> None:
    launch = replace(BARE, side=Side("new", "bare", environment={"UCX_TLS": "tcp", "LD_PRELOAD": "libx.so"}))

    def seen(*environments: dict[str, str | None] | None) -> list[str]:
        record = good_record(launch)
        for rank, environment in zip(_header(record)["ranks"], environments, strict=True):  # type: ignore[call-overload]
            rank.update({} if environment is None else {"environment": environment})
        return problems(plan, launch, record)

    good: dict[str, str | None] = {"UCX_TLS": "tcp", "LD_PRELOAD": "/opt/engine.so:libx.so"}
    assert seen(good, good) == []
    assert seen(good, good | {"UCX_TLS": None}) == ["rank 1 ran without it instead of with UCX_TLS=tcp"]
    assert seen(good | {"UCX_TLS": "sm"}, good) == ["rank 0 ran with sm instead of with UCX_TLS=tcp"]
    assert "build it anew" in seen(good, None)[0]
    assert problems(on_another_platform(plan, simulated={"model": "1"}), launch, good_record(launch)) == []
