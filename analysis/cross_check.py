# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, as a table: `.venv/bin/python -m analysis.cross_check SESSION...`

Ends with status 1 where nothing could be compared, with 2 where there is no such session.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from analysis.studies.cross_check import comparisons, document
from analysis.tables import tell


def main(arguments: Sequence[str]) -> int:
    """0 where there is a comparison."""
    evidence = tell("cross_check", arguments, "Other tools' numbers beside ours.", document)
    return 0 if comparisons(evidence) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
