# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, as a table: `.venv/bin/python -m analysis.cross_check [--short] SESSION...`

`--short` prints what theirs are of ours alone, a table a variant and kind of number. Ends with status 1 where nothing
could be compared.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.documents.cross_check import comparisons, document
from analysis.documents.cross_check_grid import ALONE, OVERLAP, grid
from analysis.evidence import Evidence
from analysis.records.load import load

SHORT = "--short"


def main(arguments: Sequence[str]) -> int:
    """0 where there is a comparison."""
    evidence = Evidence(load([Path(session) for session in arguments if session != SHORT]))
    found = comparisons(evidence)
    if SHORT in arguments:
        for variant in dict.fromkeys(one.variant for one in found):
            for kind in ("", ALONE, OVERLAP):
                print("\n".join([f"{variant}, {kind.rstrip(': ') or 'between two ranks'}", "",
                                 *grid(found, kind, variant), ""]))  # fmt: skip
    else:
        print(document(evidence))
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
