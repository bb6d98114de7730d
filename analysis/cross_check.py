# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, as a table: `.venv/bin/python -m analysis.cross_check SESSION...`

Ends with status 1 where nothing could be compared, with 2 where there is no such session.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from analysis.evidence import Evidence
from analysis.other_tools.agreement import Comparison, Outcome, Uncompared
from analysis.studies.cross_check import compare, comparisons, text_of
from analysis.tables import page, tell
from analysis.text_table import markdown
from analysis.words import mpi_title


def document(evidence: Evidence) -> str:
    """The whole table as Markdown, a row a number, with what is said of it."""
    columns = ["session", "system", "study", "MPI", "variant", "what", "ours", "their formula on our samples", "theirs",
               "theirs / that", "verdict"]  # fmt: skip
    found = compare(evidence)
    lines = [
        [one.session, one.system, one.study, mpi_title(one.mpi), one.variant, one.what,
         text_of(one, one.ours, ours=True), text_of(one, one.same), text_of(one, one.theirs),
         one.of_same.text() + (" points" if one.share else ""), one.said()]
        for one in found if isinstance(one, Comparison)
    ]  # fmt: skip
    missing = not_compared(found)
    if not lines:
        none = "No session has both our numbers and another tool's: ./bench run cross-check measures them."
        return "\n".join([none, *(["", *missing] if missing else []), ""])
    return page(evidence, *markdown(columns, lines), "", *missing)


def not_compared(found: Sequence[Outcome]) -> list[str]:
    """What has no second side, a line a setting, study and reason; nothing where all has."""
    whats: dict[tuple[str, ...], list[str]] = {}
    for one in found:
        if isinstance(one, Uncompared):
            key = (one.session, one.system, mpi_title(one.mpi), one.variant, one.study, one.why)
            whats.setdefault(key, []).append(one.what)
    lines = [f"- {', '.join(key[:-1])}: {'; '.join(names)}: {key[-1]}" for key, names in whats.items()]
    return ["Not compared:", "", *lines, ""] if lines else []


def main(arguments: Sequence[str]) -> int:
    """0 where there is a comparison."""
    evidence = tell("cross_check", arguments, "Other tools' numbers beside ours.", document)
    return 0 if comparisons(evidence) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
