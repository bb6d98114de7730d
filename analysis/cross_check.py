# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, as a table: `.venv/bin/python -m analysis.cross_check SESSION...`

Ends with status 1 where nothing could be compared.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.documents.cross_check import comparisons, document
from analysis.evidence import Evidence
from analysis.records.load import load


def main(sessions: Sequence[str]) -> int:
    """0 where there is a comparison."""
    evidence = Evidence(load([Path(session) for session in sessions]))
    print(document(evidence))
    return 0 if comparisons(evidence) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
