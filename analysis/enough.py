# SPDX-License-Identifier: BSD-3-Clause
"""Is enough known of a workload? `python -m analysis.enough MPI SESSION STUDY`, between two launches of ./bench harm:
status 0 if each of its pairs is decided, as one of all that the session judges at once."""

from __future__ import annotations

import sys
from pathlib import Path

from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.tables import PREFIX, enough, rows

PLANNED = "launches"  # the folder of a session, with a file a study and MPI


def main(arguments: list[str]) -> int:
    mpi, folder, study = arguments
    session = Path(folder)
    try:
        found = rows(Evidence(load(sorted((session / "records").glob(f"{study}.*.{mpi}.*.jsonl")))), study)
    except (UsageError, OSError) as error:
        print(error)
        return 2
    many = len(list((session / PLANNED).glob(f"{PREFIX}*.json")))
    return 0 if found and enough(found, many) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
