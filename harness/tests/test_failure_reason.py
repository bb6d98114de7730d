# SPDX-License-Identifier: BSD-3-Clause
"""Why a program failed, from the outputs that launchers really leave: never a banner, always what is behind it.

Each output is what that launcher prints (hosts, processes and paths changed). The same words are in the launchers that
MPICH 5.0 and Intel MPI 2021.18 have, and in the message files of Open MPI 5.0 (share/prte/help-prun.txt).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.base import failure_reason, process
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.job import records
from harness.job import session as sessions
from harness.sessions import missing_launches
from harness.sites.systems import BUILTIN, Request
from reframe_checks.catalogue import by_names

RULE = "=" * 83
DASHES = "-" * 74


def hydra(code: int, string: str = "", before: str = "") -> str:
    """MPICH's banner; `string`: of its last line, if a signal ended the rank."""
    told = [
        *filter(None, [before]),
        "",
        RULE,
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
        "=   PID 4711 RUNNING AT node1",
        f"=   EXIT CODE: {code}",
        "=   CLEANING UP REMAINING PROCESSES",
        "=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES",
        RULE,
    ]
    advice = [
        f"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: {string}",
        "This typically refers to a problem with your application.",
        "Please see the FAQ page for debugging suggestions",
    ]
    return "\n".join([*told, *(advice if string else [])]) + "\n"


def intel(*ranks: tuple[int, str], before: str = "") -> str:
    """Intel MPI's, one banner a rank."""
    banners = [
        f"\n{RULE}\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"
        f"=   RANK {rank} PID {4711 + rank} RUNNING AT node1\n=   KILLED BY SIGNAL: {number} ({name})\n{RULE}\n"
        for rank, (number, name) in enumerate(ranks)
    ]
    return f"{before}\n" + "".join(banners)


def framed(*messages: str, before: str = "") -> str:
    """Open MPI's, each between two lines of dashes."""
    return f"{before}\n" + "".join(f"{DASHES}\n{message}\n{DASHES}\n" for message in messages)


NOTICED = "prterun noticed that process rank 1 with PID 4712 on node node1 exited on\nsignal {number} ({name})."
NON_ZERO = (
    "prterun detected that one or more processes exited with non-zero status,\nthus causing the job to be terminated. "
    "The first process to do so was:\n\n   Process name: [prterun-node1-4711@1,0]\n   Exit code:    {code}"
)
HANDLER = """[node1:04711] *** Process received signal ***
[node1:04711] Signal: Segmentation fault (11)
[node1:04711] Signal code: Address not mapped (1)
[node1:04711] Failing at address: 0x440000f8
[node1:04711] [ 0] /lib/x86_64-linux-gnu/libc.so.6(+0x3c050)[0x7f1280956470]
[node1:04711] [ 1] ./app(+0x1139)[0x40865e]
[node1:04711] *** End of error message ***"""
ERROR_HANDLER = """[node1:04711] *** An error occurred in MPI_Send
[node1:04711] *** reported by process [1234567,0]
[node1:04711] *** on communicator MPI_COMM_WORLD
[node1:04711] *** MPI_ERR_RANK: invalid rank
[node1:04711] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
[node1:04711] ***    and MPI will try to terminate your MPI job as well)"""
PROXIES = """[proxy:0:1@node2] HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:878): assert (!closed) failed
[proxy:0:1@node2] HYDT_dmxu_poll_wait_for_event (tools/demux/demux_poll.c:77): callback returned error status
[proxy:0:1@node2] main (pm/pmiserv/pmip.c:200): demux engine error waiting for event
[mpiexec@node1] HYDT_bscu_wait_for_completion (bscu_wait.c:75): one of the processes terminated badly; aborting
[mpiexec@node1] HYDT_bsci_wait_for_completion (bsci_wait.c:22): launcher returned error waiting for completion
[mpiexec@node1] main (ui/mpich/mpiexec.c:336): process manager error waiting for completion"""
NOT_THERE = "[proxy:0@node1] HYDU_create_process (launch.c:73): execvp error on file ./app (No such file or directory)"
TOO_LOW = """The "eager limit" MCA parameter in the tcp BTL was set to a value which
is too low for Open MPI to function properly.  Please re-run your job
with a higher eager limit value for this BTL; the exact MCA parameter
name and its corresponding minimum value is shown below."""
ABORTED = (
    "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\n  Proc: [[1234,1],0]\n  Errorcode: 7\n\n"
    "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\nYou may or may not see output from other "
    "processes, depending on\nexactly when Open MPI kills them."
)
EXITED = (
    'prterun has exited due to process rank 0 with PID 0 on node node1 calling\n"abort". This may have caused other '
    "processes in the application to be\nterminated by signals sent by prterun (as reported here)."
)
ABORT_4 = (
    "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 7.\n\n"
    "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes."
)
ABORT_OF_MPICH = "Abort(7) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - process 0"
PRIMARY = (
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted."
)

OUTPUTS = {
    "a program's own": ("energy -4.6\nout of memory\n", "out of memory"),
    "nothing": ("\n \n", ""),
    "a step within a step": (
        "srun: Job step creation temporarily disabled, retrying (Requested nodes are busy)\nsrun: Force Terminated\n",
        "srun waited for CPUs that a step around it holds: give it --overlap, or call it outside of that step",
    ),
    "a table's end": (f"total 3\n{RULE}\n", "total 3"),
    # MPICH
    "Hydra, abort": (hydra(134, "Aborted (signal 6)"), "ended by signal 6 (Aborted)"),
    "Hydra, assertion": (
        hydra(134, "Aborted (signal 6)", "app.c:12: main: Assertion `x > 0' failed."),
        "app.c:12: main: Assertion `x > 0' failed.; ended by signal 6 (Aborted)",
    ),
    "Hydra, another rank was killed for it": (hydra(6, "Terminated (signal 15)"), "ended by signal 6 (Aborted)"),
    "Hydra, the rank that was killed for it is told": (
        hydra(9, "Terminated (signal 15)", "step 3"), "step 3; ended by a signal",
    ),
    "Hydra, another rank was ended last": (
        hydra(134, "Terminated (signal 15)"), "ended by signal 6 (Aborted)",
    ),
    "Hydra, no memory": (hydra(9, "Killed (signal 9)"), "ended by signal 9 (Killed)"),
    "Hydra, was told to stop": (hydra(15, "Terminated (signal 15)", "step 3"), "step 3"),
    "Hydra, exit code": (hydra(3), "ended with exit code 3"),
    "Hydra, exit code and words": (hydra(3, before="no such file: input"), "no such file: input"),
    "Hydra falls over": (hydra(139) + PROXIES, "ended by signal 11 (Segmentation fault)"),
    "Hydra, no program": (f"{NOT_THERE}\n{hydra(255)}", NOT_THERE),
    "MPICH, MPI_Abort": (f"app: bad input\n{ABORT_OF_MPICH}\n", "app: bad input; ended by MPI_Abort with error code 7"),
    # Intel MPI
    "Intel MPI, abort": (intel((6, "Aborted")), "ended by signal 6 (Aborted)"),
    "Intel MPI, the first was killed for the second": (
        intel((9, "Killed"), (11, "Segmentation fault"), before="step 3"),
        "step 3; ended by signal 11 (Segmentation fault)",
    ),
    # Open MPI
    "Open MPI, abort": (framed(NOTICED.format(number=6, name="Aborted")), "ended by signal 6 (Aborted)"),
    "Open MPI, handler": (
        framed(NOTICED.format(number=11, name="Segmentation fault"), before=f"step 3\n{HANDLER}"),
        "step 3; ended by signal 11 (Segmentation fault)",
    ),
    "Open MPI, exit code": (framed(NON_ZERO.format(code=3)), "ended with exit code 3"),
    "Open MPI, exit code and words": (
        framed(NON_ZERO.format(code=1), before="ValueError: no parallelism"), "ValueError: no parallelism",
    ),
    "Open MPI, error of MPI": (
        framed(EXITED, before=f"step 3\n{ERROR_HANDLER}") + "\0", "[node1:04711] *** MPI_ERR_RANK: invalid rank",
    ),
    "Open MPI, setting refused": (framed(TOO_LOW, NON_ZERO.format(code=1)), " ".join(TOO_LOW.split())),
    "Open MPI, MPI_Abort": (
        framed(ABORTED, EXITED, before="app: bad input") + "\0\n",
        "app: bad input; ended by MPI_Abort with error code 7",
    ),
    "Open MPI 4": (
        framed(PRIMARY, NON_ZERO.format(code=3).replace("prterun", "mpirun"), before="no input"), "no input",
    ),
    "Open MPI 4, MPI_Abort": (framed(ABORT_4), "ended by MPI_Abort with error code 7"),
    "Open MPI 4, signal, not framed": (
        "mpirun noticed that process rank 2 with PID 0 on node node1 exited on signal 9 (Killed).\n",
        "ended by signal 9 (Killed)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OUTPUTS)
def test_the_reason_is_what_the_program_said_and_what_ended_it(case: str) -> None:
    output, wanted = OUTPUTS[case]
    assert failure_reason.failure_reason(output) == wanted


def test_long_words_are_cut_and_a_long_output_is_read_from_its_end() -> None:
    assert failure_reason.failure_reason("x" * 1000) == "x" * failure_reason.LONGEST
    assert failure_reason.failure_reason("y\n" * failure_reason.LOOKED_AT + hydra(134, "Aborted (signal 6)")) == (
        "y; ended by signal 6 (Aborted)"
    )


def test_what_is_run_has_them(tmp_path: Path) -> None:
    program = f"print('''{hydra(134, 'Aborted (signal 6)', 'step 3')}''')"
    wanted = "step 3; ended by signal 6 (Aborted)"
    assert process.run([sys.executable, "-c", program], {}, tmp_path / "log", 60).last_line == wanted
    assert process.last_line(tmp_path / "log") == wanted
    assert process.answer([sys.executable, "-c", program], 60).last_line == wanted


@pytest.mark.mpi
@pytest.mark.parametrize("name", WHEEL_MPIS)
@pytest.mark.parametrize(
    ("script", "wanted"),
    [("echo step 3; kill -ABRT $$", "step 3; ended by signal 6 (Aborted)"), ("echo no input; exit 3", "no input")],
)
def test_each_launcher_really_prints_so(name: str, script: str, wanted: str, tmp_path: Path) -> None:
    mpi = MPIS[name]
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    launched = [*mpi.launch_command(1, 1), "sh", "-c", script]
    ended = process.run(launched, mpi.environment(), tmp_path / "log", 120)
    assert ended.status and ended.last_line == wanted, (tmp_path / "log").read_text()


# What is said of launches that no job came to, by what ReFrame's report says of the job.
def case(**facts: Any) -> dict[str, Any]:
    return {"environ": "mpich", "system": "local", "partition": "loopback", "fixture": False, **facts}


BUILD = case(fixture=True, result="fail", fail_reason="build error: there is no progress-run")
WAITED = case(result="abort", fail_reason="dependencies failed")
BUILT = case(fixture=True, result="pass", fail_reason=None)
DIED = case(result="fail", fail_reason="job failed", job_state="NODE_FAIL")
BLOCKED = case(
    result="fail",
    job_state="CANCELLED",
    fail_reason="job blocked error: [jobid=7] job cancelled because it was blocked due to a perhaps non-recoverable "
    "reason: ReqNodeNotAvail, UnavailableNodes:vc2",
)
OTHERS = case(environ="openmpi", result="fail", fail_reason="something of another MPI")


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([BUILD, WAITED, OTHERS], "not run: build error: there is no progress-run"),
        ([BUILT, DIED, OTHERS], "not run: a node of the batch job died (NODE_FAIL)"),
        ([BUILT, BLOCKED], "reason: ReqNodeNotAvail, UnavailableNodes:vc2; with sched_options in the site's file, as "),
        ([OTHERS], "ReFrame ended without a word on this job"),
    ],
)
def test_the_cause_is_named(
    cases: list[dict[str, Any]], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    request = Request.of(by_names(["tasks"]), BUILTIN["local"], ["mpich"], ["bare"], scale="test")
    session = sessions.create("missing", request.facts())
    report = tmp_path / "tasks.json"
    report.write_text(json.dumps({"runs": [{"testcases": cases}]}))
    (job,) = request.jobs()
    count, why = missing_launches.record(job, session, report)
    assert count == len(job.launches) and words.removeprefix(records.NOT_RUN) in why
    (file,) = records.attempts(session.folders.records, job.launches[0].identity)
    assert all(words in line["reason"] for line in records.read(file).points)
