# SPDX-License-Identifier: BSD-3-Clause
"""The sessions of a ReFrame that was started by itself: which checks share one, what it says at the end, its
performance variables; and whether a job that Slurm has preempted comes back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from reframe.core.schedulers.slurm import slurm_state_completed, slurm_state_pending

from harness.base.paths import ROOT
from harness.job import session as sessions
from harness.job.records import RecordFile, write
from harness.job.records import performance as variables
from harness.sites.systems import SYSTEMS_DIR, from_facts
from reframe_checks import preempted

# A ReFrame process without ReFrame: it asks for the folders of these jobs, one after the other.
SCRIPT = """
import json, sys
from dataclasses import replace
from pathlib import Path
from harness.base.mpis import MPIS
from harness.job.session import Asked
from reframe_checks.catalogue import by_names
from reframe_checks.own_session import Check, Wanted, folder_for
wanted = Wanted(Asked(["bare"], {"launches": "1"}, 1, 2, sys.argv[1]), "test", "local", False, {})
def check(name, mpi="mpich"):
    (study,) = by_names([name])
    scale = study.scale("test", wanted.asked.settings)
    return Check(study, mpi, MPIS[mpi].build_dir / "bin", "a network", {})
print(json.dumps([str(folder_for(*each)) for each in (
    (wanted, check("tasks")), (wanted, check("waiting")), (wanted, check("tasks", "openmpi")),
    (wanted, check("tasks")), (replace(wanted, scale="quick"), check("tasks")),
)]))
"""


def folders(results: Path) -> list[Path]:
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT), "OVERLAP_BENCH_RESULTS": str(results)}
    command = [sys.executable, "-c", SCRIPT, str(SYSTEMS_DIR / "local.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [Path(path) for path in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return folders(tmp_path_factory.mktemp("results"))


@pytest.mark.full
def test_checks_that_are_asked_for_alike_share_a_session(taken: list[Path]) -> None:
    first, second, third, again, other_scale = taken
    assert first == second == third
    assert len({first, again, other_scale}) == 3, "the same once more, or at another scale, is measured apart"


@pytest.mark.full
def test_a_session_says_what_one_of_bench_says(taken: list[Path]) -> None:
    facts = json.loads((taken[0] / "session.json").read_text())
    assert facts["studies"] == ["tasks", "waiting"]
    assert facts["mpi_names"] == ["mpich", "openmpi"]
    assert set(facts["mpis"]) == {"mpich", "openmpi"}
    assert (facts["scale"], facts["system"], facts["network"]) == ("test", "local", "a network")
    assert len(facts["expected"]) == 4, "a launch of bare for each study and MPI"
    assert {"git", "machine", "reframe", "python", "identity", "created", "command"} <= set(facts)
    assert any(name.startswith("openmpi workload tasks") for name in facts["identity"])
    request = from_facts(sessions.load(str(taken[0])).facts)
    assert request.facts()["expected"] == facts["expected"], "so it can be resumed"
    assert request.identity() == facts["identity"] and request.asked == sessions.load(str(taken[0])).facts.request


@pytest.mark.full
def test_a_session_without_its_records_is_not_complete(taken: list[Path]) -> None:
    facts = json.loads((taken[0] / "session.json").read_text())
    assert facts["state"] == "incomplete"
    assert facts["finished"]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(AssertionError, match=r"The results folder .* cannot be written"):
        folders(tmp_path / "results")


# Performance variables: a name that tells points apart, and the unit that the workload declares.
RATE = {"unit": "messages/s", "better": "higher", "leading": True}
TIME = {"unit": "s", "better": "lower", "leading": True}


def line(samples: Mapping[str, Sequence[float]], status: str = "ok", rank: int = 0, **point: Any) -> dict[str, Any]:
    reason = {} if status == "ok" else {"reason": "too late"}
    return {"point": point, "rank": rank, "status": status, "samples": dict(samples), **reason}


def record(folder: Path, variant: str, quantities: dict[str, Any], *points: dict[str, Any]) -> Path:
    """A launch's record file."""
    file = folder / f"{len(list(folder.iterdir())):03d}.jsonl"
    header = {"schema": 5, "context": {"variant": variant}, "quantities": quantities}
    write(file, RecordFile(header, list(points), {"status": "ok"}))
    return file


def test_points_that_differ_in_an_axis_of_their_own_are_apart(tmp_path: Path) -> None:
    """The axes of one point are not those of another; what follows from an intention is no axis."""
    file = record(
        tmp_path, "limit", {"total_s": TIME},
        line({"total_s": [1.0, 2.0, 9.0]}, size_bytes=8, wake_us=500, work_units=77),
        line({"total_s": [4.0]}, size_bytes=8, wake_us=2000, work_units=78),
        line({"total_s": [5.0]}, size_bytes=8),
    )  # fmt: skip
    assert variables([file]) == {
        "limit/size_bytes=8/wake_us=500": (2.0, "s"),
        "limit/size_bytes=8/wake_us=2000": (4.0, "s"),
        "limit/size_bytes=8": (5.0, "s"),
    }


def test_the_leading_quantity_is_the_one_in_its_own_unit(tmp_path: Path) -> None:
    """ReFrame cuts a name at a colon, so that a variant's settings would be lost."""
    quantities = {"messages_per_s": RATE, "elapsed_s": TIME | {"leading": False}}
    file = record(tmp_path, "idle:idle_us=10", quantities, line({"messages_per_s": [3e6], "elapsed_s": [1.0]}, n=1))
    assert variables([file]) == {"idle+idle_us=10/n=1": (3e6, "messages/s")}


def test_launches_are_one_value_and_only_what_is_good_counts(tmp_path: Path) -> None:
    slow, good = line({"total_s": [30.0] * 5}, n=1), line({"total_s": [1.0]}, n=1)
    bad = line({"total_s": [99.0]}, status="failed", n=1)
    other_side = line({"total_s": [77.0]}, rank=1, n=1)
    files = [record(tmp_path, "bare", {"total_s": TIME}, *lines) for lines in ([good], [good, other_side], [slow])]
    files.append(record(tmp_path, "bare", {"total_s": TIME}, bad))
    assert variables(files) == {"bare/n=1": (1.0, "s")}


def test_a_distribution_too_long_to_keep_has_its_median(tmp_path: Path) -> None:
    long = line({}, n=1) | {"histograms": {"latency_s": {"quantiles": {"0.5": 2e-6, "0.99": 1.0}}}}
    assert variables([record(tmp_path, "bare", {"latency_s": TIME}, long)]) == {"bare/n=1": (2e-6, "s")}


# Of a job that Slurm has preempted the queue says whether it comes back.
ABSENT = "slurm_load_jobs error: Invalid job id specified"


class Scheduler:
    """ReFrame's, as far as it says what has finished."""

    def finished(self, job: SimpleNamespace) -> bool:
        return bool(slurm_state_completed(job.state))


@pytest.fixture
def scheduler() -> Scheduler:
    made = Scheduler()
    preempted.ends(made)
    preempted.ends(made)  # each check of a partition asks for it
    return made


@pytest.fixture
def squeue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the queue says: the file's lines are a script's."""
    program = tmp_path / "squeue"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def says(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")


def test_reframe_alone_would_wait_for_it() -> None:
    """Where this fails, ReFrame has learned to tell, and this module can go."""
    assert slurm_state_pending(preempted.STATE) and not slurm_state_completed(preempted.STATE)


@pytest.mark.parametrize("said", ["exit 0", f"echo '{ABSENT}' >&2; exit 1"])
def test_a_job_that_left_the_queue_for_good_has_finished(
    said: str, scheduler: Scheduler, squeue: Path, clock: list[float]
) -> None:
    job = SimpleNamespace(jobid="7", state="PREEMPTED")
    says(squeue, said)
    assert not scheduler.finished(job), "it may be on its way back"
    clock[0] += preempted.GONE_S - 1
    assert not scheduler.finished(job)
    clock[0] += 1
    assert scheduler.finished(job)


@pytest.mark.parametrize(
    "said", ["echo '7 main gate me PD 0:00 4 (BeginTime)'", "echo 'Unable to contact' >&2; exit 1"]
)
def test_a_job_that_waits_or_of_which_nothing_is_known_has_not(
    said: str, scheduler: Scheduler, squeue: Path, clock: list[float]
) -> None:
    job = SimpleNamespace(jobid="7", state="PREEMPTED")
    says(squeue, "exit 0")
    assert not scheduler.finished(job)
    says(squeue, said)
    clock[0] += 10 * preempted.GONE_S
    assert not scheduler.finished(job)
    says(squeue, "exit 0")
    assert not scheduler.finished(job), "the time in which it is gone begins anew"


@pytest.mark.parametrize(
    ("state", "ended"), [("COMPLETED", True), ("TIMEOUT", True), ("RUNNING", False), (None, False)]
)
def test_of_every_other_state_reframe_is_right(state: str | None, ended: bool, scheduler: Scheduler) -> None:
    """Without a word of the queue: there is no program squeue."""
    assert scheduler.finished(SimpleNamespace(jobid="7", state=state)) is ended
