# SPDX-License-Identifier: BSD-3-Clause
"""The page of the claims: what the papers say, and the number it is held against."""

from __future__ import annotations

from analysis.catalogue import CHAPTERS
from analysis.chapter import Chapter, Claim
from docs.generate.page import page, plain, table


def pages() -> dict[str, str]:
    chapters = [part for chapter in CHAPTERS if chapter.claims or chapter.note for part in described(chapter)]
    return {
        "claims.md": page(
            "Claims",
            "the chapter's file in analysis/studies",
            "What the papers claim of each study, as `./bench claims` decides it: the measured number is held against "
            "the bound, relaxed by the margin, on every point (of a claim of *up to*: on the best). How it is decided "
            "says [statistics](../explanation/statistics.md); each paper is in `CITATION.cff`.",
            *chapters,
        )
    }


def described(chapter: Chapter) -> list[str]:
    source = "; ".join(filter(None, [chapter.paper, f"studies: {', '.join(chapter.studies)}."]))
    return [
        f"## {chapter.id}: {chapter.title}",
        plain(f"{source} {chapter.note}".strip()),
        table(("claim", "number", "bound", "margin", "against", "source"), map(row, chapter.claims)),
    ]


def row(claim: Claim) -> tuple[str, ...]:
    sign = {"<=": "at most", ">=": "at least", "<": "below", ">": "above", "=": "about"}[claim.operator]
    only = f" (only {', '.join(claim.mpis)})" if claim.mpis else ""
    more = " *up to*" if claim.up_to else ""
    return (
        plain(claim.statement + only) + more,
        plain(claim.number),
        f"{sign} {claim.threshold:g}",
        f"{claim.margin:g}",
        plain(claim.comparator),
        plain(claim.source),
    )
