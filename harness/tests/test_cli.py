# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a whole: how it starts, what a call imports, what it lists and plans.

Wrong calls: test_wrong_calls.py; the screen of a run: test_screen.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base import variants
from harness.base.errors import UsageError
from harness.base.paths import ROOT
from harness.cli import LONGEST_HELP, main, sentence
from harness.commands import COMMANDS, HEADINGS
from harness.job import records
from harness.job import session as sessions
from harness.job.records import RecordFile
from harness.sessions import run as runs
from harness.sessions.run import OF_GROUPS
from harness.sites import systems
from harness.sites.systems import BUILTIN, Request
from harness.tests import pages
from reframe_checks.catalogue import by_names, groups, studies


def test_a_debian_mpi_that_is_not_installed_is_named_with_its_packages(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    monkeypatch.setattr("harness.base.mpis.Mpi.installed", lambda _self: False)
    assert main(["run", "overlap-ratio", "--mpi", "debian-mpich"]) == 2
    assert "apt-get install mpich libmpich-dev" in capsys.readouterr().err
    assert not results.exists()


def test_a_results_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # a file where the folder should be: root may write into any folder, whatever its mode
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "file"))
    monkeypatch.setattr("harness.sites.systems.set_up", lambda _request: None)
    assert main(["run", "overlap-ratio", "--system", "local", "--scale", "test"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_an_old_python_is_told_in_a_sentence(tmp_path: Path) -> None:
    source = (ROOT / "bench").read_text().replace("OLDEST = (3, 10)", "OLDEST = (9, 0)")
    copy = tmp_path / "bench"
    copy.write_text(source)
    done = subprocess.run([sys.executable, copy], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith("bench: Python 9.0 or newer is needed")
    assert len(done.stderr.splitlines()) == 1


BREAKS = """
import builtins
load = builtins.__import__
def interrupted(name, *rest, **more):
    if name == {module!r}:
        raise {error}
    return load(name, *rest, **more)
builtins.__import__ = interrupted
"""


BOTH = pytest.mark.parametrize(
    ("module", "command"),
    [("harness.setup.entry", [str(ROOT / "bench")]), ("harness.cli", ["-m", "harness"])],
    ids=["the one command", "what it becomes"],
)


def loaded(module: str, error: str, folder: Path, call: list[str]) -> subprocess.CompletedProcess[str]:
    """A call of Python that comes to an error when it loads this module."""
    (folder / "sitecustomize.py").write_text(BREAKS.format(module=module, error=error))
    environment = os.environ | {"PYTHONPATH": f"{folder}:{ROOT}"}
    whole = [sys.executable, *call]
    return subprocess.run(whole, env=environment, capture_output=True, text=True, check=False, timeout=120)


@BOTH
def test_ctrl_c_while_it_is_loaded_is_told_in_a_sentence(module: str, command: list[str], tmp_path: Path) -> None:
    done = loaded(module, "KeyboardInterrupt", tmp_path, [*command, "list"])
    assert (done.returncode, done.stderr) == (130, "bench: interrupted\n")


@BOTH
def test_a_defect_while_a_gate_is_loaded_is_no_slower_candidate(
    module: str, command: list[str], tmp_path: Path
) -> None:
    done = loaded(module, "KeyError", tmp_path, [*command, "gate"])
    assert done.returncode == 3 and "Traceback" in done.stderr


def test_ctrl_c_while_the_commands_are_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.cli._command", interrupted)
    for command in ("list", "gate"):  # of which 1 and 3 say something else
        assert main([command]) == 130
        assert capsys.readouterr().err == "bench: interrupted\n"


OF_BUILT = pytest.param("gate", marks=pytest.mark.mpi)  # it asks the workload of its MPI first


@pytest.mark.parametrize("command", [*(one for one in OF_GROUPS if one != "engine-costs"), OF_BUILT, "run"])
def test_ctrl_c_within_a_run_names_the_command_that_goes_on(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    """Whatever the run is at: here at the nodes, which come first, but for engine-costs, whose own part does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(systems, "set_up", lambda _: None)
    monkeypatch.setattr(runs, "_open", stop)
    more = {"run": ["overlap-ratio"], "gate": ["--base=bare", "--new=off"]}
    call = [command, *more.get(command, []), "--system=local", "--mpi=mpich"]
    monkeypatch.setattr(sys, "argv", ["bench", *call])
    assert main(call) == 130
    (session,) = results.glob("2*")
    assert f"bench: interrupted: ./bench {command} --resume {session.name} goes on with it" in capsys.readouterr().err


def test_a_second_start_sets_nothing_up_again() -> None:
    """Which it would say."""
    done = subprocess.run([ROOT / "bench", "--version"], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("call", [["list", "--json"], ["tune", "--help"], ["claims", "--help"]], ids=" ".join)
def test_a_language_that_has_not_our_characters_changes_nothing(call: list[str], tmp_path: Path) -> None:
    """ISO 8859-1, which lacks our dashes and arrows: of each file and of stdout it would be the encoding."""
    made = ["localedef", "-i", "en_US", "-f", "ISO-8859-1", str(tmp_path / "en_US")]
    if not shutil.which(made[0]) or subprocess.run(made, capture_output=True, check=False, timeout=120).returncode:
        pytest.skip("no locale can be made here: localedef and its sources are of the package locales")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    said = [
        subprocess.run([ROOT / "bench", *call], env=environ | of, capture_output=True, check=False, timeout=120)
        for of in ({"LC_ALL": "C.UTF-8"}, {"LOCPATH": str(tmp_path), "LANG": "en_US"})
    ]
    assert said[0].returncode == said[1].returncode == 0, said[1].stderr
    assert said[0].stdout == said[1].stdout


def test_every_python_of_ours_is_told_its_encoding() -> None:
    """By harness.base.paths.python, which is the one place that says how."""
    found = subprocess.run(
        ["git", "grep", "-nE", r"(sys\.executable|str\(PYTHON\)), \"-m\", (\"(harness|analysis)|[a-z_.]+__name__)"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    ours = [line for line in found.stdout.splitlines() if "/tests/" not in line]
    assert (found.returncode < 2, ours) == (True, [])


def test_the_quick_table_says_what_a_run_would_be(capsys: pytest.CaptureFixture[str], results: Path) -> None:
    assert main(["list", "--quick-table", "--json"]) == 0
    rows = {row["study"]: row for row in json.loads(capsys.readouterr().out)}
    assert main(["run", "overlap-ratio", "--dry-run"]) == 0
    planned = capsys.readouterr().out.splitlines()[:-1]
    assert len(planned) == len(rows["overlap-ratio"]["MPIs"].split(", "))
    words = [line.split() for line in planned]
    launches = [int(line[line.index("launches") - 1]) for line in words]
    fewest, most = ([int(line[line.index("points") + at]) for line in words] for at in (-3, -1))
    assert sum(launches) == rows["overlap-ratio"]["launches"]
    measured = rows["overlap-ratio"]["points"]
    assert sum(map(int.__mul__, launches, fewest)) < measured < sum(map(int.__mul__, launches, most))
    assert main(["list", "--quick-table"]) == 0
    assert "in all about" in capsys.readouterr().out
    assert not results.exists()


def test_a_list_is_of_groups_of_a_groups_studies_or_of_a_studys_parameters(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    said = {}
    for name in ("", "gemini", "studies", "overlap-ratio", "own-program"):
        assert main(["list", *filter(None, [name])]) == 0
        said[name] = capsys.readouterr().out
    assert len(said[""].splitlines()) < 80 and re.search(r"^ gemini +5: minife-packets, ", said[""], re.MULTILINE)
    assert [line.split()[0] for line in said["gemini"].splitlines()[1:]] == groups()["gemini"]
    assert {line.split()[0] for line in said["studies"].splitlines()} > set(studies())
    parameters = {line.split()[0]: line for line in said["overlap-ratio"].splitlines()}
    assert re.search(r"message size +64KB, 4MB, 32MB +64KB, 4MB, 32MB", parameters["size_bytes"])
    assert re.search(r"launches a variant +1 +6$", parameters["launches"])
    assert parameters["Example:"] == "Example: ./bench run overlap-ratio --set pattern=both"
    assert "Example" not in said["own-program"], "a run of it is ./bench compare-program's"


def test_sizes_have_units() -> None:
    asked = {"size_bytes": "64KB,4MB,1 GiB,0.5k,3"}
    (grid,) = {grid["size_bytes"] for grid in studies()["overlap-ratio"].scale("quick", asked).grids}
    assert grid == (65536, 4 << 20, 1 << 30, 512, 3)
    assert variants.check("adaptive:eager_bytes=64KB:burst=2") == "adaptive:eager_bytes=65536:burst=2"


def test_a_setting_that_the_engine_does_not_know_stops_a_run_before_it_begins(tmp_path: Path) -> None:
    """It is asked of progress-run, which alone knows; what it says for another reason is for the launches."""
    program = tmp_path / "progress-run"
    program.write_text("#!/bin/sh\necho \"progress-run: unknown setting 'brust'\" >&2\nexit 2\n")
    program.chmod(0o755)
    with pytest.raises(UsageError, match=r"Variant 'adaptive:brust=5': Is burst meant\? unknown setting 'brust'"):
        variants.check_settings(["bare", "adaptive", "adaptive:brust=5"], tmp_path)
    program.write_text("#!/bin/sh\nexit 1\n")
    variants.check_settings(["adaptive:brust=5"], tmp_path)


SLOW = {"jinja2", "jsonschema", "matplotlib", "numpy", "pandas", "reframe", "ruptures", "scipy"}


def imported(code: str) -> set[str]:
    """The modules that are there once a fresh Python has run this."""
    code += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_the_help_of_all_imports_no_command() -> None:
    found = imported("from harness.cli import main; assert main(['--help']) == 0")
    assert not found & (SLOW | {"pydantic", "rich"})
    assert not {name for name in found if name.startswith("harness.commands.")}


def test_the_help_of_a_command_and_a_list_of_the_studies_import_nothing_slow() -> None:
    """In one process: what one of them imports would be there after it."""
    code = f"from harness.cli import main; import sys; slow = {SLOW}\n"
    code += f"for words in {[*([name, '--help'] for name in sorted(COMMANDS)), ['list']]}:\n"
    code += "    assert main(words) == 0 and not slow & set(sys.modules), (words, slow & set(sys.modules))"
    imported(code)


@pytest.mark.parametrize(
    "code",
    [
        "from harness.cli import main; assert main(['run', 'overlap-ratio', '--system=local', '--dry-run']) == 0",
        "from reframe_checks.catalogue import by_names; assert by_names(['pioman'])",
        "from analysis.subject import of_studies; assert of_studies(['overlap-ratio', 'nas'])",
    ],
)
def test_a_study_or_a_group_takes_the_file_of_its_paper(code: str) -> None:
    found = {name for name in imported(code) if re.match(r"(reframe_checks|analysis)\.studies\.(?!shared)", name)}
    assert {name.rpartition(".")[2] for name in found} == {"pioman"}


def test_every_command_stands_under_a_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = re.split(r"^([A-Z].*):$", capsys.readouterr().out, flags=re.MULTILINE)
    sections = {
        heading: re.findall(r"^  ([a-z][\w-]*) ", text, re.MULTILINE)
        for heading, text in zip(shown[1::2], shown[2::2], strict=True)
    }
    assert [heading for heading in sections if heading in HEADINGS] == list(HEADINGS)
    listed = [name for heading in HEADINGS for name in sections[heading]]
    assert sorted(listed) == sorted(COMMANDS)
    assert all(name in sections[command.heading] for name, command in COMMANDS.items())
    told = {name: command.get_short_help_str(LONGEST_HELP) for name, command in pages.bench().commands.items()}
    assert {name: sentence(name) for name in COMMANDS} == told


@pytest.mark.usefixtures("results")
def test_a_session_gets_more_launches_of_each_variant(capsys: pytest.CaptureFixture[str]) -> None:
    variants = ["bare", "adaptive"]
    request = Request.of(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], variants, "test", {"launches": "2"})
    session = sessions.create("earlier", request.facts())
    call = ["run", "--resume", session.name, "--dry-run", "--launches"]
    assert main([*call, "5"]) == 0
    lacking = capsys.readouterr().out.split()
    assert len(lacking) == 10 and lacking[:4] == session.facts.expected, "those that there are come first"
    for fewer in ("1", "2"):
        assert main([*call, fewer]) == 2
        assert "cannot have as many of each variant" in capsys.readouterr().err
    assert sessions.load(session.name).facts == session.facts


def test_a_plan_takes_as_long_as_the_newest_session_of_the_same_says(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call = ["run", "overlap-ratio", "--system=local", "--mpi=mpich", "--variant=bare", "--scale=test", "--dry-run"]
    assert main([*call]) == 0
    reckoned = capsys.readouterr().out
    assert "as in" not in reckoned
    request = Request.of(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], ["bare"], scale="test")
    session = sessions.create("earlier", request.facts())
    assert session.path.parent == results
    (job,) = request.jobs()
    launch = job.launches[0]
    lines = [records.unmeasured(dict(point), "ok", "") for point in job.points_of(launch)]
    end = {"status": "ok", "ranks": [], "elapsed_s": 1.0, "launch_s": 300.0}
    records.write(session.folders.records / f"{launch.identity}.jsonl", RecordFile({}, lines, end))
    (session.folders.records / f"{launch.identity}.r1.jsonl").write_text("damaged")
    assert main([*call]) == 0
    seconds = 300 * len(job.launches)
    assert f"about {seconds} s, as in {session.name}\n" in capsys.readouterr().out
    assert main(["run", "overlap-ratio", *call[2:], "--mpi=openmpi"]) == 0
    assert "as in" not in capsys.readouterr().out
