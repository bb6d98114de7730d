# SPDX-License-Identifier: BSD-3-Clause
"""What a call imports: what it needs, since that is most of the time that a short one takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

from harness.base.paths import ROOT
from harness.commands import COMMANDS

SLOW = {"jinja2", "jsonschema", "matplotlib", "numpy", "pandas", "reframe", "ruptures", "scipy"}
STUDIES = "reframe_checks.studies."


def imported(code: str) -> set[str]:
    """The modules that are there once a fresh Python has run this."""
    code += "\nimport sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def called(*arguments: str) -> set[str]:
    return imported(f"from harness.cli import main; assert main({list(arguments)}) == 0")


def test_the_help_of_all_imports_no_command() -> None:
    found = called("--help")
    assert not found & (SLOW | {"pydantic", "rich"})
    assert not {name for name in found if name.startswith("harness.commands.")}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_help_of_a_command_imports_nothing_slow(name: str) -> None:
    assert not called(name, "--help") & SLOW


def test_a_list_of_the_studies_takes_no_reframe() -> None:
    assert not called("list") & SLOW


@pytest.mark.parametrize("name", ["overlap-ratio", "pioman"])
def test_a_study_or_a_group_takes_the_file_of_its_paper(name: str) -> None:
    found = imported(f"from reframe_checks.catalogue import by_names; by_names(['{name}'])")
    assert {module.removeprefix(STUDIES) for module in found if module.startswith(STUDIES)} == {"common", "pioman"}
