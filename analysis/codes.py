# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine, as tables: `.venv/bin/python -m analysis.codes [--size BYTES] SESSION...`

The whole times of launches; with --size what the codes print of messages of so many bytes. Ends with status 2 where
there is no such session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.documents.codes import printed, whole_times
from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.records.load import load


def main(arguments: Sequence[str]) -> int:
    """0 where there are such sessions."""
    parser = argparse.ArgumentParser(description="Other people's codes under the engine.")
    parser.add_argument("sessions", nargs="+", type=Path, metavar="SESSION")
    parser.add_argument("--size", type=int, metavar="BYTES", help="what codes print of messages of this size")
    asked = parser.parse_args(arguments)
    try:
        evidence = Evidence(load(asked.sessions))
    except UsageError as error:
        print(f"codes: {error}", file=sys.stderr)
        return 2
    print("\n".join(whole_times(evidence) if asked.size is None else printed(evidence, asked.size)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
