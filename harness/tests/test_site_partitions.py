# SPDX-License-Identifier: BSD-3-Clause
"""A site with several partitions that have MPI: one is named, and a session is of that one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import main
from harness.sessions import identity
from harness.sessions.facts import Facts
from harness.sessions.request import Request, from_facts
from harness.sessions.run import reframe_command
from harness.sites import systems
from harness.tests.login_node import MODULES, host, new
from reframe_checks.catalogue import by_names

__all__ = ["host"]  # a fixture


def with_two_partitions(host: Path) -> Path:
    """A site whose nodes are of two kinds, and whose login nodes are a partition without MPI."""
    _, file = new(host, *MODULES, "--partition", "batch", "--bin-dir", str(host / "programs"))
    text = file.read_text()
    start = text.index('                {\n                    "name": "compute"')
    end = text.index('            ],\n        }\n    ],\n    "environments"')
    one = text[start:end]
    other = one.replace('"name": "compute"', '"name": "debug"').replace("--partition=batch", "--partition=debug")
    login = (
        """                {"name": "login", "scheduler": "local", "launcher": "local", "environs": ["builtin"]},\n"""
    )
    file.write_text(text[:start] + login + one.rstrip() + ",\n" + other + text[end:])
    return file


def test_of_several_partitions_one_is_named(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = with_two_partitions(host)
    assert main(["site", "check", str(file)]) == 0
    assert "cluster:compute, mpich: programs in" in (shown := capsys.readouterr().out)
    assert "cluster:debug, mpich: programs in" in shown
    run = ["run", "overlap-ratio", "--dry-run", "--scale", "test", "--system"]
    assert main([*run, str(file)]) == 2
    assert f"name one, as in --system {file.name}:compute. There are: compute, debug." in capsys.readouterr().err
    assert main([*run, f"{file}:login"]) == 2
    assert "no partition 'login' has MPI environments. There are: compute, debug." in capsys.readouterr().err
    assert main([*run, f"{file}:debug"]) == 0


def test_a_session_is_of_the_partition_that_was_named(host: Path) -> None:
    system = systems.by_name(f"{with_two_partitions(host)}:debug")
    request = Request(by_names(["overlap-ratio"]), system, ["mpich"], [], scale="test")
    command = reframe_command(request, request.studies[0], ["mpich"], host)
    assert command[command.index("--system") + 1] == "cluster:debug"
    assert from_facts(Facts("s", "2026-01-01", "running", **request.facts())).system.partition == "debug", (
        "and --resume goes on there"
    )
    there = replace(request, system=systems.by_name(f"{system.config}:compute"))
    assert identity.differences(identity.of(request), identity.of(there)), "its samples are not another partition's"
