# SPDX-License-Identifier: BSD-3-Clause
"""Every study as data: what runs at which scale. Checks, ./bench list, plans and estimates all read this one table."""

from __future__ import annotations

from harness.errors import UsageError
from reframe_checks.study import Study
from reframe_checks.tables import fukuoka, gemini, miwa, miwa_placement, pioman, pioman_cost, pioman_threads, ruhela

TABLES = (pioman, pioman_cost, pioman_threads, miwa, miwa_placement, ruhela, fukuoka, gemini)
STUDIES: dict[str, Study] = {study.name: study for table in TABLES for study in table.STUDIES}
PAPERS = ("pioman", "miwa", "ruhela", "fukuoka", "gemini")
GROUPS: dict[str, list[str]] = {
    "all": list(STUDIES),
    **{paper: [study.name for study in STUDIES.values() if study.group == paper] for paper in PAPERS},
}


def by_names(names: list[str]) -> list[Study]:
    """The studies of these names or groups, each once, or UsageError with the names there are."""
    chosen: dict[str, Study] = {}
    for name in names:
        if name not in STUDIES and name not in GROUPS:
            known = f"{', '.join(STUDIES)}; groups: {', '.join(sorted(GROUPS))}"
            raise UsageError(f"There is no study or group called '{name}'. Studies: {known}.")
        chosen |= {n: STUDIES[n] for n in GROUPS.get(name, [name])}
    return list(chosen.values())
