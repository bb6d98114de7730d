# SPDX-License-Identifier: BSD-3-Clause
"""The set-up does nothing twice, names what is missing, and goes on where it was interrupted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import venv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import mpis, paths, process
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS, Where
from harness.base.paths import ROOT
from harness.setup import build, entry, environment
from harness.sites import systems


def test_present_knows_commands_headers_modules_and_files() -> None:
    assert environment.present("sh")
    assert environment.present("module:json")
    assert environment.present("file:bin/s*")
    assert not environment.present("no-such-command")
    assert not environment.present("header:no/such.h")
    assert not environment.present("module:no_such_module")


def test_packages_are_installed_by_root_alone_and_on_a_terminal_only_after_a_yes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []
    terminal = False
    environment._update.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("builtins.input", lambda _question: "n")
    monkeypatch.setattr(environment, "run_step", lambda _title, command, *_rest: ran.append(command))
    monkeypatch.delenv("OVERLAP_BENCH_YES", raising=False)
    environment.install_packages(["hello"])
    environment.install_packages(["world"])
    environment._update.cache_clear()
    assert [command[1] for command in ran] == ["update", "install", "install"]
    assert [command[-1] for command in ran[1:]] == ["hello", "world"]
    assert "installing Debian packages: hello" in capsys.readouterr().err
    terminal = True
    with pytest.raises(Failure, match="This installs them"):
        environment.install_packages(["hello"])
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Failure, match="sudo apt-get install --no-install-recommends iproute2 make"):
        environment.install_packages(["iproute2", "make"])


def test_yes_is_the_set_ups_and_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_YES", "")
    assert entry._take_yes(["demo", "--yes"]) == ["demo"]
    assert os.environ["OVERLAP_BENCH_YES"] == "1"
    assert entry._take_yes(["exec", "--", "prog", "--yes"]) == ["exec", "--", "prog", "--yes"]


@pytest.mark.parametrize(("command", "status"), [("list", 1), ("gate", 3)])
def test_a_set_up_that_fails_is_no_slower_candidate(
    command: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a network say: of a gate status 1 would say that the candidate is slower."""

    def fails(error: BaseException) -> None:
        raise error

    monkeypatch.setattr(entry, "venv_is_there", lambda: False)
    ends = {Failure("no route to the index"): (status, "no route"), KeyboardInterrupt(): (130, "interrupted")}
    for error, (ended, said) in ends.items():
        monkeypatch.setattr(environment, "ensure", lambda error=error: fails(error))
        assert entry.main(["--yes", command]) == ended
        assert said in capsys.readouterr().err


@pytest.fixture
def lacks_packages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A machine that lacks ccache, and may install it; what is done is noted."""
    done: list[str] = []
    monkeypatch.setattr(environment, "may_install", lambda: True)
    monkeypatch.setattr(environment, "missing_packages", lambda *purposes: ["ccache"] if "build" in purposes else [])
    monkeypatch.setattr(environment, "ask_for", lambda wanted: done.append(f"asked for {' '.join(wanted)}"))
    monkeypatch.setattr(environment, "fetch_packages", lambda wanted: done.append(f"installed {' '.join(wanted)}"))
    monkeypatch.setattr(environment, "ensure", lambda: done.append(".venv"))
    monkeypatch.setattr(build, "ensure_mpis", lambda *some: done.append(f"{len(some)} MPIs"))
    return done


def test_what_a_command_needs_of_the_system_comes_while_python_is_set_up(
    lacks_packages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2, timeout=60)  # neither side ends before the other has begun
    monkeypatch.setattr(environment, "fetch_packages", lambda _: both.wait())
    monkeypatch.setattr(environment, "ensure", both.wait)
    entry.set_up(["demo", "--minutes", "2"])
    assert lacks_packages == ["asked for ccache", "3 MPIs"]


@pytest.mark.parametrize("arguments", [[], ["list"], ["--version"], ["demo", "--help"]])
def test_what_needs_no_package_installs_none(lacks_packages: list[str], arguments: list[str]) -> None:
    entry.set_up(arguments)
    assert lacks_packages == [".venv"]


def test_a_package_that_cannot_be_installed_ends_the_set_up(
    lacks_packages: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: list[str]) -> None:
        raise Failure("no package ccache")

    monkeypatch.setattr(environment, "fetch_packages", fails)
    assert entry.main(["demo"]) == 1
    assert "bench: no package ccache" in capsys.readouterr().err
    assert ".venv" in lacks_packages


def test_steps_run_at_the_same_time_and_one_that_fails_ends_the_others(tmp_path: Path) -> None:
    one, other, endless = (tmp_path / name for name in ("one", "other", "endless"))
    meet = "touch {}; until [ -e {} ]; do sleep 0.02; done"
    both = [(one, other), (other, one)]
    process.run_steps([process.Step("a step", ["sh", "-c", meet.format(*names)]) for names in both])
    waits = process.Step("endless", ["sh", "-c", f"echo $$ > {endless}; exec sleep 10000"])
    fails = process.Step("fails", ["sh", "-c", f"until [ -s {endless} ]; do sleep 0.02; done; exit 3"])
    with pytest.raises(Failure, match="fails failed with status 3"):
        process.run_steps([waits, fails])
    with pytest.raises(ProcessLookupError):
        os.kill(int(endless.read_text()), 0)


def test_a_step_that_fails_shows_its_end_and_a_stamp_holds_for_what_it_was_made(tmp_path: Path) -> None:
    process.write_stamp(tmp_path / "stamp", "mpich==5")
    found = [
        process.has_stamp(tmp_path / name, text) for name, text in (("stamp", "mpich==5"), ("stamp", "x"), ("a", ""))
    ]
    assert found == [True, False, False]
    with pytest.raises(Failure, match=r"(?s)a step failed with status 3.*the last words"):
        process.run_step("a step", ["sh", "-c", "echo the last words; exit 3"])
    with pytest.raises(Failure, match="there is no program no-such-program"):
        process.run_step("a step", ["no-such-program"])


def test_a_build_says_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    heard = tmp_path / "heard"
    wait = f"for i in $(seq 1000); do [ -e {heard} ] && exit; sleep 0.02; done; exit 3"

    def say(text: str) -> None:
        said.append(text)
        if text == "a build: 3 of 7":
            heard.touch()

    monkeypatch.setattr(process, "say", say)
    monkeypatch.setattr(process, "TELL_EVERY_S", 0.0)
    process.run_step("a build", ["sh", "-c", f"echo '[2/7] a'; echo '[3/7] b'; {wait}; echo '[7/7] c'"])
    assert said[-1].startswith("a build: done in ")


def test_what_a_shared_clone_does_not_let_one_make_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """/sys is nobody's, not even root's."""
    monkeypatch.setattr(process, "STATE_DIR", Path("/sys/overlap-bench"))
    monkeypatch.delenv(process.MACHINE_LOCK, raising=False)
    for taken in (process.setup_lock, lambda: process.machine_alone("x"), lambda: process.machine_shared("x")):
        with (
            pytest.raises(UsageError, match=r"^This call makes something in /sys/overlap-bench, which you cannot"),
            taken(),
        ):
            pytest.fail("it was taken")


def test_where_uv_is_not_or_fails_pip_is_tried_and_why_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    installed, uv, pip = (tmp_path / name for name in ("installed", "uv", "pip"))
    pip.write_text(f'#!/bin/sh\necho "$@" >> {installed}\n')
    pip.chmod(0o755)
    monkeypatch.setattr(environment, "UV", uv)
    monkeypatch.setattr(environment, "PIP", [str(pip)])
    environment.install("a package", tmp_path, ["hello==1"])
    assert f"--python {tmp_path}/bin/python install -q hello==1\n" in installed.read_text()
    uv.write_text("#!/bin/sh\necho no route to the index\nexit 1\n")
    uv.chmod(0o755)
    environment.install("a package", tmp_path, ["world==1"])
    assert installed.read_text().endswith("install -q world==1\n")
    assert "no route to the index" in capsys.readouterr().err


OFFLINE = {
    "uv": "error: Request failed after 3 retries\n  Caused by: error sending request for url\n  Caused by: dns error",
    "pip": "WARNING: Retrying: NewConnectionError: [Errno 101] Network is unreachable\n" * 5 + "ERROR: no version of x",
    "apt-get": "Err:1 http://deb.debian.org\n  Temporary failure resolving 'deb.debian.org'",
}


def test_without_a_network_that_is_said_in_a_sentence_and_not_in_the_tools_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name, said in OFFLINE.items():
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 1\n')
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(environment, "UV", tmp_path / "uv")
    monkeypatch.setattr(environment, "PIP", [str(tmp_path / "pip")])
    monkeypatch.setattr(environment, "_update", lambda: None)
    monkeypatch.setattr(environment, "install_locked", lambda title, _: environment.install(title, tmp_path, ["x"]))
    with pytest.raises(Failure, match=r"^Python packages cannot be installed: no package index is reached"):
        environment._install_uv()
    with pytest.raises(Failure, match=r"^Debian packages \(g\+\+\) cannot be installed: no package index is reached"):
        environment.fetch_packages(["g++"])
    said = capsys.readouterr().err
    assert not [line for text in OFFLINE.values() for line in text.splitlines() if line in said], said


@pytest.mark.parametrize(("configuration", "steps_run"), [("global.index-url='https://mirror'", 0), ("", 1)])
def test_an_index_that_pip_alone_knows_is_left_to_pip(
    configuration: str, steps_run: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(environment, "UV", tmp_path / "uv")
    monkeypatch.setattr(environment, "run_step", lambda _title, command, *_rest, **_options: ran.append(command))
    monkeypatch.setattr(process, "answer", lambda *_: process.Answer(0, configuration, ""))
    environment._install_uv()
    assert len(ran) == steps_run


@pytest.mark.parametrize(("name", "header"), [("mpich", "include/x/mpich"), ("openmpi", "lib/x/openmpi/include")])
def test_an_mpi_of_debians_that_came_with_a_program_is_not_there_without_its_header(
    name: str, header: str, tmp_path: Path
) -> None:
    mpi = replace(MPIS[f"debian-{name}"], prefix=tmp_path)
    mpi.bin.mkdir()
    for tool in (mpi.compiler, mpi.launcher):
        (mpi.bin / tool).touch()
    assert not mpi.installed()
    (tmp_path / header).mkdir(parents=True)
    (tmp_path / header / "mpi.h").touch()
    assert mpi.installed()


def test_only_mpis_that_are_not_there_are_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each that failed or was left out is not taken for installed."""
    here, failing, lacking = (replace(MPIS[name], prefix=tmp_path / name) for name in ("mpich", "openmpi", "intel-mpi"))
    installed: list[Path] = []

    def install(_title: str, prefix: Path, _wanted: Sequence[str], **_options: object) -> None:
        if prefix == failing.prefix:
            raise Failure("no network")
        installed.append(prefix)
        for mpi_ in (here, lacking):
            (prefix / "bin" / mpi_.launcher).touch()
            (prefix / "bin" / mpi_.compiler).touch()

    monkeypatch.setattr(environment, "install", install)
    monkeypatch.setattr(mpis, "BUILD_DIR", tmp_path / "build")  # where the tools get their plain names
    build.ensure_mpis(here, here)
    with pytest.raises(Failure, match="no network"):
        build.ensure_mpis(here, failing, lacking)
    assert installed == [here.prefix, lacking.prefix]
    with pytest.raises(Failure, match="no network"):
        build.ensure_mpis(here, failing, lacking)
    assert installed == [here.prefix, lacking.prefix]


def test_where_nodes_cannot_be_made_the_demo_falls_back_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.vcluster.cluster.supported", lambda: "Namespaces are forbidden here.")
    system, reason = systems.default()
    assert (system.name, reason) == ("local", "Namespaces are forbidden here.")


@pytest.mark.parametrize("name", MPIS)
def test_every_launcher_is_told_hosts_shell_ranks_and_what_it_passes_on(name: str) -> None:
    """Hydra passes all on by itself: told of some alone, it would keep the settings of the MPI from the ranks."""
    where = Where(hosts=("vc1", "vc2"), remote_shell="/run/rsh", exports=("MARK",))
    command = MPIS[name].launch_command(4, 2, where)
    text = " ".join(command)
    assert text.endswith("-n 4") and "vc1" in text and "vc2" in text and "/run/rsh" in command
    assert "core" not in text, "nothing may be bound on virtual nodes"
    hydra = MPIS[name].family != "openmpi"
    assert ("-x MARK" in text, "-genvlist" in text) == (not hydra, False)
    told = " ".join(MPIS[name].launch_command(4, 2, Where(environment=("MARK", "OMPI_MCA_btl", "PATH"))))
    assert ("-genvlist MARK,OMPI_MCA_btl,PATH" if hydra else "-x MARK -x PATH -n") in told


@pytest.mark.parametrize(("orted", "agent"), [(True, "plm_rsh_agent"), (False, "plm_ssh_agent")])
def test_debians_open_mpi_is_told_its_remote_shell_by_the_name_that_it_knows(
    tmp_path: Path, orted: bool, agent: str
) -> None:
    """Version 4, which has orted, of Debian 12; version 5 of Debian 13."""
    (tmp_path / "bin").mkdir()
    if orted:
        (tmp_path / "bin" / "orted").touch()
    debian = replace(MPIS["debian-openmpi"], prefix=tmp_path)
    command = debian.launch_command(2, 1, Where(hosts=("vc1", "vc2"), remote_shell="/run/rsh"))
    assert command[command.index("/run/rsh") - 2 : command.index("/run/rsh")] == ["--mca", agent]


SHOWS = "from harness.base import paths; print(paths.results_dir(), paths.HOME)"


def shown(folder: Path, **variables: str) -> list[str]:
    """Results and home, as a call in this folder finds them, and a job that it starts below."""
    (folder / "stage").mkdir(exist_ok=True)
    job = f"{SHOWS}; import os, subprocess, sys; sys.stdout.flush(); os.chdir('stage')"
    words = [sys.executable, "-c", f"{job}; subprocess.run([sys.executable, '-c', {SHOWS!r}], check=True)"]
    done = process.answer(words, 60, {**os.environ, "PYTHONPATH": str(ROOT), **variables}, folder)
    assert done.status == 0, done.err
    return done.out.splitlines()


@pytest.mark.parametrize("given", ["rel", "./rel/", "../there/rel"])
def test_a_folder_that_the_environment_names_is_the_same_for_a_job_in_another_one(given: str, tmp_path: Path) -> None:
    here = tmp_path / "there"
    here.mkdir()
    call, job = shown(here, OVERLAP_BENCH_RESULTS=given, OVERLAP_BENCH_HOME=given)
    assert call == job
    assert [os.path.normpath(path) for path in call.split()] == [str(here / "rel")] * 2


def test_an_empty_name_is_none_and_a_tilde_is_home(tmp_path: Path) -> None:
    assert shown(tmp_path, OVERLAP_BENCH_RESULTS="", OVERLAP_BENCH_HOME="") == [f"{ROOT}/results {ROOT}"] * 2
    assert shown(tmp_path, OVERLAP_BENCH_RESULTS="~/r", HOME=str(tmp_path))[0].startswith(f"{tmp_path}/r ")


@pytest.mark.parametrize("name", [*paths.FOLDERS, ""])
@pytest.mark.parametrize("folder", ["a b", "x:y", "-Wl,z"])
def test_a_path_that_others_would_cut_is_refused_at_once(name: str, folder: str, tmp_path: Path) -> None:
    """`name` empty: of the clone itself."""
    here, clone = tmp_path / folder, ROOT
    here.mkdir()
    if not name:
        for part in ("base", "setup"):
            shutil.copytree(ROOT / "harness" / part, here / "harness" / part)
        for file in ("bench", "uv.lock", "harness/__init__.py"):
            shutil.copy(ROOT / file, here / file)
        clone = here
    variables = {name: str(here)} if name else {}
    done = process.answer([sys.executable, str(clone / "bench"), "list"], 60, {**os.environ, **variables}, tmp_path)
    assert (done.status, done.out) == (2, "")
    assert f"'{here}': compilers and launchers take '{set(' :,').intersection(folder).pop()}' for the end" in done.err
    assert done.err.count("\n") == 1
    assert not [path for path in here.iterdir() if path.name.startswith(".")], "nothing is made"


def test_in_a_clone_that_cannot_be_written_the_python_of_its_owner_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "reframe").write_text(f"#!{sys.executable}\n")
    monkeypatch.setattr(paths, "VENV", tmp_path)
    monkeypatch.setattr(paths, "VENV_STAMP", tmp_path / "stamp")
    packages = paths.venv_wanted().split()[1]
    for stamp, writable, will_do in (
        (f"3.0.1 {packages}", True, False), (f"3.0.1 {packages}", False, True), ("3.0.1 others", False, False),
    ):  # fmt: skip
        paths.VENV_STAMP.write_text(stamp)
        monkeypatch.setattr(os, "access", lambda *_, writable=writable: writable)
        assert paths.venv_is_there() == will_do, (stamp, writable)


def test_a_clone_that_was_moved_makes_its_environment_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interpreter = tmp_path / "before" / "bin" / "python3"
    (tmp_path / "bin").mkdir()
    (tmp_path / "stamp").write_text(paths.venv_wanted())
    monkeypatch.setattr(paths, "VENV", tmp_path)
    monkeypatch.setattr(paths, "VENV_STAMP", tmp_path / "stamp")
    # as pip writes it, and where the path is longer than the kernel takes
    for first in (f"#!{interpreter}\n", f'#!/bin/sh\n\'{3 * chr(39)}exec\' {interpreter} "$0" "$@"\n'):
        (tmp_path / "bin" / "reframe").write_text(first)
        assert not paths.venv_is_there()
        interpreter.parent.mkdir(parents=True, exist_ok=True)
        interpreter.touch()
        assert paths.venv_is_there()
        interpreter.unlink()


def test_an_activated_environment_is_not_made_with_its_own_python(tmp_path: Path) -> None:
    """It is removed first; ./bench is run by the first python3 of PATH."""
    venv.create(tmp_path / "v", symlinks=True)
    code = "from harness.setup.environment import python_below; print(python_below())"
    own = str(tmp_path / "v" / "bin" / "python3")
    found = Path(
        subprocess.run([own, "-c", code], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    )
    assert found.exists() and not found.is_relative_to(tmp_path)
