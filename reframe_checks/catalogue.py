# SPDX-License-Identifier: BSD-3-Clause
"""Every study there is, found by its file: reframe_checks/studies/<group>/<study>.py has it as STUDY, with its check.

A group whose studies are the rows of one table has them in one file, as STUDIES. There is no list to add to. Files are
imported when a study is first asked for, and ReFrame with them (0.7 s), so that a command that needs no study does not
wait for them.
"""

from __future__ import annotations

import difflib
import functools
import importlib
from collections.abc import Iterator
from pathlib import Path

from harness.base.errors import UsageError
from reframe_checks import study as model

FOLDER = Path(__file__).resolve().parent / "studies"
SHARED = ("__init__", "common")  # what the studies of a group have in common; no studies themselves


def check_of(study: model.Study) -> tuple[Path, str]:
    """Where its check is, and the name of it."""
    return _files()[study.name], class_name(study)


def class_name(study: model.Study) -> str:
    """Of its check: OverlapRatio for overlap-ratio."""
    return "".join(word.capitalize() for word in study.name.split("-"))


@functools.cache
def studies() -> dict[str, model.Study]:
    """By name, in the order in which they are listed and run."""
    found = sorted((study for _, study in _found()), key=lambda study: (study.order, study.name))
    return {study.name: study for study in found}


@functools.cache
def _files() -> dict[str, Path]:
    return {study.name: file for file, study in _found()}


def _found() -> Iterator[tuple[Path, model.Study]]:
    for file in FOLDER.glob("*/*.py"):
        if file.stem in SHARED:
            continue
        module = importlib.import_module(f"reframe_checks.studies.{file.parent.name}.{file.stem}")
        if several := getattr(module, "STUDIES", ()):
            yield from ((file, study) for study in several)
            continue
        study: model.Study = module.STUDY
        wanted = FOLDER / study.group / f"{study.name.replace('-', '_')}.py"
        if wanted != file:
            raise ValueError(f"{file}: study '{study.name}' of group '{study.group}' belongs into {wanted}.")
        yield file, study


def groups() -> dict[str, list[str]]:
    """The names of the studies by what asks for several of them: all that are of a paper, or a group's."""
    found: dict[str, list[str]] = {"all": [name for name, study in studies().items() if study.of_a_paper]}
    for study in studies().values():
        found.setdefault(study.group, []).append(study.name)
    return found


def by_names(names: list[str]) -> list[model.Study]:
    """The studies of these names or groups, each once, or UsageError with the names there are."""
    known, members = studies(), groups()
    chosen: dict[str, model.Study] = {}
    for name in names:
        if name not in known and name not in members:
            near = difflib.get_close_matches(name, [*members, *known])
            meant = f"Is {' or '.join(near)} meant? " if near else ""
            there = f"groups: {', '.join(sorted(members))}; ./bench list names all studies."
            raise UsageError(f"There is no study or group called '{name}'. {meant}There are {there}")
        chosen |= {n: known[n] for n in members.get(name, [name])}
    return list(chosen.values())
