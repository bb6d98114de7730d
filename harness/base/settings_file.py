# SPDX-License-Identifier: BSD-3-Clause
"""A file of settings for one kind of launch: lines `KEY = VALUE`, `#` begins a comment.

`variant` is the preset of the engine, a key in small letters one of its settings, and a name in capitals (UCX_TLS,
OMPI_MCA_btl, MPIR_CVAR_CH4_OFI_TAG_BITS) a variable of the environment, by which MPIs are set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base import variants
from harness.base.errors import UsageError

VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class Settings:
    """`preset`: empty where the file names none; `engine`: "key=value"; `environment`: variables of the MPI."""

    preset: str = ""
    engine: Sequence[str] = ()
    environment: dict[str, str] = field(default_factory=dict)

    def variant(self, default: str) -> str:
        """The variant with its settings, `default` where the file names none; UsageError if there is none such."""
        return variants.check(variants.with_settings(self.preset or default, self.engine))


def read(path: Path) -> Settings:
    """What the file says; UsageError with file and line where it cannot be."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The settings file {path} cannot be read: {error}.") from error
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        said = line.partition("#")[0].strip()
        key, equals, value = (part.strip() for part in said.partition("="))
        if said and not (equals and key and value):
            raise UsageError(f"The settings file {path}, line {number}: KEY = VALUE is wanted.")
        if key in found:
            raise UsageError(f"The settings file {path}, line {number}: {key} was set in an earlier line.")
        if said:
            found[key] = value
    preset = found.pop("variant", "")
    environment = {key: value for key, value in found.items() if VARIABLE.fullmatch(key)}
    return Settings(preset, [f"{key}={value}" for key, value in found.items() if key not in environment], environment)
