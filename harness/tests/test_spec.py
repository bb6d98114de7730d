# SPDX-License-Identifier: BSD-3-Clause
"""SPEC MPI2007 of a user's own, with a stand-in for its runspec that behaves as SPEC documents it.

The stand-in reads the configuration, runs its submit line for each code, and leaves a raw result file.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base import process
from harness.base.mpis import Mpi
from harness.base.paths import ROOT
from harness.codes import find
from harness.codes.known import CASES
from harness.job import records
from harness.job.plan import Plan, interleave
from harness.job.program import Program
from harness.job.runner import Runner
from harness.tests.waiting import PATIENCE_S, eventually
from reframe_checks import code_case
from reframe_checks.catalogue import studies

RUNSPEC = """#!/bin/bash
# A stand-in for a test: not SPEC's.
declare codes
for word; do case $word in
  --config=*) config=config/${word#*=} ;;
  --action=*) action=${word#*=} ;;
  --size=*) size=${word#*=} ;;
  --ranks=*) ranks=${word#*=} ;;
  -*) ;;
  *) codes="$codes $word" ;;
esac; done
cp $config kept.$action
echo $action $size $ranks$codes >> calls
[ $action = build ] && for code in $codes; do
  mkdir -p benchspec/MPI2007/$code/exe
  cp ${BUILT:-/bin/true} benchspec/MPI2007/$code/exe/${code#*.}_base.$(sed -n 's/^ext = //p' $config)
done
[ $action = build ] && exit ${BUILD_STATUS:-0}
[ -n "$RUN_STATUS" ] && exit $RUN_STATUS
[ -n "$LASTS_S" ] && { touch lasts; sleep $LASTS_S; }
result=result/MPIM2007.$(printf %03d $(ls result | wc -l)).$size.rsf
echo "# written by a stand-in for runspec" > $result
echo "spec.mpi2007.ext: $(sed -n 's/^ext = //p' $config)" >> $result
for code in $codes; do
  submit=$(sed -n 's/^submit = //p' $config)
  eval "${submit/\\$command/echo ran $code}" >> ran
  valid=S; [ $code = "$WRONG" ] && valid=VE
  for field in "benchmark: $code" "reported_time: 1.5" "valid: $valid" "errors:"; do
    echo "spec.mpi2007.results.${code/./_}.base.000.$field" >> $result
  done
done
others=${result/2007./2007.9}
[ -n "$OTHERS" ] && sed "s/^spec.mpi2007.ext: .*/spec.mpi2007.ext: $OTHERS/; s/time: 1.5/time: 9/" $result > $others
exit 0
"""
# As progress-run, for each rank's report, which it does not leave where it is put before the code LOSES.
PROGRESS_RUN = """#!/bin/bash
while [ "$1" != -- ]; do
  [ "$1" = --variant ] && variant=$2
  [ "$1" = --report-file ] && file=$2
  shift
done
shift
for rank in 0 1; do
  case "$*" in *"${LOSES:-nothing}"*) break ;; esac
  echo '{"preset": "'$variant'", "active": true}' > "$(echo "$file" | sed "s/%r/$rank/; s/%p/$$/")"
done
echo under $variant
exec "$@"
"""
CODES = ("126.lammps", "137.lu")
NAME = "spec-mpi2007-medium"


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """What looks like an installation of SPEC MPI2007."""
    folder = tmp_path / "spec mpi2007"
    for name in ("bin", "config", "result"):
        (folder / name).mkdir(parents=True)
    (folder / "shrc").write_text('PATH="$PWD/bin:$PATH"\n')
    (folder / "bin" / "runspec").write_text(RUNSPEC)
    (folder / "bin" / "runspec").chmod(0o755)
    return folder


def run(
    plan: Plan, installation: Path, tmp_path: Path, launches: int = 1, ranks: int = 2
) -> tuple[int, dict[str, list[Any]]]:
    """The runner's status, and the lines of a launch's record by its variant."""
    code, known = CASES[NAME]
    case = replace(known, ranks=ranks)
    found = find.find(code, case.programs(), {code.name: str(installation)})
    assert found is not None
    points = [{"benchmark": name, "size": "mtest"} for name in CODES]
    (tmp_path / "stage").mkdir(exist_ok=True)
    program = code_case.program(code, case, found, points, tmp_path / "stage", {"mpi": "mpich"})
    assert isinstance(program, Program), program
    stand_in = tmp_path / "progress-run"
    stand_in.write_text(PROGRESS_RUN)
    stand_in.chmod(0o755)
    here: dict[str, Any] = {"launch_command": ["env", "LAUNCHED=$1"], "progress_run": str(stand_in), "reap": ["true"]}
    own = replace(
        plan,
        study=NAME,
        workload=[],
        points=points,
        launches=interleave("spec.s.mpich", {"bare": launches, "adaptive": launches}, 1),
        platform=replace(plan.platform, **here),
        program=program,
        given_timeout_s=300.0,
    )
    status = Runner(own, tmp_path / "session").run()
    folder = tmp_path / "session" / "records"
    return status, {x.variant: records.read(folder / f"{x.identity}.jsonl").points for x in own.launches}


def test_it_runs_on_as_many_ranks_as_the_run_asks_for(plan: Plan, installation: Path, tmp_path: Path) -> None:
    run(plan, installation, tmp_path, ranks=4)
    calls = (installation / "calls").read_text().splitlines()
    assert calls[:2] == ["build mtest 4 126.lammps 137.lu", "run mtest 4 126.lammps 137.lu"]
    asked = studies()[NAME].asked({"ranks": "4"})
    assert asked.tasks(2) == 4


def test_it_is_built_once_and_its_sides_go_through_submit(plan: Plan, installation: Path, tmp_path: Path) -> None:
    status, lines = run(plan, installation, tmp_path, launches=2)
    assert status == 0, lines
    for variant in ("bare", "adaptive"):
        assert [line["point"]["benchmark"] for line in lines[variant]] == list(CODES)
        assert all(line["samples"]["time_s"] == [1.5] for line in lines[variant])
    calls = (installation / "calls").read_text().splitlines()
    assert calls == ["build mtest 2 126.lammps 137.lu", *["run mtest 2 126.lammps 137.lu"] * 5], "one of them is tried"
    ran = (installation / "ran").read_text()
    assert ran.count("under adaptive\nran 126.lammps") == 2
    assert ran.count("ran 126.lammps") == 5
    assert "submit = env 'LAUNCHED=\\$1'" in (installation / "kept.run").read_text(), "no variable of SPEC's own"
    assert not list((installation / "config").iterdir()), "nothing is left in its folder"
    record = records.read(next((tmp_path / "session" / "records").glob("*.bare.jsonl")))
    assert record.header is not None
    assert record.header["workload"]["name"] == "spec-mpi2007"


def test_a_code_that_spec_finds_wrong_has_no_time(
    plan: Plan, installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG", "137.lu")
    status, lines = run(plan, installation, tmp_path)
    assert status == 1
    assert [line["status"] for line in lines["bare"]] == ["ok", "failed"]
    assert lines["bare"][1]["reason"] == "its own verification says that its results are wrong"


@pytest.mark.mpi
def test_what_it_builds_must_link_the_mpi_that_was_asked_for(
    plan: Plan, installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mpich: Mpi
) -> None:
    """A flag of the site's can bring another one in."""
    monkeypatch.setenv("BUILT", str(mpich.bin / "mpivars"))
    monkeypatch.setenv("LD_LIBRARY_PATH", str(mpich.bin.parent / "lib"))  # the copy's own path to it is a relative one
    another = replace(plan, platform=replace(plan.platform, library="Open MPI"))
    status, lines = run(another, installation, tmp_path)
    assert status == 1
    (reason,) = {line["reason"] for found in lines.values() for line in found}
    assert reason.startswith("spec-mpi2007: lammps_base.mpich: it links another MPI: ")
    assert (installation / "calls").read_text() == "build mtest 2 126.lammps 137.lu\n", "nothing is run"


def test_an_engine_that_one_of_its_codes_lost_is_a_failure(
    plan: Plan, installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOSES", "137.lu")
    status, lines = run(plan, installation, tmp_path)
    assert status == 1
    assert [line["status"] for line in lines["bare"]] == ["ok", "ok"]
    said = "the engine reported on 2 of 4 ranks (did its launcher put progress-run on each rank?)"
    assert [line["reason"] for line in lines["adaptive"]] == [said, said]


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("BUILD_STATUS", "spec-mpi2007: runspec.py, which prepares it: exit status 3; last words: none"),
        ("RUN_STATUS", "spec-mpi2007: exit status 3; last words: none"),
    ],
)
def test_a_runspec_that_fails_is_a_sentence(
    plan: Plan, installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, "3")
    status, lines = run(plan, installation, tmp_path)
    assert status == 1
    assert {line["reason"] for found in lines.values() for line in found} == {said}
    assert not list((installation / "config").iterdir())


@pytest.mark.parametrize("others", ["others", "mpich"])
def test_of_two_runs_at_once_neither_has_a_time_if_they_are_of_one_mpi(
    plan: Plan, installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: str
) -> None:
    """Which result file is whose cannot be told."""
    monkeypatch.setenv("OTHERS", others)
    status, lines = run(plan, installation, tmp_path)
    found = [line for launch in lines.values() for line in launch]
    if others == "mpich":
        assert (status, any(line["samples"] for line in found)) == (1, False)
        assert {line["reason"] for line in lines["bare"]} == {"its output has 2 lines of this point"}
    else:
        assert (status, {line["samples"]["time_s"][0] for line in found}) == (0, {1.5})


def driver(installation: Path, *submit: str, action: str = "run") -> list[str]:
    """A call of the driver by itself."""
    script = ROOT / "harness" / "codes" / "runspec.py"
    options = [f"--program={installation}/bin/runspec", "--label=mpich", "--size=mtest", "--ranks=2"]
    return [sys.executable, str(script), action, *options, "137.lu", "--", *submit]


def test_a_run_that_is_given_up_takes_its_configuration_away(
    installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LASTS_S", "1000")
    with process.group(driver(installation, "env", "$command"), grace_s=PATIENCE_S):
        assert eventually((installation / "lasts").exists)
        assert len(list((installation / "config").iterdir())) == 1
    assert not list((installation / "config").iterdir())


def test_what_a_site_gives_counts_for_every_code_and_wins(
    installation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = tmp_path / "flags"
    flags.write_text("OPTIMIZE = -O3\n")
    monkeypatch.setenv("SPEC_MPI2007_FLAGS", str(flags))
    assert process.answer(driver(installation, action="build"), PATIENCE_S).status == 0
    lines = [line for line in (installation / "kept.build").read_text().splitlines() if line.strip()]
    assert lines[-2:] == ["default=default=default=default:", "OPTIMIZE = -O3"]
    flags.write_bytes(b"OPTIMIZE = \xff\n")
    said = process.answer(driver(installation, action="build"), PATIENCE_S)
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert said.err.startswith("SPEC's configuration cannot be written")


@pytest.mark.parametrize("word", ["/scratch/#1/report", "two\nlines"])
def test_a_word_that_a_configuration_would_cut_off_is_refused(installation: Path, word: str) -> None:
    said = process.answer(driver(installation, "env", word, "$command"), PATIENCE_S)
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert "cannot hold a # or the end of a line" in said.err
    assert not (installation / "calls").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--program=/bin/sh", "--label=x", "--size=mtest", "--ranks=2", "137.lu"], "it has no shrc"),
        (["run", "--label=x", "--size=mtest", "--ranks=2", "--", "env", "$command"], "--program"),
    ],
)
def test_a_wrong_call_of_the_driver_is_one_sentence(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    from harness.codes import runspec  # noqa: PLC0415 - a script that is else run by itself

    try:
        status: object = runspec.main(words)
    except SystemExit as ended:
        status = ended.code
    assert status == 2
    assert said in capsys.readouterr().err


def test_the_driver_needs_the_standard_library_alone() -> None:
    script = ROOT / "harness" / "codes" / "runspec.py"
    imported = [line for line in script.read_text().splitlines() if line.startswith(("import ", "from "))]
    assert {line.split()[1].partition(".")[0] for line in imported} - {"__future__"} <= sys.stdlib_module_names


def test_the_environment_names_an_installation(installation: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _ = CASES[NAME]
    monkeypatch.setenv("SPEC_MPI2007", str(installation))
    found = find.find(code)
    assert found == find.Found(installation / "bin" / "runspec", "SPEC_MPI2007")
