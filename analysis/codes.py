# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine, as tables: `.venv/bin/python -m analysis.codes SESSION...`

The whole times of launches, and what each code prints of itself. Ends with status 2 where there is no such session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.documents.codes import own_times, whole_times
from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.records.load import load


def main(arguments: Sequence[str]) -> int:
    """0 where there are such sessions."""
    parser = argparse.ArgumentParser("codes", description="Other people's codes under the engine.")
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    try:
        evidence = Evidence(load(parser.parse_args(arguments).sessions))
    except UsageError as error:
        parser.exit(2, f"codes: {error}\n")
    tables = [whole_times(evidence), own_times(evidence)]
    print("\n\n".join("\n".join(table) for table in tables if table))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
