# SPDX-License-Identifier: BSD-3-Clause
"""Every study there is, found by its file: one of reframe_checks/studies has those of a paper, or of another group, as
STUDIES. There is no list to add to.

Who asks for a group or a study gets the file of it alone; the others are imported when all studies are asked for. For
ReFrame a file has a check for each of its studies; a study itself needs no ReFrame, which takes longer to import than
all of them.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError, meant
from reframe_checks.study import Study

FOLDER = Path(__file__).resolve().parent / "studies"
SHARED = ("__init__", "shared")  # what the studies have in common; no studies themselves


def files() -> list[Path]:
    return sorted(file for file in FOLDER.glob("*.py") if file.stem not in SHARED)


@functools.cache
def of_file(file: Path) -> tuple[Study, ...]:
    found: tuple[Study, ...] = importlib.import_module(f"reframe_checks.studies.{file.stem}").STUDIES
    return found


def file_of(name: str) -> Path | None:
    """Where the study or the group of this name is, if there is one: a group is in one file."""
    stem, word = name.replace("-", "_"), f'"{name}"'  # a name that is put together of others stands in no file as it is
    likely = sorted(files(), key=lambda file: (file.stem != stem, word not in file.read_text()))
    return next((file for file in likely if any(name in (one.name, one.group) for one in of_file(file))), None)


@functools.cache
def studies() -> dict[str, Study]:
    """By name, in the order in which they are listed and run."""
    groups: dict[str, Path] = {}
    for file in files():
        for study in of_file(file):
            there = groups.setdefault(study.group, file)
            if there != file:
                raise ValueError(f"{file}: study '{study.name}' of group '{study.group}' belongs into {there}.")
    return _in_order(study for file in files() for study in of_file(file))


def _in_order(found: Iterable[Study]) -> dict[str, Study]:
    return {study.name: study for study in sorted(found, key=lambda study: (study.order, study.name))}


def groups() -> dict[str, list[str]]:
    """The names of the studies by what asks for several of them: all that are of a paper, or a group's."""
    found: dict[str, list[str]] = {"all": [name for name, study in studies().items() if study.of_a_paper]}
    for study in studies().values():
        found.setdefault(study.group, []).append(study.name)
    return found


def by_names(names: list[str]) -> list[Study]:
    """The studies of these names or groups, each once, or UsageError with the names there are."""
    chosen: dict[str, Study] = {}
    for name in names:
        chosen |= _named(name)
    return list(chosen.values())


def _named(name: str) -> dict[str, Study]:
    if name == "all":
        return {name: study for name, study in studies().items() if study.of_a_paper}
    file = file_of(name)
    if file is None:
        raise _unknown(name)
    return _in_order(study for study in of_file(file) if name in (study.name, study.group))


def _unknown(name: str) -> UsageError:
    members = groups()
    near = meant(name, [*members, *studies()])
    there = f"groups: {', '.join(sorted(members))}; ./bench list studies names all studies."
    return UsageError(f"There is no study or group called '{name}'. {near}There are {there}")


REGISTRY = "_rfm_test_registry"  # the attribute by which a file has checks for ReFrame


def checks(module: str, studies: Sequence[Study]) -> Callable[[str], Any]:
    """The `__getattr__` of a file of studies: the checks are made when ReFrame asks the file for them."""

    def asked_for(name: str) -> Any:
        if name != REGISTRY:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return _made(module, studies)

    return asked_for


def _made(module: str, studies: Sequence[Study]) -> Any:
    import reframe as rfm  # noqa: PLC0415 - see above
    from reframe.core.decorators import TestRegistry  # noqa: PLC0415
    from reframe.core.meta import make_test  # noqa: PLC0415

    from reframe_checks.base_check import WorkloadCheck  # noqa: PLC0415

    registry = TestRegistry()
    setattr(sys.modules[module], REGISTRY, registry)
    for study in studies:
        rfm.simple_test(make_test(study.check_name, (WorkloadCheck,), {"study": study}, module=module))
    return registry
