# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes under the engine, as tables: `.venv/bin/python -m analysis.codes SESSION...`

The whole times of launches, and what each code prints of itself. Ends with status 2 where there is no such session.
"""

from __future__ import annotations

import sys

from analysis.evidence import Evidence
from analysis.studies.third_party import own_times, whole_times
from analysis.tables import tell


def tables(evidence: Evidence) -> str:
    """Both."""
    return "\n\n".join("\n".join(table) for table in (whole_times(evidence), own_times(evidence)) if table)


if __name__ == "__main__":
    tell("codes", sys.argv[1:], "Other people's codes under the engine.", tables)
