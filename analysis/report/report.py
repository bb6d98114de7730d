# SPDX-License-Identifier: BSD-3-Clause
"""Sessions -> report.html: one file with everything in it, verdict first, then figures, tables, provenance."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from analysis.catalogue import draw_all
from analysis.claims.table import build
from analysis.errors import Failure, UsageError
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.figures.toolkit import Drawn
from analysis.metrics.formulas import METRICS
from analysis.records.load import Records, load
from analysis.report import tables
from analysis.report.findings import sections
from analysis.report.verdict import Verdict, verdict

TEMPLATES = Path(__file__).resolve().parent / "templates"


@dataclass(frozen=True)
class Report:
    """What was written, and the verdict in plain text for a terminal."""

    path: Path
    verdict: str
    figures: list[Path]
    problems: list[str]


def write_report(session_dirs: Sequence[Path], out_dir: Path | None = None) -> Path:
    """Writes report.html and figures/ (PNG, SVG, CSV) into `out_dir`, by default the last session's folder.

    Returns the path of report.html. UsageError where a session does not exist or is given twice, Failure where
    the folder cannot be written. Sessions without a single usable point give a report that says so.
    """
    return build_report(session_dirs, out_dir).path


def build_report(session_dirs: Sequence[Path], out_dir: Path | None = None) -> Report:
    """As write_report, and returns the terminal's verdict with it."""
    records = _load(session_dirs)
    folder = Path(out_dir) if out_dir is not None else Path(session_dirs[-1])
    if out_dir is None and not folder.is_dir():
        folder = folder.parent
    evidence = Evidence(records)
    said = verdict(evidence.metrics)
    said.limits += records.cautions()
    drawn = draw_all(evidence, toolkit.provenance(records))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = [toolkit.save(figure, folder / "figures") for figure in drawn]
        page = render(evidence, said, drawn, files)
        path = folder / "report.html"
        path.write_text(page, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{folder}: the report cannot be written here ({error.strerror or error})") from error
    return Report(path, said.text(), [f["png"] for f in files], list(map(str, records.problems)))


def _load(session_dirs: Sequence[Path]) -> Records:
    if not session_dirs:
        raise UsageError("no session given; give folders like results/<session>, or results/latest")
    resolved = [Path(path).resolve() for path in session_dirs]
    if len(set(resolved)) < len(resolved):
        raise UsageError("the same session is given twice; each counts once")
    return load(session_dirs)


def render(evidence: Evidence, said: Verdict, drawn: list[Drawn], files: list[dict[str, Path]]) -> str:
    """The page. Pictures are inline SVG, or PNG where the SVG would be heavier than it is worth."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    records, frame = evidence.records, evidence.metrics
    pictures = [
        {"title": figure.title, "caption": figure.caption, "name": figure.name, "image": _inline(paths)}
        | {"found": figure.found}
        for figure, paths in zip(drawn, files, strict=True)
    ]
    claims = build(records, frame)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return environment.get_template("report.html.j2").render(
        verdict=said,
        pictures=pictures,
        sections=sections(claims, evidence, drawn),
        metrics=list(METRICS.values()),
        results=tables.results(frame),
        claims=tables.claims(claims),
        gaps=tables.gaps(records, frame),
        sessions=[tables.session(session) for session in records.sessions],
        launches=tables.launches(records),
        noise=tables.noise(records),
        problems=list(map(str, records.problems)),
        written=now,
    )


SVG_LIMIT = 600_000  # bytes


def _inline(paths: dict[str, Path]) -> str:
    kind, path = ("svg+xml", paths["svg"]) if paths["svg"].stat().st_size <= SVG_LIMIT else ("png", paths["png"])
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}"
