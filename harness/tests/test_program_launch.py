# SPDX-License-Identifier: BSD-3-Clause
"""Somebody else's program in a job: tried, timed, its result compared; what goes wrong with it is a sentence.

The programs are of a shell, and so is what stands in for progress-run; but for which MPI a program is linked to.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness.base.mpis import Mpi
from harness.base.paths import ROOT, SCHEMA
from harness.job import records
from harness.job.launch import name_of
from harness.job.plan import Plan, interleave
from harness.job.program import CALLERS_PYTHONPATH, Program, Unusable, another_mpi
from harness.job.program_launch import Trial, trial, trial_of
from harness.job.reap import marked
from harness.job.records import Folders
from harness.job.runner import Runner
from harness.tests.waiting import eventually

# Leaves a rank's report for each of RANKS and becomes the program; ENGINE tells that what it runs under.
PROGRESS_RUN = """#!/bin/sh
export ENGINE=$2
while [ "$1" != -- ]; do [ "$1" = --report-file ] && file=$2; shift; done
shift
for rank in $RANKS; do
  report=$(echo "$file" | sed "s/%r/$rank/")
  echo '{"preset": "'$ENGINE'", "active": true, "world_size": 2, "pending_while_computing_s": 0.25}' > "$report"
done
exec "$@"
"""
RESULT, TIME = r"energy (\S+)", r"time (\S+)"
GOOD = "echo time 1.5; echo energy -4.6"

Run = Callable[..., tuple[Plan, Path, int]]


@pytest.fixture
def run(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a shell's program as a job's: its plan, its session and the runner's status."""
    stand_in = tmp_path / "progress-run"
    stand_in.write_text(PROGRESS_RUN)
    stand_in.chmod(0o755)
    monkeypatch.setenv("RANKS", "0 1")
    monkeypatch.setattr(records, "LATE_S", 0.0)

    def whole(
        script: str | list[str],
        launches: int = 2,
        timeout_s: float = 300.0,
        library: str = "MPICH Version",
        ranks: int = 2,
        profiled: dict[str, str] | None = None,
    ) -> tuple[Plan, Path, int]:
        command = ["/bin/sh", "-c", script] if isinstance(script, str) else script
        program = Program(command, str(tmp_path), ranks, time_from=TIME, check=RESULT, profiled=profiled or {})
        stood_in: dict[str, Any] = {
            "launch_command": [],
            "progress_run": str(stand_in),
            "reap": ["sh", "-c", f"echo energy killed; echo >> {tmp_path}/reaped"],
            "library": library,
        }
        here = replace(plan.platform, **stood_in)
        own = replace(
            plan,
            study="own-program",
            workload=[],
            points=[{}],
            launches=interleave("own.s.mpich", {"bare": launches, "adaptive": launches}, 1),
            platform=here,
            program=program,
            given_timeout_s=timeout_s,
        )
        return own, tmp_path / "session", Runner(own, tmp_path / "session").run()

    return whole


def points(plan: Plan, session: Path) -> dict[str, list[tuple[str, str, list[float]]]]:
    """Variant -> status, reason and printed time of each launch."""
    found: dict[str, list[tuple[str, str, list[float]]]] = {}
    for launch in plan.launches:
        (line,) = records.read(session / "records" / f"{launch.identity}.jsonl").points
        samples = line["samples"].get("printed_time", [])
        found.setdefault(launch.variant, []).append((line["status"], line.get("reason", ""), samples))
    return found


def test_a_good_program_is_tried_once_and_timed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/of/the/harness")
    monkeypatch.setenv(CALLERS_PYTHONPATH, "/of/the/caller")
    script = f'echo "$ENGINE $PYTHONPATH" >> runs; {GOOD}'
    plan, session, status = run(script)
    assert status == 0
    assert points(plan, session) == dict.fromkeys(("bare", "adaptive"), [("ok", "", [1.5])] * 2)
    assert (tmp_path / "runs").read_text().count("/of/the/caller\n") == 5, "tried once, twice each variant, where I am"
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for path in (session / "records").glob("*.jsonl"):
        for text in path.read_text().splitlines():
            validator.validate(json.loads(text))
    (end,) = [record.end for record in [records.read(next((session / "records").glob("*.adaptive.jsonl")))]]
    assert end is not None
    assert end["result"] == "-4.6"
    assert [rank["engine"]["pending_while_computing_s"] for rank in end["ranks"]] == [0.25, 0.25]
    assert not list((session / "scratch").iterdir())
    run(script)
    assert (tmp_path / "runs").read_text().count("\n") == 5, "a second run of the session finds all done"
    gone = replace(plan, program=None, impossible=[({}, "not found")])
    assert Runner(gone, session).run() == 0
    assert len(points(plan, session)["bare"]) == 2 == len(list((session / "records").glob("*.bare*.jsonl")))


@pytest.mark.parametrize(
    ("script", "warnings"),
    [
        ("printf 'time '; echo 'UCX WARN' >&2; echo 1.5; printf energy; echo >&2; echo oh >&2; echo ' -4.6'", 2),
        (
            "echo srun: warning: oh; echo time 1.5 >&2; echo energy -4.6 >&2",
            3,
        ),  # as where a logger writes all to stderr
    ],
)
def test_what_is_written_to_stderr_is_in_no_result_and_is_counted(run: Run, script: str, warnings: int) -> None:
    plan, session, status = run(script)
    assert status == 0
    assert points(plan, session) == dict.fromkeys(("bare", "adaptive"), [("ok", "", [1.5])] * 2)
    for path in (session / "records").glob("*.jsonl"):
        end = records.read(path).end
        assert end is not None
        assert end["warnings"] == warnings


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo time 1.5; echo energy ${ENGINE:--4.6}", "its result is not that of bare: 'adaptive' instead of '-4.6'"),
        (f"{GOOD}; [ -z $ENGINE ] || exit 7", "exit status 7; last words: energy -4.6"),
    ],
)
def test_a_variant_that_fails_or_has_another_result_is_not_timed_and_leaves_bare_its_times(
    run: Run, script: str, reason: str
) -> None:
    plan, session, status = run(script)
    assert status == 1
    assert points(plan, session) == {"bare": [("ok", "", [1.5])] * 2, "adaptive": [("failed", reason, [])] * 2}


def test_results_that_differ_by_themselves_end_it(run: Run, tmp_path: Path) -> None:
    plan, session, status = run("echo >> runs; echo time 1.5; echo energy $(wc -l < runs)", launches=3)
    assert status == 1
    reasons = {reason for launches in points(plan, session).values() for _, reason, _ in launches}
    assert any(why.startswith("its results differ between launches of bare by itself: '") for why in reasons)
    first = next(i for i, launch in enumerate(plan.launches) if launch.variant == "bare")
    assert (tmp_path / "runs").read_text().count("\n") == 2 + first, "nothing is run after it"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        (f"{GOOD}; echo out of memory >&2; exit 3", "sh: exit status 3; last words: out of memory"),
        ("sleep 60", "sh: did not end within 0 s; last words: none"),
        ("echo energy -4.6", f"sh: it printed nothing that --time-from '{TIME}' finds"),
        ("echo time 1.5", f"sh: it printed nothing that --check '{RESULT}' finds"),
        ("echo time soon; echo energy 1", f"sh: what --time-from '{TIME}' finds is no time: 'soon'"),
        ("echo time -1.00; echo energy 1", f"sh: what --time-from '{TIME}' finds is no time: '-1.00'"),
        ("echo time 1_0; echo energy 1", f"sh: what --time-from '{TIME}' finds is no time: '1_0'"),
    ],
)
def test_what_cannot_be_used_is_tried_once_and_said_once(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str, reason: str
) -> None:
    plan, session, status = run(f"echo >> runs; {script}", timeout_s=0.4 if "sleep" in script else 300.0)
    assert status == 1
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["reason"] for event in events if "reason" in event] == [f"failed: {reason}"]
    assert points(plan, session) == dict.fromkeys(("bare", "adaptive"), [("failed", reason, [])] * 2)
    assert (tmp_path / "runs").read_text().count("\n") == 1
    name = name_of(session / "logs" / "own-program.vcluster.mpich.trial.log")
    assert eventually(lambda: not list(marked(name))), "nothing left running"
    assert not list((session / "scratch").iterdir())


def test_what_a_program_leaves_behind_is_not_left_running(run: Run) -> None:
    """Though it ended well: it would take the cores of the next launch. On other nodes the system is asked to look."""
    plan, session, status = run(f"setsid sleep 1000 & {GOOD}", launches=1)
    assert status == 0
    assert (session.parent / "reaped").read_text().count("\n") == 3, "the trial, bare and adaptive"
    launches = [trial_of(plan), *(launch.identity for launch in plan.launches)]
    names = [name_of(session / "logs" / f"{name}.log") for name in launches]
    assert eventually(lambda: not any(list(marked(name)) for name in names))


@pytest.mark.parametrize("ranks", [2, 0], ids=["its own number", "a launcher's"])
def test_an_engine_that_is_not_on_every_rank_is_a_failure(
    run: Run, monkeypatch: pytest.MonkeyPatch, ranks: int
) -> None:
    monkeypatch.setenv("RANKS", "0")
    plan, session, _ = run(f"{GOOD}; echo progress-run: app is statically linked", ranks=ranks)
    said = "the engine reported on 1 of 2 ranks: progress-run: app is statically linked"
    assert points(plan, session)["adaptive"] == [("failed", said, [])] * 2


def test_a_report_that_comes_late_from_another_node_is_waited_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a shared file system, as a record does: first nothing, then a part of it, then all, and then its profile."""
    monkeypatch.setenv("RANKS", "0")
    profiles = Folders(tmp_path / "session").profiles
    parts = iter([0, 40, None, "profile.h.0.json", "profile.h.1.json", 0, 40, None])  # of two launches, one profiles

    def comes(_: float) -> None:
        if isinstance(part := next(parts), str):
            profiles.mkdir(exist_ok=True)
            (profiles / part).write_text("{}")
            return
        (first,) = tmp_path.rglob("engine.0.*.json")
        first.with_name(first.name.replace("engine.0", "engine.1")).write_text(first.read_text()[:part])

    monkeypatch.setattr("harness.job.program_launch.psutil.cpu_percent", lambda _: 0.0)  # which sleeps as well
    monkeypatch.setattr("harness.job.records.time.sleep", comes)
    monkeypatch.setattr(records, "LATE_S", 60.0)
    plan, session, status = run(GOOD, profiled={"profile_clocks": "1"})
    assert (status, points(plan, session)["adaptive"]) == (0, [("ok", "", [1.5])] * 2)
    assert next(parts, "all came") == "all came"


def test_what_the_loader_says_of_the_engine_is_the_reason_why_it_is_not_there(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a sandbox that does not show its folder: not its launcher is at fault."""
    monkeypatch.setenv("RANKS", "0")
    lib = "/opt/engine/lib/libprogress_engine.so"
    said = (
        f"ERROR: ld.so: object '{lib}' from LD_PRELOAD cannot be preloaded (cannot open shared object file): ignored."
    )
    plan, session, _ = run(f'{GOOD}; echo "{said}"', ranks=2)
    why = f"the loader dropped {lib} (cannot open shared object file), as in a sandbox that does not show its folder"
    assert points(plan, session)["adaptive"] == [("failed", f"the engine reported on 1 of 2 ranks: {why}", [])] * 2


def test_a_program_that_brings_the_engine_itself_is_not_bare(run: Run) -> None:
    """As one that is started through progress-run: compared with itself it would make no difference."""
    own = 'echo "{\\"preset\\": \\"adaptive\\"}" > "$(echo "$PROGRESS_ENGINE_REPORT_FILE" | sed s/%r/0/)"'
    plan, session, status = run(f'[ -z "$PROGRESS_ENGINE_REPORT_FILE" ] || {own}; {GOOD}')
    assert status == 1
    said = "sh: rank 0 had the engine loaded though the variant is bare"
    assert points(plan, session) == dict.fromkeys(("bare", "adaptive"), [("failed", said, [])] * 2)


def test_a_hang_is_given_up_by_what_the_trial_took(plan: Plan) -> None:
    trial = Trial(10.0, "")
    own = replace(plan, given_timeout_s=600.0)
    assert trial.patience_s(own) == 105.0
    assert trial.patience_s(replace(own, trial_factor=40.0)) == 445.0, "--set trial_factor=40: it is slow, no hang"
    assert trial.patience_s(replace(own, given_timeout_s=60.0)) == 60.0


def test_a_damaged_trial_is_a_sentence(run: Run) -> None:
    plan, session, _ = run(GOOD, launches=1)
    (kept,) = (session / "calibration").glob("*.trial.json")
    kept.write_text('{"seconds": "long"}')
    with pytest.raises(Unusable, match=r"trial\.json: seconds: a valid number is wanted"):
        trial(plan, Folders(session))


@pytest.mark.mpi
def test_a_program_of_another_mpi_is_not_even_tried(run: Run, mpich: Mpi) -> None:
    own, session, status = run([str(mpich.bin / "mpivars")], library="Open MPI")
    assert status == 1
    (reason,) = {reason for launches in points(own, session).values() for _, reason, _ in launches}
    assert reason.startswith("mpivars: it links another MPI: ") and reason.endswith("and not Open MPI")
    assert not (session / "logs" / "own-program.vcluster.mpich.trial.log").exists()


@pytest.mark.mpi
@pytest.mark.parametrize(("library", "said"), [("MPICH Version", ""), ("Open MPI", "it links another MPI: ")])
def test_the_loader_says_which_mpi_a_program_has(library: str, said: str, mpich: Mpi) -> None:
    found = another_mpi(str(mpich.bin / "mpivars"), library, mpich.shell_environment())
    assert found.startswith(said) and bool(found) == bool(said)
    assert another_mpi("/bin/sh", library, mpich.shell_environment()) == ""


def test_a_library_that_is_found_in_another_version_is_named(tmp_path: Path) -> None:
    """So it is for a program that has the path of its own MPI built in, where another MPI brings its libfabric."""
    mine, theirs = tmp_path / "mine", tmp_path / "theirs"
    (tmp_path / "part.c").write_text("int part(void) { return 0; }\n")
    (tmp_path / "program.c").write_text("int part(void);\nint main(void) { return part(); }\n")
    for folder, version in ((mine, "PART_1.9"), (theirs, "PART_1.8")):
        folder.mkdir()
        (folder / "version").write_text(f"{version} {{ global: part; }};\n")
        library = ["-shared", f"-Wl,--version-script={folder / 'version'}", "-Wl,-soname,libpart.so"]
        compiled(tmp_path / "part.c", *library, "-o", folder / "libpart.so")
    program = compiled(tmp_path / "program.c", mine / "libpart.so", "-o", tmp_path / "program")
    found = [
        another_mpi(program, "MPICH", {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": str(folder)})
        for folder in (mine, theirs)
    ]
    other = theirs / "libpart.so"
    assert found == ["", f"{program} needs version PART_1.9 of libpart.so, which {other} does not have"]


def compiled(*arguments: str | Path) -> str:
    """By the C compiler; the file that it made."""
    subprocess.run(["cc", *arguments], check=True, timeout=120)
    return str(arguments[-1])


@pytest.mark.mpi
@pytest.mark.parametrize("which", ["TRUE", "FALSE"])
def test_libraries_are_known_by_the_names_that_the_engine_knows(tmp_path: Path, which: str, mpich: Mpi) -> None:
    """Those of the engine's own test. What a program of cray-mpich's links, say, is asked for its version."""
    text = (ROOT / "progress_engine" / "tests" / "requests_test.cpp").read_text()
    (found,) = re.findall(rf"for \(const char\* name : \{{([^}}]*)\}}\)\s*EXPECT_{which}\(is_mpi_library", text)
    ldd = tmp_path / "ldd"
    for name in re.findall(r'"([^"]+)"', found):
        library = f"{mpich.prefix}/lib/libmpi.so.12 (0x00007f0000000000)"
        ldd.write_text(f"#!/bin/sh\necho '\t{Path(name).name} => {library}'\n")
        ldd.chmod(0o755)
        said = another_mpi("/bin/sh", "CRAY MPICH", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
        assert said.startswith("it links another MPI: ") == (which == "TRUE"), name
