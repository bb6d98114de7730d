# SPDX-License-Identifier: BSD-3-Clause
"""A gate's verdict as files: Markdown for a merge request, JSON for programs, JUnit and OpenMetrics for CI."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

from analysis.errors import UsageError
from analysis.gate import files
from analysis.gate.outcome import STATUS, CheckRun, GateFound, PointFound, Verdict
from analysis.junit import Case, junit
from analysis.text_table import json_text
from analysis.text_table import markdown as table
from analysis.words import interval_text

MARKDOWN_LIMIT = 64_000  # bytes: what a merge request and a job's summary take
LONGEST_NAME = 300  # characters of a point's in a table: a program of one's own is named by its whole command
FILES = {"gate.json": "json", "gate.md": "markdown", "junit.xml": "junit", "metrics.txt": "open_metrics"}


def check(folder: Path) -> None:
    """UsageError if no file can be put there: which is better known before anything is measured or drawn."""
    try:
        with files.trial(folder):
            pass
    except OSError as error:
        raise UsageError(
            f"--out {folder} cannot be written ({error.strerror}): give a folder that takes files, or can be made."
        ) from error


def write(found: GateFound, folder: Path) -> None:
    """All of them in one folder, in UTF-8. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts(found).items():
        with files.partial_file(folder, text.encode()) as partial:  # of its own, as another gate may write there too
            partial.replace(folder / name)


def texts(found: GateFound) -> dict[str, str]:
    """File -> what stands in it."""
    return {name: FORMATS[form](found) for name, form in FILES.items()}


def as_json(found: GateFound) -> str:
    """Everything; a number that does not exist, or an interval's end that is not known, is null."""
    content = {**asdict(found), "status": found.status, "candidate_failed": found.candidate_failed}
    return json_text(content) + "\n"


def as_markdown(found: GateFound) -> str:
    """The verdict, the points with those that matter first, and the check run; never longer than MARKDOWN_LIMIT."""
    head = [f"## Gate: {found.verdict.value}", "", found.sentence, ""]
    head += [f"`{found.new}` against `{found.base}`, margin {100 * found.margin:g} %, {found.rounds} rounds of at most "
             f"{found.planned}, session {found.session}.", ""]  # fmt: skip
    head += [line for line in (_slowest_place(found.check_run),) if line]
    tail = [*_levels(found.points), *(f"- {note}" for note in found.notes)]
    rows = [_row(point) for point in sorted(found.points, key=lambda point: (not point.slower, -point.ratio))]
    columns = ["point", "candidate / baseline", "its copy / baseline", "told"]
    for shown in (len(rows), *(count for count in (200, 50, 10, 0) if count < len(rows))):
        left = [f"... and {len(rows) - shown} points more.", ""] if shown < len(rows) else [""]
        text = "\n".join([*head, *(table(columns, rows[:shown]) if shown else []), *left, *tail]) + "\n"
        if len(text.encode()) <= MARKDOWN_LIMIT:
            return text
    return "\n".join(head).encode()[:MARKDOWN_LIMIT].decode(errors="ignore")


def _slowest_place(check_run: CheckRun) -> str:
    """Of what the check run measures: the slowest node or pair of nodes over the middle one, in a line."""
    measured = {"computation": check_run.computation_s, "transfer": check_run.transfer_s}
    ratios = {what: max(times.values()) / median(times.values()) for what, times in measured.items() if times}
    told = ", ".join(f"{what} {ratio:.3f}" for what, ratio in ratios.items())
    return f"Check run, the slowest place over the middle one: {told}.\n" if told else ""


def _row(point: PointFound) -> list[str]:
    name = point.name if len(point.name) <= LONGEST_NAME else f"{point.name[:LONGEST_NAME]}..."
    return [
        f"{name} ({point.quantity})",
        _interval(point.ratio, point.low, point.high),
        _interval(point.control, point.control_low, point.control_high),
        told(point),
    ]


def _levels(points: Sequence[PointFound]) -> list[str]:
    """How sure the intervals are: several studies end at looks of their own."""
    levels = {"the candidate": [one.level for one in points], "its copy": [one.control_level for one in points]}
    known = {whose: min(filter(math.isfinite, of), default=math.nan) for whose, of in levels.items()}
    told = [f"of {whose} {100 * level:.6g} %" for whose, level in known.items() if math.isfinite(level)]
    return [f"In brackets intervals: {' and '.join(told)} at least, each alone.", ""] if told else []


def _interval(ratio: float, low: float, high: float) -> str:
    """A look at which a test cannot show anything yet leaves it to the next one: there is no interval then."""
    return interval_text(ratio, low, high) if math.isfinite(high) else f"{ratio:.3f} (not tested yet)"


def told(point: PointFound) -> str:
    """What is shown of one point, in a word or two."""
    if point.slower:
        return "slower"
    return "same" if point.same else "faster" if point.faster else "not told"


def as_junit(found: GateFound) -> str:
    """A test case a point, and one of the gate, which fails where the candidate is slower, is an error where launches
    of the candidate alone failed, and is skipped where nothing is told else."""
    slower = found.verdict is Verdict.COMMIT
    untold = "error" if found.candidate_failed else "skipped"
    outcome = "failure" if slower else untold if STATUS[found.verdict] else ""
    cases = [Case("gate", "verdict", outcome, found.sentence if slower else f"{found.verdict.value}: {found.sentence}")]
    for point in found.points:
        ratio = _row(point)[1]
        if point.slower and slower:
            cases.append(Case("gate.point", point.name, "failure", ratio))
        elif point.same or point.faster:
            cases.append(Case("gate.point", point.name))
        else:
            cases.append(Case("gate.point", point.name, "skipped", f"not told: {ratio}"))
    return junit(f"gate: {found.new} against {found.base}", cases) + "\n"


def as_open_metrics(found: GateFound) -> str:
    """Gauges: ratios of every point, the rounds, the verdict as 1 of its name and 0 of the others."""
    lines = ["# TYPE gate_ratio gauge", "# HELP gate_ratio Time of the candidate over the baseline's."]
    lines += [f"gate_ratio{_labels(point=point.name)} {point.ratio:.6g}" for point in found.points]
    lines += [
        "# TYPE gate_control_ratio gauge",
        "# HELP gate_control_ratio Time of a copy of the baseline over its own.",
    ]
    lines += [f"gate_control_ratio{_labels(point=point.name)} {point.control:.6g}" for point in found.points]
    lines += ["# TYPE gate_rounds gauge", f"gate_rounds {found.rounds}", "# TYPE gate_verdict stateset"]
    lines += [f"gate_verdict{_labels(gate_verdict=one.value)} {int(one is found.verdict)}" for one in Verdict]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _labels(**labels: str) -> str:
    escaped = {
        name: text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for name, text in labels.items()
    }
    return "{" + ",".join(f'{name}="{text}"' for name, text in escaped.items()) + "}"


FORMATS = {"json": as_json, "markdown": as_markdown, "junit": as_junit, "open_metrics": as_open_metrics}
