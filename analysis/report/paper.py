# SPDX-License-Identifier: BSD-3-Clause
"""The appendix of a paper: its numbers beside ours, claim by claim, on what they were measured and by which command."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.claims.decision import Decision
from analysis.claims.table import ClaimTable, Row, build
from analysis.errors import Failure
from analysis.evidence import Choice, Evidence
from analysis.figures import intervals, toolkit
from analysis.figures.render import save
from analysis.figures.toolkit import Drawn, mark_simulated
from analysis.records import frames
from analysis.records.load import Records
from analysis.report import chart, page_tables
from analysis.report.points import Points
from analysis.report.report import environment, folder_of, load_sessions, named, pictures, write_whole
from analysis.subject import OPERATORS, Subject, draw_all, of_paper, published
from analysis.words import bytes_text, mpi_title, seconds_text, text

THEIRS = "the paper"
COLUMNS = ["study", "claim", "number", "who", "value", "low", "high", "wanted", "decision", "remarks", "wording",
           "session", "system", "mpi", "point", "source"]  # fmt: skip


@dataclass(frozen=True)
class ClaimNumbers:
    """One claim: the paper's number and ours, as rows of a table and as a figure; no figure where ours has no value."""

    claim: str
    number: str
    source: str
    wanted: str
    rows: list[dict[str, Any]]
    drawn: Drawn | None
    cause: str


@dataclass(frozen=True)
class Part:
    """One study of the paper: what the paper says of it, the claims, our figures of it (places in the list of all)."""

    title: str
    numbers: list[dict[str, Any]]
    claims: list[ClaimNumbers]
    note: str
    drawn: list[int]


def write_paper(name: str, session_dirs: Sequence[Path], out_dir: Path | None = None) -> Path:
    """Writes paper-NAME.html, paper-NAME.csv and the figures of the paper's studies; returns the page's path."""
    subjects = of_paper(name)
    records = load_sessions(session_dirs)
    folder = folder_of(session_dirs, out_dir)
    evidence = Evidence(records)
    decided = build(records, evidence.metrics, subjects)
    ours = draw_all(evidence, toolkit.provenance(records), subjects)
    parts = list(_parts(subjects, decided, ours, evidence))
    both = [one_claim for part in parts for one_claim in part.claims]
    page = _render(name, parts, ours, records, decided, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for drawn in (*ours, *(one_claim.drawn for one_claim in both if one_claim.drawn)):
            save(drawn, folder / "figures")
        table = pd.DataFrame([row for one_claim in both for row in one_claim.rows], columns=COLUMNS)
        write_whole(folder / f"paper-{name}.csv", table.to_csv(index=False))
        return write_whole(folder / f"paper-{name}.html", page)
    except OSError as error:
        raise Failure(f"{folder}: the appendix cannot be written here ({error.strerror or error})") from error


def _parts(subjects: Sequence[Subject], decided: ClaimTable, ours: list[Drawn], evidence: Evidence) -> Iterator[Part]:
    numbers = published()
    for subject in subjects:
        mine = numbers[numbers["study"] == subject.id]
        places = [place for place, drawn in enumerate(ours) if drawn.subject == subject.id]
        claims = [
            _claim_numbers(subject, index, rows, claim.cause.statement if claim.cause else "", evidence)
            for index, claim in enumerate(subject.claims)
            for rows in [[row for row in decided.rows if (row.study, row.claim) == (subject.id, claim.statement)]]
        ]
        yield Part(f"{subject.id}: {subject.title}", _published(mine), claims, subject.note, places)


def _published(mine: pd.DataFrame) -> list[dict[str, Any]]:
    """The paper's numbers as rows, with times and sizes as people write them."""
    plain = "{:g}".format
    say = {"s": seconds_text, "bytes": bytes_text}
    return [
        row | {name: "" if pd.isna(row[name]) else say.get(row["unit"], plain)(row[name]) for name in ("value", "high")}
        for row in frames.rows(mine)
    ]


def _claim_numbers(subject: Subject, index: int, rows: list[Row], cause: str, evidence: Evidence) -> ClaimNumbers:
    first = rows[0]
    place = {"study": subject.id, "claim": first.claim, "number": first.number, "source": first.source}
    theirs = {**place, "who": THEIRS, "value": first.threshold, "wanted": first.wanted}
    found = [theirs, *({**place, **_ours(row)} for row in rows)]
    measured = [row for row in rows if row.value is not None]
    drawn = _draw(subject, index, first, measured, evidence) if measured else None
    against = any(row.decision == Decision.NOT_REPRODUCED.value for row in rows)
    return ClaimNumbers(first.claim, first.number, first.source, first.wanted, found, drawn, cause if against else "")


def _ours(row: Row) -> dict[str, Any]:
    return {
        "who": mpi_title(row.mpi) or "here", "value": row.value, "low": row.low, "high": row.high, "wanted": row.wanted,
        "decision": row.decision, "remarks": row.reason, "wording": row.dated, "session": row.session,
        "system": row.system, "mpi": row.mpi, "point": row.point,
    }  # fmt: skip


def _draw(subject: Subject, index: int, claim: Row, rows: list[Row], evidence: Evidence) -> Drawn:
    """The paper's number and ours in the same axes, one below the other."""
    several = len({row.session for row in rows}) > 1
    points = [{"label": THEIRS, "variant": THEIRS, "value": claim.threshold, "low": claim.threshold,
               "high": claim.threshold, "interval": "no value", "reason": claim.source}]  # fmt: skip
    points += [
        {"label": f"{mpi_title(row.mpi)}{f', {row.session}' if several else ''}", "variant": "here", "value": row.value,
         "low": row.low, "high": row.high, "interval": row.interval, "reason": row.decision}
        for row in rows
    ]  # fmt: skip
    limits = zip((">=", "<="), OPERATORS[claim.operator](claim.threshold or 0, claim.margin or 0), strict=True)
    bounds = "predicted" if all(evidence.records.simulated(row.session) for row in rows) else "reproduced"
    (drawn,) = intervals.draw(
        evidence, toolkit.provenance(evidence.records),
        [{"mpi": "", "study": subject.id, "status": "ok", **point} for point in points],
        f"paper-{subject.id.lower()}-{index + 1}", claim.claim, f"{claim.number}; {claim.source}", claim.number,
        {
            f"{sign if claim.operator == '=' else claim.operator} {bound:g} is {bounds}": bound
            for sign, bound in limits
            if math.isfinite(bound)
        },
    )  # fmt: skip
    return mark_simulated(drawn) if any(evidence.records.simulated(row.session) for row in rows) else drawn


def _render(
    name: str, parts: list[Part], ours: list[Drawn], records: Records, decided: ClaimTable, folder: Path
) -> str:
    points = Points(records, folder, Choice())
    shown = pictures(ours, points)
    charts = {}
    for one_claim in (one_claim for part in parts for one_claim in part.claims):
        for number, row in enumerate(one_claim.rows, points.count):
            row["row"] = number
        points.count += len(one_claim.rows)
        if one_claim.drawn:
            rows = [row for row in one_claim.rows if row["value"] is not None]
            words = [f"{row['who']}: {text(row['value'])}" for row in rows]
            numbered = [row["row"] for row in rows]
            charts[one_claim.claim] = chart.draw(one_claim.drawn, one_claim.drawn.name, numbered, words)
    ids = {subject.id for subject in of_paper(name)}
    simulated = all(records.simulated(facts["session"]) for facts in records.sessions)
    counts = {it.value: sum(row.decision == it.value and row.study in ids for row in decided.rows) for it in Decision}
    return (
        environment()
        .get_template("paper.html.j2")
        .render(
            name=name,
            what="what a model predicts" if simulated else "what was reproduced",
            title=next(subject.paper for subject in of_paper(name)),
            parts=parts,
            pictures=shown,
            charts=charts,
            colors=chart.colors([*(picture["chart"] for picture in shown), *charts.values()]),
            counts={words: count for words, count in counts.items() if count},
            commands=[_command(facts) for facts in records.sessions],
            sessions=[page_tables.session(facts) for facts in records.sessions],
            machines=[_machine(facts, records.simulated(facts["session"])) for facts in records.sessions],
            files=points.files,
            cautions=records.cautions(),
            again=f"./bench report --paper {name} {' '.join(named(facts['path']) for facts in records.sessions)}",
        )
    )


def _command(facts: dict[str, Any]) -> str:
    return "./bench " + shlex.join(map(str, facts.get("command") or ["run", "…"]))


def _machine(facts: dict[str, Any], simulated: bool) -> dict[str, str]:
    """On what a session was measured, or predicted, in a few words; all of it stands further down."""
    machine = facts.get("machine") or {}
    git = facts.get("git") or {}
    versions = (f"{mpi_title(name)} {of.get('version', '')}" for name, of in (facts.get("mpis") or {}).items())
    found = {
        "session": facts["session"],
        "predicted by a model" if simulated else "measured": facts.get("created", ""),
        "commit": f"{git.get('commit', 'not known')}{' and changes to it' if git.get('dirty') else ''}",
        "machine": f"{machine.get('cpu_model', '')}, {machine.get('cpus', '?')} CPUs, "
        f"{machine.get('distribution', '')}, Linux {machine.get('kernel', '')}",
        "network": str(facts.get("network", "")),
        "MPIs": "; ".join(versions),
        "scale": str(facts.get("scale", "")),
        "command": _command(facts),
    }
    return {key: value for key, value in found.items() if value}
