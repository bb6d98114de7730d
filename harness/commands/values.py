# SPDX-License-Identifier: BSD-3-Clause
"""What a shell may complete: the names that an option or an argument takes. Each call imports what it needs alone."""

from __future__ import annotations

from collections.abc import Iterable

from harness.base import variants as known
from harness.base.mpis import MPIS


def mpis(incomplete: str) -> list[str]:
    return _last_of_list(incomplete, MPIS)


def variants(incomplete: str) -> list[str]:
    return _last_of_list(incomplete, known.known())


def systems(incomplete: str) -> list[str]:
    from harness.sites.systems import BUILTIN  # noqa: PLC0415 - the others do not need it

    return _beginning(incomplete, BUILTIN)


def studies(incomplete: str) -> list[str]:
    from reframe_checks import catalogue  # noqa: PLC0415 - the others do not need it

    return _beginning(incomplete, [*catalogue.studies(), *catalogue.groups()])


def sessions(incomplete: str) -> list[str]:
    from harness.job import session  # noqa: PLC0415 - the others do not need it

    return _beginning(incomplete, session.names())


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _last_of_list(incomplete: str, names: Iterable[str]) -> list[str]:
    """Of a list with commas the last word is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(last, names)]
