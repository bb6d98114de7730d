# SPDX-License-Identifier: BSD-3-Clause
"""The set-up does nothing twice, names what is missing, and goes on where it was interrupted."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from harness import systems
from harness.errors import Failure, UsageError
from harness.mpis import MPIS, Where
from harness.paths import ROOT
from harness.setup import bootstrap, mpi, packages, steps


def test_present_knows_commands_headers_modules_and_files() -> None:
    assert packages.present("sh")
    assert packages.present("module:json")
    assert packages.present("file:bin/s*")
    assert not packages.present("no-such-command")
    assert not packages.present("header:no/such.h")
    assert not packages.present("module:no_such_module")


def test_without_root_the_line_is_printed_that_would_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Failure, match="sudo apt-get install --no-install-recommends iproute2 make"):
        packages.install(["iproute2", "make"])


def test_as_root_without_a_terminal_packages_are_installed_and_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    monkeypatch.setattr(packages, "run_step", lambda _title, command, *_rest: ran.append(command))
    packages.install(["hello"])
    assert [command[1] for command in ran] == ["update", "install"]
    assert ran[1][-1] == "hello"
    assert "installing Debian packages: hello" in capsys.readouterr().err


def test_on_a_terminal_a_no_is_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("OVERLAP_BENCH_YES", raising=False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _question: "n")
    with pytest.raises(Failure, match="This installs them"):
        packages.install(["hello"])


def test_yes_is_the_set_ups_and_not_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_YES", "")
    assert bootstrap._take_yes(["demo", "--yes"]) == ["demo"]
    assert os.environ["OVERLAP_BENCH_YES"] == "1"
    assert bootstrap._take_yes(["exec", "--", "prog", "--yes"]) == ["exec", "--", "prog", "--yes"]


def test_a_step_that_fails_shows_the_end_of_its_output() -> None:
    with pytest.raises(Failure, match=r"(?s)a step failed with status 3.*the last words"):
        steps.run_step("a step", ["sh", "-c", "echo the last words; exit 3"])
    with pytest.raises(Failure, match="no-such-program is not there"):
        steps.run_step("a step", ["no-such-program"])


def test_a_stamp_holds_only_for_what_it_was_made_for(tmp_path: Path) -> None:
    steps.write_stamp(tmp_path / "stamp", "mpich==5")
    assert steps.has_stamp(tmp_path / "stamp", "mpich==5")
    assert not steps.has_stamp(tmp_path / "stamp", "mpich==6")
    assert not steps.has_stamp(tmp_path / "absent", "mpich==5")


def test_an_unknown_mpi_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="mpich, openmpi, intel-mpi"):
        mpi.by_name("lam")


def test_where_nodes_cannot_be_made_the_demo_falls_back_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reframe_checks.systems.vcluster.cluster.supported", lambda: "Namespaces are forbidden here.")
    system, reason = systems.default()
    assert (system.name, reason) == ("local", "Namespaces are forbidden here.")


@pytest.mark.parametrize("name", MPIS)
def test_every_launcher_is_told_hosts_shell_and_ranks(name: str) -> None:
    where = Where(hosts=("vc1", "vc2"), remote_shell="/run/rsh", exports=("MARK",))
    command = MPIS[name].launch_command(4, 2, where)
    text = " ".join(command)
    assert text.endswith("-n 4")
    assert "vc1" in text
    assert "vc2" in text
    assert "/run/rsh" in command
    assert "core" not in text, "nothing may be bound on virtual nodes"


def test_the_linters_read_the_code_as_the_oldest_python_that_may_run_it() -> None:
    """ruff then finds newer syntax, and mypy newer parts of the library."""
    text = (ROOT / "pyproject.toml").read_text()
    oldest = re.findall(r'^requires-python = ">=3\.(\d+)"$', text, re.MULTILINE)
    assert len(oldest) == 1
    assert re.findall(r'^target-version = "py3(\d+)"$', text, re.MULTILINE) == oldest
    assert re.findall(r'^python_version = "3\.(\d+)"', text, re.MULTILINE) == oldest


@pytest.mark.parametrize("name", MPIS)
def test_a_launcher_passes_everything_on_or_what_is_named(name: str) -> None:
    """Hydra passes all on by itself: told of some alone, it would keep the settings of the MPI from the ranks."""
    hydra = MPIS[name].family != "openmpi"
    told = " ".join(MPIS[name].launch_command(4, 2, Where(exports=("MARK",))))
    assert ("-x MARK" in told, "-genvlist" in told) == (not hydra, False)
    told = " ".join(MPIS[name].launch_command(4, 2, Where(environment=("MARK", "OMPI_MCA_btl", "PATH"))))
    assert ("-genvlist MARK,OMPI_MCA_btl,PATH" if hydra else "-x MARK -x PATH -n") in told
