# SPDX-License-Identifier: BSD-3-Clause
"""./bench claims: what the papers claim, against what was measured."""

from __future__ import annotations

from typing import Annotated

import typer

from harness.base.steps import say
from harness.commands import options
from harness.job import session as sessions


def claims(
    names: Annotated[list[str], typer.Argument(metavar="[SESSION...]", help="Names or folders; default: latest.")] = [],  # noqa: B006 - Typer copies it
    as_json: options.Json = False,
) -> int:
    """Print every claim of the papers: reproduced, not reproduced, inconclusive, not testable here or not measured.

    Without a session nothing has been measured, and the claims stand there with the days they were written and changed.
    Example: ./bench claims latest --json
    """
    from analysis.claims.table import table  # noqa: PLC0415 - a second of imports

    chosen = names or (["latest"] if sessions.any_yet() else [])
    found = table([session.path for session in sessions.load_all(chosen)])
    print(found.json() if as_json else found.text())
    if not chosen:
        say("no session yet, so nothing is measured: ./bench demo makes one")
    return 0
