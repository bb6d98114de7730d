# SPDX-License-Identifier: BSD-3-Clause
"""Does the engine help the program that a user named? Nothing is claimed of it: a figure and its verdicts."""

from __future__ import annotations

from analysis.chapter import Chapter
from analysis.documents.program import STUDY, name_of, told
from analysis.evidence import Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each variant's time over that of bare, with its interval."""
    found, sentences = [], []
    for row, variants in told(evidence):
        sentences += [one.sentence for one in variants]
        for one in variants:
            ratio = one.cell.ratio
            if ratio is None:
                numbers: dict[str, object] = {"value": float("nan"), "low": float("nan"), "high": float("nan")}
            else:
                numbers = {"value": ratio.value, "low": ratio.low, "high": ratio.high}
            found.append(
                {
                    "label": name_of(evidence.records, row),
                    "session": row.session,
                    "system": row.system,
                    "study": STUDY,
                    "mpi": row.mpi,
                    "variant": one.variant,
                }
                | {"quantity": row.quantity, "pending_while_computing_s": one.pending_s, **numbers}
                | {"interval": ratio.kind if ratio else "no value", "status": "ok" if ratio else "failed"}
                | {"reason": one.cell.reason}
            )
    frame = intervals.wanted(evidence, found)
    if not len(frame):
        return []
    formula = (
        "its time under a variant over its time under bare, medians over alternated launches (less than 1 is faster)"
    )
    title = "One's own program under the engine"
    drawn = intervals.draw("own_program", title, formula, "time / bare", {"bare": 1.0}, frame, provenance)
    drawn.found = " ".join(sentences)
    return [drawn]


CHAPTER = Chapter(
    "own-program", (STUDY,), "", "one's own program", figures=(draw,), note="nothing is claimed of a user's program"
)
