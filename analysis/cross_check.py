# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, as a table: `.venv/bin/python -m analysis.cross_check SESSION...`

Ends with status 1 where nothing could be compared, with 2 where there is no such session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.documents.cross_check import comparisons, document
from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.records.load import load


def main(arguments: Sequence[str]) -> int:
    """0 where there is a comparison."""
    parser = argparse.ArgumentParser("cross_check", description="Other tools' numbers beside ours.")
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    try:
        evidence = Evidence(load(parser.parse_args(arguments).sessions))
    except UsageError as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    print(document(evidence))
    return 0 if comparisons(evidence) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
