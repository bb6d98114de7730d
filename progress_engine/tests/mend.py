# SPDX-License-Identifier: BSD-3-Clause
"""A mend of the engine: what it consists of, in one or a few lines, and the test that fails without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """`old` stands exactly once in the file, which is named from progress_engine/."""

    file: str
    old: str
    new: str = ""


@dataclass(frozen=True)
class Mend:
    """`edits` take it out; `test` is a pytest node below progress_engine/tests, or PROGRAM:FILTER of a unit test.

    `mpi`: the one on which it shows; on another than MPICH's wheel by a test of ./bench test --full, as with `full`.
    """

    name: str
    edits: tuple[Edit, ...]
    test: str
    mpi: str = "mpich"
    full: bool = False
