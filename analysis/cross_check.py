# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, as a table: `.venv/bin/python -m analysis.cross_check [--short] SESSION...`

Ends with status 1 where nothing could be compared, with 2 where there is no such session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from analysis.documents.cross_check import Comparison, comparisons, document
from analysis.documents.cross_check_grid import KINDS, grid
from analysis.documents.whole import asked_of


def main(arguments: Sequence[str]) -> int:
    """0 where there is a comparison."""
    parser = argparse.ArgumentParser("cross_check", description="Other tools' numbers beside ours.")
    parser.add_argument("--short", action="store_true", help="what theirs are of ours, a table a variant and kind")
    asked, evidence = asked_of(parser, arguments)
    found = comparisons(evidence)
    print(short(found) if asked.short else document(evidence))
    return 0 if found else 1


def short(found: Sequence[Comparison]) -> str:
    """Every variant's tables."""
    lines = []
    for variant in dict.fromkeys(one.variant for one in found):
        for kind, words in KINDS.items():
            lines += [f"{variant}, {words}:", "", *grid(found, kind, variant), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
