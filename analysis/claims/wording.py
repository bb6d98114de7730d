# SPDX-License-Identifier: BSD-3-Clause
"""What of a claim decides: statement, number, operator, threshold, margin, comparator, the MPIs it speaks of, "up to",
what a machine must have (`requires`: it decides what is testable at all), and what is measured where.

As a program it prints those of the analysis that is on PYTHONPATH, which history.py sets to that of any older commit:
so it imports nothing of the analysis by name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
from collections.abc import Iterable
from typing import Any

FIELDS = ("statement", "number", "operator", "threshold", "margin", "comparator", "mpis", "up_to", "requires")
PLACES = (("analysis.catalogue", "CHAPTERS"), ("analysis.claims.studies", "STUDIES"))  # today's and the one before
Wording = dict[str, Any]


def of(chapters: Iterable[Any]) -> list[tuple[str, Wording]]:
    """(study, wording) of every claim of the chapters, which may be of an older version of chapter.Chapter."""
    return [(chapter.id, wording(claim)) for chapter in chapters for claim in chapter.claims]


def wording(claim: Any) -> Wording:
    """What of a claim decides, as plain data. `claim` may be of an older version of chapter.Claim."""
    said = {name: getattr(claim, name, None) for name in FIELDS}
    found = {name: value for name, value in said.items() if not (value is None or value is False or value == ())}
    found["measure"] = {"kind": type(claim.measure).__name__}
    for field in dataclasses.fields(claim.measure):
        value = getattr(claim.measure, field.name)
        default = field.default_factory() if callable(field.default_factory) else field.default
        if value != default:
            found["measure"][field.name] = value
    return dict(json.loads(json.dumps(found, sort_keys=True)))


def digest(words: Wording) -> str:
    """A short hash of a wording."""
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()[:16]


def of_the_path() -> list[tuple[str, Wording]]:
    """Those of the version of the analysis that is imported."""
    for module, name in PLACES:
        try:
            return of(getattr(importlib.import_module(module), name))
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
    raise ModuleNotFoundError("no claims in this version of the analysis")


if __name__ == "__main__":
    print(json.dumps(of_the_path()))
