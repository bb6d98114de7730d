# SPDX-License-Identifier: BSD-3-Clause
"""Is enough known? `python -m analysis.gate.look SESSION STUDY`, between two rounds: status 0 if the study needs no
further one. The others have jobs, and looks, of their own."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.errors import UsageError
from analysis.gate import measured
from analysis.gate.judge import judge


def main(arguments: list[str]) -> int:
    session, study = arguments
    try:
        found = judge(measured.read(Path(session)), ended=False)
    except (UsageError, OSError) as error:
        print(error)
        return 2
    print(f"{found.rounds} rounds: {found.verdict.value}. {found.sentence}")
    return 0 if found.decided or study in found.settled else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
