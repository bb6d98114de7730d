# SPDX-License-Identifier: BSD-3-Clause
"""Sessions -> report.html: one file with everything in it, verdict first, then figures, tables, provenance."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from analysis.claims.table import build
from analysis.errors import Failure, UsageError
from analysis.evidence import Choice, Evidence
from analysis.figures import toolkit
from analysis.figures.render import save
from analysis.figures.toolkit import Drawn
from analysis.metrics.formulas import METRICS
from analysis.records.load import Records, load
from analysis.report import chart, page_tables
from analysis.report.answer import heading, of_programs
from analysis.report.findings import sections
from analysis.report.points import Points, options
from analysis.report.sentences import Verdict, verdict
from analysis.subject import draw_all
from harness.base import paths

TEMPLATES = Path(__file__).resolve().parent / "templates"
ROOT = Path(__file__).resolve().parents[2]
MOST_TOLD = 3  # sentences of figures, on a terminal


@dataclass(frozen=True)
class Report:
    """What was written, and the verdict in plain text for a terminal."""

    path: Path
    verdict: str
    figures: list[Path]
    problems: list[str]


def build_report(
    session_dirs: Sequence[Path],
    out_dir: Path | None = None,
    choice: Choice | None = None,
    tell: Callable[[str], None] = lambda _words: None,
) -> Report:
    """Writes report.html and figures/ (PNG, SVG, CSV) into `out_dir`, by default the last session's folder.

    UsageError where a session does not exist or is given twice, or `choice` names what was not recorded; Failure where
    the folder cannot be written. Sessions without a single usable point give a report that says so. `tell` gets the
    answer, if there is one, and then what is done, before anything is drawn.
    """
    records = load_sessions(session_dirs)
    choice = choice or Choice()
    choice.check(records.points)
    folder = folder_of(session_dirs, out_dir)
    evidence = Evidence(records, choice=choice)
    said = verdict(evidence.metrics, records.simulated)
    said.limits += records.cautions()
    if said.answers:
        tell("\n".join([said.answer(), *records.disturbed()]))
    drawn = draw_all(evidence, toolkit.provenance(records))
    found = [f"{figure.title}: {figure.found}" for figure in drawn if figure.found]
    if not said.mpis and len(found) <= MOST_TOLD:  # with which the page leads then
        for sentence in found:
            tell(sentence)
    tell("drawing the figures and the report ...")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = [save(figure, folder / "figures") for figure in drawn]
        path = write_whole(folder / "report.html", render(evidence, said, drawn, folder))
    except OSError as error:
        raise Failure(f"{folder}: the report cannot be written here ({error.strerror or error})") from error
    return Report(path, said.text(), [f["png"] for f in files], list(map(str, records.problems)))


def load_sessions(session_dirs: Sequence[Path]) -> Records:
    """The records of sessions, each given once."""
    if not session_dirs:
        raise UsageError("no session given; give folders like results/<session>, or results/latest")
    resolved = [Path(path).resolve() for path in session_dirs]
    if len(set(resolved)) < len(resolved):
        raise UsageError("the same session is given twice; each counts once")
    return load(session_dirs)


def folder_of(session_dirs: Sequence[Path], out_dir: Path | None) -> Path:
    """Where a report goes: `out_dir`, or else the last session's folder."""
    folder = Path(out_dir) if out_dir is not None else Path(session_dirs[-1])
    return folder.parent if out_dir is None and not folder.is_dir() else folder


def write_whole(path: Path, text: str) -> Path:
    """The file is there whole or as it was."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
    return path


def environment() -> jinja2.Environment:
    """The templates of the pages, with what all of them use."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    for name in ("css", "js"):  # a script's text is no markup; neither has anything from outside in it
        made.globals[{"css": "css", "js": "script"}[name]] = Markup((TEMPLATES / f"report.{name}").read_text())
    now = datetime.datetime.now(datetime.timezone.utc)
    made.globals |= {"symbols": chart.symbols(), "written": now.strftime("%Y-%m-%d %H:%M UTC")}
    return made


def pictures(drawn: Sequence[Drawn], points: Points) -> list[dict[str, Any]]:
    """The figures as the templates draw them: with the chart, and the table of its points."""
    found = []
    for figure in drawn:
        table = points.table(figure)
        numbers, words = [row.number for row in table.rows], [row.words for row in table.rows]
        made = chart.draw(figure, figure.name, numbers, words)
        texts = {
            "title": figure.title,
            "caption": (figure.plot.caption or figure.caption).replace("Bands:", "Bars:"),
            "name": figure.name,
            "found": figure.found,
        }
        found.append({**texts, "chart": made, "table": table})
    return found


def render(evidence: Evidence, said: Verdict, drawn: list[Drawn], folder: Path) -> str:
    """The page, as it stands in `folder`."""
    records, frame = evidence.records, evidence.metrics
    points = Points(records, folder, evidence.choice)
    shown = pictures(drawn, points)
    claims = build(records, frame)
    names = [session["path"] for session in records.sessions]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            verdict=said,
            heading=heading(said.answers)
            if said.answers
            else "The program's time as it is (bare), and under the engine.",
            answers=said.answers or ([] if said.mpis else list(of_programs(evidence))),
            pictures=shown,
            colors=chart.colors([picture["chart"] for picture in shown]),
            sections=sections(claims, evidence, drawn),
            metrics=list(METRICS.values()) if len(frame) else [],
            results=page_tables.results(evidence.shown, points.filters),
            claims=page_tables.claims(claims),
            gaps=page_tables.gaps(records, frame),
            sessions=[page_tables.session(session) for session in records.sessions],
            launches=page_tables.launches(records),
            noise=page_tables.noise(records),
            problems=list(map(str, records.problems)),
            files=points.files,
            options=list(options(points.choices)),
            command=f"./bench report {' '.join(map(named, names))}",
            chosen={option: ",".join(map(str, wanted)) for option, wanted in evidence.choice.named().items()},
            narrowed=evidence.choice.options(),
        )
    )


def named(path: str) -> str:
    """A session as a shell's command names it: by its name among the results, from the repository if it is there."""
    folder = paths.name_of(Path(path))
    if folder.parent.name == "results":
        return shlex.quote(folder.name)
    return shlex.quote(str(folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder))
