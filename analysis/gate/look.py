# SPDX-License-Identifier: BSD-3-Clause
"""Is enough known? `python -m analysis.gate.look SESSION`, between two rounds: status 0 if no further one is needed."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.errors import UsageError
from analysis.gate import measured
from analysis.gate.judge import judge


def main(arguments: list[str]) -> int:
    try:
        found = judge(measured.read(Path(arguments[0])), ended=False)
    except (UsageError, OSError) as error:
        print(error)
        return 2
    print(f"{found.rounds} rounds: {found.verdict.value}. {found.sentence}")
    return 0 if found.decided else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
