# SPDX-License-Identifier: BSD-3-Clause
"""./bench history: the gates of a store, and where they changed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from harness.base.paths import results_dir

STORE = "gates"
SHORT = 12  # characters of a commit's name


def default_store() -> Path:
    """Where gates are kept unless another store is named."""
    return results_dir() / STORE


def history(
    store: Annotated[
        Path | None, typer.Option("--store", metavar="DIR", help="The store; default: results/gates.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="A folder for a figure of each series, and history.json."),
    ] = None,
) -> int:
    """Show a store's gates with their verdicts, and the points whose ratios changed: since which gate, by how much.

    A loss that is smaller than a gate's margin passes every gate. Here it is found once enough gates have seen it.

    Example: ./bench history --store /shared/ci/gates --out history
    """
    from analysis.gate import changes, outputs  # noqa: PLC0415 - a second of imports
    from analysis.gate import store as stores  # noqa: PLC0415
    from analysis.text_table import markdown  # noqa: PLC0415

    if out:
        outputs.check(out)
    entries = stores.read(store or default_store())
    if not entries:
        print("No gate is in the store yet: ./bench gate puts one there.")
        return 0
    rows = [
        [one.time, one.where, _short(one.new), _short(one.base), _checkout(one.commit), one.verdict, one.session]
        for one in entries
    ]
    columns = ["time", "where", "candidate", "baseline", "checkout", "verdict", "session"]
    print("\n".join(markdown(columns, rows)))
    print()
    found = changes.changes(entries)
    if not found:
        print(f"No change in the ratios of {len(changes.series(entries))} series.")
    for one in found:
        which = f"{_short(one.entry.new)} of checkout {_checkout(one.entry.commit) or 'unknown'}"
        print(
            f"{one.key}: {100 * (one.ratio - 1):+.1f} % since {one.entry.session} ({which}), "
            f"adjusted p {one.adjusted:.2g}"
        )
    if out:
        written = changes.write(entries, found, out)
        print(f"{out} has {len(written)} figures and {changes.FILE}.")
    return 0


def _checkout(commit: str) -> str:
    """A commit's name at that length; what tells of changes to it stays."""
    name, plus, changes = commit.partition("+")
    return f"{name[:SHORT]}{plus}{changes}"


def _short(words: str) -> str:
    """An arm in a table: a commit's name at the length at which git tells one from another."""
    return re.sub(rf"(?<=^commit:)([0-9a-f]{{{SHORT}}})[0-9a-f]+", r"\1", words)
