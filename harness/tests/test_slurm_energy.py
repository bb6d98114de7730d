# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's count of a launch's energy, by stand-ins for scontrol and sacct that print what Slurm 22.05 does.

With a real Slurm: test_energy_on_slurm.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.base.paths import SCHEMA
from harness.job import records, slurm_energy
from harness.job.plan import Plan, interleave
from harness.job.program import Program
from harness.job.runner import Runner
from harness.job.slurm_energy import SlurmEnergy, joules

CONFIGURATION = """Configuration data as of 2026-11-30T12:00:00
AccountingStorageType   = accounting_storage/slurmdbd
AcctGatherEnergyType    = acct_gather_energy/{}
AcctGatherFilesystemType = acct_gather_filesystem/none
AcctGatherNodeFreq      = 0 sec
"""
BEGAN, SECONDS = 1764500003.4, 9.8
# The job, its script, what starts nodes, a launch, the next one, and what follows it.
LISTED = """7|1764499990|Unknown|2|
7.batch|1764499990|Unknown|1|0
7.extern|1764499990|Unknown|2|0
7.0|1764499991|1764499992|2|233
7.1|1764499993|1764500003|2|4800
7.2|1764500003|{end}|2|{joules}
7.3|1764500013|1764500013|2|25
"""
Calls = Callable[[], list[str]]
Slurm = Callable[..., Calls]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    """Makes this a process of job 7. `sacct`: what it says, one text a call and then the last, or a shell's script.
    Gives the programs that were called so far."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    monkeypatch.setattr(slurm_energy, "PAUSES_S", (0.01,) * 3)

    def calls() -> list[str]:
        log = folder / "calls"
        return log.read_text().split() if log.exists() else []

    def install(*sacct: str, plugin: str = "ipmi", script: str = "") -> Calls:
        for number, text in enumerate(sacct):
            (folder / f"said.{number}").write_text(text)
        script = script or (
            f'[ "$SLURM_TIME_FORMAT" = %s ] && [ "$3" = --jobs=7 ] || exit 9\n'
            f"n=$(grep -c sacct {folder}/calls)\n"
            f"while n=$((n - 1)); [ ! -e {folder}/said.$n ]; do :; done\ncat {folder}/said.$n"
        )
        told = {"sacct": script, "scontrol": f"cat <<'END'\n{CONFIGURATION.format(plugin)}END"}
        for name, body in told.items():
            (folder / name).write_text(f"#!/bin/sh\necho {name} >> {folder}/calls\n{body}\n")
            (folder / name).chmod(0o755)
        return calls

    return install


def record(folder: Path, *energies: dict[str, Any]) -> Path:
    """Of a launch whose ranks tell this of their machines."""
    told: dict[str, Any] = {"cpus_observed": [], "interface_bytes": {}, "engine": None}
    ranks = [{"rank": rank, **told, "energy": energy} for rank, energy in enumerate(energies)]
    path = folder / f"{len(list(folder.glob('*.jsonl')))}.jsonl"
    header = records.empty_header({}, [], "2026-11-30T12:00:00+00:00")
    records.write(path, records.RecordFile(header, [], {"status": "ok", "ranks": ranks, "elapsed_s": 9.0}))
    return path


def energy_in(path: Path) -> dict[str, Any] | None:
    """Of a record that is as the schema says."""
    for line in path.read_text().splitlines():
        jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(line))
    end = records.read(path).end
    assert end is not None
    found: dict[str, Any] | None = end.get("energy")
    return found


COUNTED = {"plugin": "ipmi", "step": "7.2", "nodes": 2, "joules": 4900.0}
UNREAD = {"unread": "no processor package in /sys/class/powercap"}


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        ("4900", 4900.0), ("4.90K", 4900.0), ("1.20M", 1.2e6), ("4294967293", 4294967293.0),
        ("", None), ("0", None), ("2", None), ("4294967294", None), ("8589934588", None),
        ("18446744073709551614", None), ("18446744073709551000", None), ("18446744.07T", None),
        ("(null)", None), ("n/a", None), ("-5", None),
    ],
)  # fmt: skip
def test_what_sacct_says_of_two_nodes(said: str, counted: float | None) -> None:
    assert joules(said, 2) == counted


@pytest.mark.parametrize("ahead_s", [-2, 0, 2])
def test_the_count_is_that_of_the_launchs_own_step(slurm: Slurm, tmp_path: Path, ahead_s: float) -> None:
    """By clocks, too, that differ by some seconds."""
    slurm(LISTED.format(end=1764500013, joules=4900))
    path = record(tmp_path, UNREAD, UNREAD)
    SlurmEnergy().add(path, BEGAN + ahead_s, SECONDS, 2)
    assert energy_in(path) == COUNTED


def test_the_end_of_a_step_is_waited_for(slurm: Slurm, tmp_path: Path) -> None:
    running = LISTED.format(end="Unknown", joules="0")
    calls = slurm(running, running, LISTED.format(end=1764500013, joules=4900))
    path = record(tmp_path)
    SlurmEnergy().add(path, BEGAN, SECONDS, 0)
    assert energy_in(path) == COUNTED and calls() == ["scontrol", "sacct", "sacct", "sacct"]


GOOD = LISTED.format(end=1764500013, joules=4900)
NONE = "AcctGatherEnergyType is none"


@pytest.mark.parametrize(
    ("sacct", "more", "seconds", "nodes", "why", "calls"),
    [
        (GOOD, {"plugin": "none"}, SECONDS, 2, NONE, 0),
        (GOOD, {"plugin": "(null)"}, SECONDS, 2, NONE, 0),
        ("", {"script": "echo Slurm accounting storage is disabled >&2; exit 1"}, SECONDS, 2,
         "sacct: Slurm accounting storage is disabled", 1),
        ("", {"script": "exec sleep 1000"}, SECONDS, 2, "sacct: sacct did not end within 0.5 s", 1),
        (LISTED.format(end="Unknown", joules="0"), {}, SECONDS, 2,
         "sacct knows no step of job 7 that lasted as long as a launch", 4),
        ("", {}, SECONDS, 2, "sacct knows no step of job 7 that lasted as long as a launch", 4),
        (LISTED.format(end=1764500013, joules="0"), {}, SECONDS, 2, "it counted nothing for step 7.2", 2),
        (LISTED.format(end=1764500013, joules=""), {}, SECONDS, 2, "it counted nothing for step 7.2", 2),
        (GOOD, {}, SECONDS, 3, "step 7.2 was on 2 nodes, its launch on 3: mpirun leaves its own out, srun does not", 2),
        (GOOD, {}, 3.9, 2, "a launch of less than 4 s is too short", 0),
    ],
    ids=["no plugin", "null", "no accounting", "hangs", "still runs", "empty", "zero", "no count", "nodes", "short"],
)  # fmt: skip
def test_what_it_does_not_count_has_a_reason_and_a_silent_slurm_is_asked_no_more(
    slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    sacct: str, more: dict[str, str], seconds: float, nodes: int, why: str, calls: int,
) -> None:  # fmt: skip
    called = slurm(sacct, **more)
    monkeypatch.setattr(slurm_energy, "LIMIT_S", 0.5 if "sleep" in more.get("script", "") else 60.0)
    energy = SlurmEnergy()
    for _ in range(2):
        path = record(tmp_path, UNREAD)
        energy.add(path, BEGAN, seconds, nodes)
        assert energy_in(path) == {"unread": why}
    assert called().count("scontrol") == 1 and called().count("sacct") == calls


def test_a_job_without_slurms_commands(slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm(GOOD)
    monkeypatch.setenv("PATH", "/nowhere")
    path = record(tmp_path)
    SlurmEnergy().add(path, BEGAN, SECONDS, 2)
    assert energy_in(path) == {"unread": "scontrol: there is no program scontrol"}


READ = {"source": "powercap", "joules": 3.0, "seconds": 1.0}


def test_slurm_is_asked_where_no_rank_could_read_its_own_in_a_job_of_slurms(
    slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = slurm(GOOD)
    own = record(tmp_path, READ, READ)
    SlurmEnergy().add(own, BEGAN, SECONDS, 2)
    assert energy_in(own) is None and calls() == []
    for energies in ((READ, UNREAD), (READ, READ | {"source": "pm_counters"}), ()):
        path = record(tmp_path, *energies)
        SlurmEnergy().add(path, BEGAN, SECONDS, 2)
        assert energy_in(path) == COUNTED
    monkeypatch.delenv("SLURM_JOB_ID")
    path = record(tmp_path, UNREAD)
    SlurmEnergy().add(path, BEGAN, SECONDS, 2)
    assert energy_in(path) is None


def test_a_job_writes_it_into_its_records(
    plan: Plan, slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = slurm(script='now=$(date +%s)\necho "7.2|$((now + 1))|$((now + 2))|2|4900"')
    monkeypatch.setattr(slurm_energy, "SHORTEST_S", 0.0)
    monkeypatch.setattr(records, "LATE_S", 0.0)
    program = Program(["/bin/sh", "-c", "sleep 0.5; [ ! -e bad ] || exit 1"], str(tmp_path), 2)
    bare = interleave("own.s.mpich", {"bare": 2}, 1)
    own = replace(
        plan, study="own-program", workload=[], points=[{}], launches=bare, program=program,
        platform=replace(plan.platform, launch_command=[], reap=["true"]),
    )  # fmt: skip
    session = tmp_path / "session"
    assert Runner(replace(own, launches=bare[:1]), session).run() == 0
    (path,) = (session / "records").glob("*.jsonl")
    assert energy_in(path) == COUNTED
    (tmp_path / "bad").touch()
    before = calls()
    assert before == ["scontrol", "sacct"] and Runner(own, session).run() == 1
    assert calls() == before, "of what failed it is not asked"
