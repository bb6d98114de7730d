# SPDX-License-Identifier: BSD-3-Clause
"""Which points are drawn: those of some studies, systems, MPIs, variants, message sizes. What is not named is all.

What a point's value is does not depend on it: it is computed from all that was recorded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

import pandas as pd

from analysis.errors import UsageError

COLUMN = {"study": "study", "system": "system", "mpi": "mpi", "variant": "variant", "size": "size_bytes"}
UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


@dataclass(frozen=True)
class Choice:
    """The names that are wanted, by the names of the options; a point without a message size is of no size."""

    study: tuple[str, ...] = ()
    system: tuple[str, ...] = ()
    mpi: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    size: tuple[int, ...] = ()

    @classmethod
    def of_words(cls, study: str = "", system: str = "", mpi: str = "", variant: str = "", size: str = "") -> Choice:
        """As the command line has them: names with commas between, sizes as 4194304 or 4MB."""

        def names(words: str) -> tuple[str, ...]:
            return tuple(filter(None, words.split(",")))

        return cls(names(study), names(system), names(mpi), names(variant), tuple(map(bytes_of, names(size))))

    def named(self) -> dict[str, tuple[str | int, ...]]:
        """What is asked for, by option; nothing where everything is."""
        return {field.name: getattr(self, field.name) for field in fields(self) if getattr(self, field.name)}

    def of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows that are wanted. A frame that does not say what it is of has none."""
        for option, wanted in self.named().items():
            column = COLUMN[option]
            frame = frame[frame[column].isin(wanted)] if column in frame else frame.iloc[:0]
        return frame

    def check(self, points: pd.DataFrame) -> None:
        """UsageError where something is asked for that was not recorded."""
        for option, wanted in self.named().items():
            column = COLUMN[option]
            there = set(points[column].dropna()) if column in points else set()
            for name in wanted:
                if name not in there:
                    known = ", ".join(str(int(x)) if option == "size" else str(x) for x in sorted(there)) or "none"
                    raise UsageError(f"--{option} {name}: the session has no such points; it has {known}")

    def options(self) -> str:
        """The options of ./bench report: '--mpi mpich,openmpi --size 4194304'."""
        return " ".join(f"--{option} {','.join(map(str, wanted))}" for option, wanted in self.named().items())


def bytes_of(words: str) -> int:
    """4194304, 4MB or '4 MB' -> 4194304."""
    found = re.fullmatch(r"(\d+) ?([KMG]?B|)", words.strip(), re.IGNORECASE)
    if not found:
        raise UsageError(f"--size {words}: not a size; give bytes as in 4194304, or 64KB, 4MB")
    return int(found[1]) * UNITS[found[2].upper()]


def values(points: pd.DataFrame) -> Mapping[str, list[str | int]]:
    """What can be chosen, by option, in the order of the records; sizes in order of size."""
    found: dict[str, list[str | int]] = {}
    for option, column in COLUMN.items():
        names: Iterable[str | int] = points[column].dropna().unique() if column in points else ()
        found[option] = sorted(map(int, names)) if option == "size" else list(map(str, names))
    return found
