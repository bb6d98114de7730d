# SPDX-License-Identifier: BSD-3-Clause
"""Files of KEY = VALUE lines: settings of the engine, or environment variables of an MPI. Standard library only.

`#` begins a comment, as in the engine's own configuration files. A key in small letters is a setting of the engine
(`variant`: its preset), one that begins with a capital (UCX_TLS, OMPI_MCA_btl) a variable of the environment, by which
MPIs are set. A run takes the two from two files: the engine's settings belong to one variant, an MPI's variables to
every launch, bare included. A side of a gate takes both from one: it is compared as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import UsageError

VARIANT = "variant"  # the key that names the preset
OF_ENGINE = "PROGRESS_ENGINE"
# What decides which program and which libraries run, and not how an MPI does.
NOT_OF_AN_MPI = ("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH")
_SETTING = re.compile(r"[a-z][a-z0-9_]*")
_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9_]*")
_ENDS_A_VARIANT = re.compile(r"[,:\s]")


@dataclass(frozen=True)
class Settings:
    """`preset`: empty where the file names none; `engine`: "key=value"; `environment`: variables of the MPI."""

    preset: str = ""
    engine: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


def _lines(path: Path) -> dict[str, tuple[int, str]]:
    """Key -> (line, value); UsageError with the file and the line where that is not what stands there."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"The settings file {path} cannot be read: {why}.") from error
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, 1):
        said = line.partition("#")[0].strip()
        key, equals, value = (part.strip() for part in said.partition("="))
        if said and not (equals and key and value):
            raise UsageError(f"The settings file {path}, line {number}: KEY = VALUE is wanted.")
        if key in found:
            raise UsageError(f"The settings file {path}, line {number}: {key} was set in an earlier line.")
        if said:
            found[key] = (number, value)
    return found


def read(path: Path) -> Settings:
    """Settings of both kinds; UsageError with file and line where it holds anything else."""
    found = _lines(path)
    _, preset = found.pop(VARIANT, (0, ""))
    variables = {key: value for key, (_, value) in found.items() if _VARIABLE.fullmatch(key)}
    engine = {key: said for key, said in found.items() if key not in variables}
    for key, (number, value) in engine.items():
        where = f"The settings file {path}, line {number}:"
        if not _SETTING.fullmatch(key):
            raise UsageError(f"{where} {key} is neither a setting of the engine nor a variable.")
        _check_value(where, key, value)
    return Settings(preset, [f"{key}={value}" for key, (_, value) in engine.items()], variables)


def _check_value(where: str, key: str, value: str) -> None:
    if _ENDS_A_VARIANT.search(value):
        raise UsageError(f"{where} {key} = {value} cannot be part of a variant, which ends at a comma or colon.")


def check_writable(where: str, key: str, value: str) -> None:
    """UsageError for a value that would not be the same when such a file is read."""
    if _SETTING.fullmatch(key):
        _check_value(where, key, value)
    if not value or value != value.strip() or re.search(r"[#\n\r]", value):
        raise UsageError(
            f"{where} {key} = '{value}' cannot stand in a settings file: a value is one line, not empty, without # "
            f"and without spaces at its ends."
        )


def of_engine(path: Path) -> tuple[str, list[str]]:
    """The preset that the file names, empty if none, and its settings as KEY=VALUE; no MPI's variables."""
    found = _lines(path)
    _, preset = found.pop(VARIANT, (0, ""))
    for key, (number, value) in found.items():
        where = f"The settings file {path}, line {number}:"
        if not _SETTING.fullmatch(key):
            raise UsageError(
                f"{where} {key} is no setting of the engine; variables of an MPI go into a file of their own, for "
                f"--mpi-env."
            )
        _check_value(where, key, value)
    return preset, [f"{key}={value}" for key, (_, value) in found.items()]


def of_mpi(path: Path) -> dict[str, str]:
    """The environment variables of an MPI that the file holds; no settings of the engine."""
    found = _lines(path)
    for key, (number, _) in found.items():
        where = f"The file of MPI variables {path}, line {number}:"
        if key.startswith(OF_ENGINE) or _SETTING.fullmatch(key):
            raise UsageError(f"{where} {key} is the engine's; its settings go into a file for --variant NAME:@FILE.")
        if not _VARIABLE.fullmatch(key) or key in NOT_OF_AN_MPI:
            raise UsageError(f"{where} {key} is no variable of an MPI.")
    return {key: value for key, (_, value) in found.items()}


def text(pairs: Mapping[str, str], heading: str, notes: Mapping[str, str]) -> str:
    """Such a file: `heading` as comments, then a line a pair, with its note above it."""
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    for key, value in pairs.items():
        lines += ["", *(f"# {line}" for line in notes.get(key, "").splitlines()), f"{key} = {value}"]
    return "\n".join(lines) + "\n"
