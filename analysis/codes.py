# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine, as tables: `.venv/bin/python -m analysis.codes [--size BYTES] SESSION...`

The whole times of launches, and what each code prints of itself; with --size what the codes print of messages of so
many bytes. Ends with status 2 where there is no such session.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from analysis.documents.codes import own_times, printed, whole_times
from analysis.documents.whole import asked_of


def main(arguments: Sequence[str]) -> int:
    """0 where there are such sessions."""
    parser = argparse.ArgumentParser("codes", description="Other people's codes under the engine.")
    parser.add_argument("--size", type=int, metavar="BYTES", help="what codes print of messages of this size")
    asked, evidence = asked_of(parser, arguments)
    tables = [whole_times(evidence), own_times(evidence)] if asked.size is None else [printed(evidence, asked.size)]
    print("\n\n".join("\n".join(table) for table in tables if table))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
