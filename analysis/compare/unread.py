# SPDX-License-Identifier: BSD-3-Clause
"""Record files that cannot be read whole: launches of which nothing is known, or not all that they measured."""

from __future__ import annotations

from pathlib import Path

from analysis.records.load import Records

SHOWN = 3  # files that are named; the rest is counted


def more(base: Records, new: Records) -> list[str]:
    """The names of NEW's, where they are more than BASE's; empty else."""
    there, here = unread(base), unread(new)
    return here if len(here) > len(there) else []


def unread(records: Records) -> list[str]:
    """The names of those whose launch was not run once more."""
    files = {Path(problem.file) for problem in records.problems if problem.file.endswith(".jsonl")}
    return sorted(file.name for file in files if not _run_again(file))


def _run_again(file: Path) -> bool:
    """NAME.jsonl is a launch's first record, NAME.r1.jsonl that of its next run, which measured what was missing."""
    stem, _, number = file.stem.rpartition(".r")
    first, count = (stem, int(number)) if stem and number.isdigit() else (file.stem, 0)
    return file.with_name(f"{first}.r{count + 1}.jsonl").exists()


def sentence(names: list[str]) -> str:
    """Empty where there are none."""
    if not names:
        return ""
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    files = f"{len(names)} record file{'s' if len(names) > 1 else ''}"
    return f"{files} of NEW cannot be read whole, and fewer of BASE: {', '.join(names[:SHOWN])}{rest}."
