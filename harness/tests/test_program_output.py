# SPDX-License-Identifier: BSD-3-Clause
"""What somebody else's program prints: read as points, times and results, or a sentence why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codes import benchmark_output
from harness.codes.tests.outputs import OUTPUTS
from harness.job import records
from harness.job.plan import Plan, Point, interleave
from harness.job.program import Program, Unusable, read
from harness.job.runner import Runner


def of_case(plan: Plan, session: Path, case: str, output: Path, wanted: list[Point]) -> tuple[int, list[Any]]:
    """Runs what prints `output` as a case of harness.codes, bare; the status, and the lines of its record."""
    return of_program(plan, session, Program(["/bin/cat", str(output)], "/", 2, case=case), wanted)


def of_program(plan: Plan, session: Path, program: Program, wanted: list[Point]) -> tuple[int, list[Any]]:
    case = program.case
    launches = interleave(f"{case}.s.mpich", {"bare": 1}, 1)
    here = replace(plan.platform, launch_command=[], reap=["true"])
    own = replace(plan, study=case, workload=[], points=wanted, launches=launches, platform=here, program=program)
    status = Runner(own, session).run()
    return status, records.read(session / "records" / f"{launches[0].identity}.jsonl").points


IMB, MELT = "imb-nonblocking-collectives", "lammps-melt"
SAMPLES = {IMB: "imb-2021-nbc", MELT: "lammps-20210929-melt"}
POINTS: dict[str, Point] = {IMB: {"benchmark": "Ibcast", "size_bytes": 1024}, MELT: {"atoms": 32000, "steps": 100}}
CHANGED = {
    ("-4.6223613", "-4.7223613"): (MELT, "lammps: its result is wrong: '0: -4.6134356, 100: -4.7223613'"),
    ("on 2 procs", "on 1 procs"): (MELT, "lammps: it says that it ran on 1 of 2 processes: each by itself, so its MPI"),
    ("on 2 procs", "on 4 procs"): (MELT, "lammps: it says that it ran on 4 of 2 processes"),
    ("Loop time of 7.38794", "Loop time of 0"): (
        MELT,
        "lammps: what it printed cannot be used: Loop time: '0' is not above 0",
    ),
    ("Loop time of 7.38794", "Loop time of -1"): (
        MELT,
        "lammps: what it printed cannot be used: Loop time: '-1' is not above 0",
    ),
    ("t_ovrl[usec]", "t_both[usec]"): (IMB, "its output has no overall_s of this point"),  # another version's words
    ("# Benchmarking Iallreduce", "# Benchmarking Ibcast"): (IMB, "its output has 2 lines of this point"),
}


def test_lines_of_an_output_are_points_and_what_it_lacks_has_failed(plan: Plan, tmp_path: Path) -> None:
    wanted: list[Point] = [{"benchmark": "Ibcast", "size_bytes": size} for size in (1024, 1048576, 3)]
    _, lines = of_case(plan, tmp_path / "s", IMB, changed(tmp_path, IMB), wanted)
    assert [line["status"] for line in lines] == ["ok", "ok", "failed"]
    assert lines[1]["samples"]["overlap"] == [pytest.approx(0.8064)]
    assert set(lines[0]["samples"]) == {"overall_s", "pure_s", "compute_s", "overlap"}
    assert 0 <= lines[0]["noise"]["others_s"] <= lines[0]["noise"]["watched_s"]
    assert lines[2]["reason"] == "its output has no line of this point"
    status, (line,) = of_case(plan, tmp_path / "good", MELT, changed(tmp_path, MELT), [POINTS[MELT]])
    assert (status, line["status"], line["samples"]["time_s"]) == (0, "ok", [7.38794])


def changed(folder: Path, case: str, old: str = "", new: str = "") -> Path:
    """A kept output as a file, with one text in place of another."""
    text = OUTPUTS[SAMPLES[case]]
    assert old in text
    (folder / "other.txt").write_text(text.replace(old, new))
    return folder / "other.txt"


@pytest.mark.parametrize("change", CHANGED)
def test_an_output_that_is_wrong_or_means_something_else_has_no_time(
    plan: Plan, tmp_path: Path, change: tuple[str, str]
) -> None:
    """Though bare prints it every time."""
    case, reason = CHANGED[change]
    status, (line,) = of_case(plan, tmp_path / "s", case, changed(tmp_path, case, *change), [POINTS[case]])
    assert (status, line["status"]) == (1, "failed") and line["reason"].startswith(reason)
    assert "time_s" not in line["samples"]


def test_a_time_of_nothing_is_left_out_and_a_share_of_nothing_is_none(plan: Plan, tmp_path: Path) -> None:
    old = "270.29        12.74         5.87         0.00"
    output = changed(tmp_path, IMB, old, old.replace("12.74", " 0.00"))
    row = next(row for row in benchmark_output.imb(output.read_text()).rows if row.samples.get("pure_s") == 0)
    _, (line,) = of_case(plan, tmp_path / "s", IMB, output, [dict(row.point)])
    assert (line["status"], set(line["samples"])) == ("ok", {"overall_s", "compute_s", "overlap"})
    assert line["samples"]["overlap"] == [0]


HPCG = """Benchmark Time Summary::Total=5.5
Final Summary::HPCG result is VALID with a GFLOP/s rating of=0.25
"""


def shell_of_hpcg(folder: Path, script: str, prepare: list[list[str]] | None = None) -> Program:
    folder.mkdir(exist_ok=True)
    return Program(["/bin/sh", "-c", script], str(folder), 2, case="hpcg-small", prepare=prepare or [])


def test_results_that_a_code_writes_are_read_and_never_those_of_the_launch_before(plan: Plan, tmp_path: Path) -> None:
    folder = tmp_path / "its own"
    folder.mkdir()
    (folder / "result").write_text(HPCG)
    (folder / "HPCG-Benchmark_of_before.txt").write_text(HPCG)
    once = "[ -e ran ] || cp result HPCG-Benchmark_3.1.txt; touch ran"
    status, (line,) = of_program(plan, tmp_path / "s", shell_of_hpcg(folder, once), [{}])
    assert (status, line["reason"]) == (1, "it wrote no file HPCG-Benchmark*.txt"), "the trial did"
    always = "cp result HPCG-Benchmark_3.1.txt"
    status, (line,) = of_program(plan, tmp_path / "t", shell_of_hpcg(folder, always), [{}])
    assert (status, line["samples"]["flops"]) == (0, [0.25e9])


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("true", "hpcg: it wrote no file HPCG-Benchmark*.txt"),
        (
            "echo cut off > HPCG-Benchmark_3.1.txt",
            "hpcg: what it printed cannot be used: its final summary says nothing",
        ),
        ("echo no licence >&2; exit 4", "hpcg: exit status 4; last words: no licence"),
    ],
)
def test_a_code_that_has_no_result_is_said_once(plan: Plan, tmp_path: Path, script: str, reason: str) -> None:
    status, (line,) = of_program(plan, tmp_path / "s", shell_of_hpcg(tmp_path / "f", script), [{}])
    assert (status, line["status"], line["samples"], line["reason"]) == (1, "failed", {}, reason)


def test_what_prepares_a_code_is_run_in_its_folder_by_each_job(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "result").write_text(HPCG)
    before = [["/bin/cp", str(tmp_path / "result"), "mesh"]]
    program = shell_of_hpcg(tmp_path / "f", "cp mesh HPCG-Benchmark_3.1.txt", before)
    assert of_program(plan, tmp_path / "s", program, [{}])[0] == 0
    failing = replace(program, prepare=[["/bin/cp", "/no/such/file", "mesh"]])
    status, (line,) = of_program(plan, tmp_path / "t", failing, [{}])
    assert status == 1
    assert line["reason"].startswith("hpcg: cp, which prepares it: exit status 1; last words: ")
    assert "cannot stat" in line["reason"]


PROGRAM = Program(["app"], "/", 2, time_from=r"time (\S+)", check="energy.*")


@pytest.mark.parametrize(("printed", "seconds"), [("time 2.5", 2.5), ("time 1\ntime 2", 2.0), ("time 1.5D-01", 0.15)])
def test_the_last_time_counts_as_fortran_writes_it_too(printed: str, seconds: float) -> None:
    found = read(PROGRAM, f"energy 1\nenergy 2\n{printed}\n", 9.0)
    assert found.samples == {"whole_s": 9.0, "printed_time": seconds}
    assert found.result == "energy 1\nenergy 2"


def test_a_check_says_what_it_finds() -> None:
    """A group of the alternative that was not taken is empty; what finds nothing but that finds nothing."""
    program = replace(PROGRAM, time_from="", check="energy (.*)|stopped")
    assert read(program, "stopped\nenergy 1", 9.0).result == "\n1"
    for check, printed in (("energy (.*)|stopped", "stopped"), ("e*", "no nrgy\n" * 3)):
        with pytest.raises(Unusable, match="it printed nothing that --check"):
            read(replace(program, check=check), printed, 9.0)


@given(st.text())
def test_any_output_is_read_or_a_sentence(text: str) -> None:
    try:
        found = read(PROGRAM, f"time {text}\nenergy", 1.0)
    except Unusable as error:
        assert "\n" not in str(error)
    else:
        assert found.samples["printed_time"] > 0
