# SPDX-License-Identifier: BSD-3-Clause
"""Do other tools see what ours see? Their numbers beside ours of the same session, and beside their own formula on our
samples: agreement, or by how much they differ.

A difference of definition goes away in the second comparison; what is left is one of measurement. Theirs follow one
another without a pause, so it is made with our samples of collectives that do so too (`back_to_back`), where there are
such. What has no second side is listed with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Evidence
from analysis.figures import intervals
from analysis.figures.toolkit import Drawn
from analysis.metrics.evaluate import REFERENCE
from analysis.metrics.formulas import COMP_EQUALS_COMM, Times, divide, imb_overlap, osu_overlap
from analysis.other_tools.agreement import (
    AGREES,
    ALONE,
    DIFFERS,
    EXPOSED,
    OVERLAP,
    POINTS,
    PREFIX,
    SHARES,
    SLOWED,
    UNKNOWN,
    UNLIKE,
    WITHIN,
    Comparison,
    Outcome,
    Uncompared,
    difference,
    metrics_of,
)
from analysis.other_tools.overheads import ASYNC, ASYNC_STUDIES, overheads
from analysis.other_tools.samples import as_theirs, at, of_tool, standing_alone, until_all_are_done, whole
from analysis.records import frames
from analysis.statistics.interval import Interval, middle
from analysis.subject import Subject
from analysis.tables import numbers
from analysis.words import bytes_text, seconds_text

LATENCY, COLLECTIVES = f"{PREFIX}latency", f"{PREFIX}collectives"
IMB, OSU = f"{PREFIX}imb-", f"{PREFIX}osu-"
POINT_TO_POINT = ("pingpong", "latency", "bw")
WINDOW = 64  # messages that osu_bw has under way at once


def comparisons(evidence: Evidence) -> list[Comparison]:
    """All that a session has both sides of."""
    return [one for one in compare(evidence) if isinstance(one, Comparison)]


def compare(evidence: Evidence) -> list[Outcome]:
    """Every number of theirs and ours: compared, or why not."""
    points = evidence.records.points
    if not len(points):
        return []
    mine = points[points["study"].astype(str).str.startswith(PREFIX)]
    found: list[Outcome] = []
    settings = {
        tuple(map(str, keys)): {str(name): rows for (name,), rows in frames.groups(part, ["study"])}
        for keys, part in frames.groups(mine, [*SETTING, "variant"])
    }
    for keys, studies in settings.items():
        setting: dict[str, Any] = dict(zip([*SETTING, "variant"], keys, strict=True))
        asked: set[tuple[str, int]] = set()
        for study, rows in studies.items():
            if study == ASYNC:
                bare = settings.get((*keys[:-1], REFERENCE), {})
                for (point,), _ in frames.groups(rows, ["point"]):
                    name, size = (json.loads(point)[axis] for axis in ("benchmark", "size_bytes"))
                    asked.add((name, size))
                    found += overheads(evidence, {**setting, "study": study}, name, size, studies, bare)
            elif study.startswith((IMB, OSU)):
                for (point,), theirs in frames.groups(rows, ["point"]):
                    said = json.loads(point)
                    name = str(said.get("benchmark", study.removeprefix(OSU))).lower()
                    asked.add(("latency" if name in POINT_TO_POINT else name, said["size_bytes"]))
                    found += _of_point(evidence, {**setting, "study": study}, name, said["size_bytes"], theirs, studies)
        found += _of_ours_alone(setting, studies, asked)
    return found


def _of_point(
    evidence: Evidence,
    where: dict[str, Any],
    name: str,
    size: int,
    theirs: pd.DataFrame,
    studies: dict[str, pd.DataFrame],
) -> Iterator[Outcome]:
    what = f"{name}, {bytes_text(size)}"
    if name in POINT_TO_POINT:
        ours = at(studies.get(LATENCY), size_bytes=size)
    else:
        ours = at(studies.get(COLLECTIVES), collective=name, size_bytes=size)
    if ours is None:
        yield Uncompared(**where, what=what, why="nothing of ours measured it in this setting")
        return
    sides = [("theirs", *whole(theirs)), ("ours", *whole(standing_alone(ours))), ("ours", *whole(as_theirs(ours)))]
    for side, good, why in sides:
        if not len(good):
            yield Uncompared(**where, what=what, why=f"{side}: {why}")
            return
    lost_launches = "; ".join(dict.fromkeys(f"{side}: {why}" for side, _, why in sides if why))
    theirs, usual, alike = (good for _, good, _ in sides)
    compared = (
        _point_to_point(evidence, where, theirs, usual, what, size)
        if name in POINT_TO_POINT
        else _collective(evidence, where, theirs, usual, alike, what)
    )
    for one in compared:
        if isinstance(one, Comparison) and lost_launches:
            yield replace(one, remark="; ".join(filter(None, [one.remark, lost_launches])))
        else:
            yield one


def _of_ours_alone(
    setting: dict[str, Any], studies: dict[str, pd.DataFrame], asked: set[tuple[str, int]]
) -> Iterator[Outcome]:
    """Our points that no other tool was asked for."""
    of_async = {study: name for name, study in ASYNC_STUDIES.items()}
    for study in (LATENCY, COLLECTIVES, *of_async):
        for (point,), _ in frames.groups(studies[study], ["point"]) if study in studies else ():
            said = json.loads(point)
            name = of_async.get(study) or str(said.get("collective", "latency"))
            if (name, said["size_bytes"]) not in asked:
                what = f"{name}, {bytes_text(said['size_bytes'])}"
                yield Uncompared(**setting, study=study, what=what, why="no other tool was asked for it")


def _point_to_point(
    evidence: Evidence, where: dict[str, Any], theirs: pd.DataFrame, ours: pd.DataFrame, what: str, size: int
) -> Iterator[Outcome]:
    median = evidence.launches(ours, "latency_s", "median")
    mean = evidence.launches(ours, "latency_s", "mean")
    times = evidence.launches(theirs, "latency_s", "median")
    rates = evidence.launches(theirs, "bytes_per_s", "median")
    if not median or not (times or rates):
        yield Uncompared(**where, what=what, why=f"{'theirs' if median else 'ours'} has no time of it")
        return
    unsure, remark = evidence.state(ours)
    if times:
        found = Comparison.of(where, f"latency, {bytes_text(size)}", median, mean, times)
        yield replace(found, unsure=unsure, remark=remark)
    if rates:
        mine, as_theirs = ([size / launch for launch in launches] for launches in (median, mean))
        found = Comparison.of(where, f"bandwidth, {bytes_text(size)}", mine, as_theirs, rates)
        if unlike := where["study"].startswith(OSU):
            windows = f"theirs has a window of {WINDOW} messages under way, ours one"
            times_ours = f"its rate is {found.of_same.text()} times ours"
            remark = "; ".join(filter(None, [windows, times_ours, remark]))
        yield replace(found, unsure=unsure, remark=remark, unlike=unlike)


def _collective(
    evidence: Evidence, where: dict[str, Any], theirs: pd.DataFrame, ours: pd.DataFrame, alike: pd.DataFrame, what: str
) -> Iterator[Outcome]:
    unsure, loose = evidence.state(alike)
    of_osu = where["study"].startswith(OSU)
    as_theirs, pure = of_tool(evidence, alike, of_osu), evidence.launches(theirs, "pure_s", "median")
    if pure and as_theirs:
        alone = [np.array([times.own_comm]) for times in as_theirs]
        found = Comparison.of(where, f"{ALONE}{what}", until_all_are_done(evidence, ours), alone, pure)
        yield replace(found, unsure=unsure, remark=loose)
    else:
        side = "ours" if pure else "theirs"
        yield Uncompared(**where, what=f"{ALONE}{what}", why=f"{side} has no time of the collective alone")
    shares = evidence.launches(theirs, "overlap", "median")
    metrics, why = metrics_of(evidence, where, ours)
    efficiency = metrics.get("overlap_efficiency")
    if not shares or not as_theirs or not efficiency:
        said = f"ours has no overlap_efficiency: {why.get('overlap_efficiency', 'not measured')}"
        yield Uncompared(**where, what=f"{OVERLAP}{what}", why=said if shares else "theirs prints none")
        return
    formula = osu_overlap if of_osu else imb_overlap
    printed = middle([100 * launch for launch in shares])
    same = middle([np.array([formula(times)]) for times in as_theirs])
    stolen = metrics.get("compute_inflation")
    remark = f"the computation takes {stolen.text()} times as long beside it" if stolen else ""
    yield Comparison(**where, what=f"{OVERLAP}{what}", ours=efficiency, same=same, theirs=printed,
                     of_same=difference(printed, same), remark="; ".join(filter(None, [remark, loose])),
                     unsure="; ".join(filter(None, [unsure, _unbalanced(as_theirs)])))  # fmt: skip


def _unbalanced(as_theirs: Sequence[Times]) -> str:
    """Why overlaps cannot be compared where our computation was not as long as the communication, as theirs is."""
    ratio = float(np.median([divide(times.own_comp, times.own_comm) for times in as_theirs]))
    if abs(ratio - 1) <= COMP_EQUALS_COMM:
        return ""
    return f"our computation takes {ratio:.2f} times as long as the communication, theirs as long"


def text_of(comparison: Comparison, interval: Interval, ours: bool = False) -> str:
    """A number with its interval as it stands in the table."""
    if comparison.share:
        return f"{SHARES[comparison.share]} {interval.text()}" if ours else f"{interval.value:.0f} %"
    if comparison.what.startswith("bandwidth"):
        return f"{interval.value / 1e6:.4g} MB/s"
    return seconds_text(interval.value)


BOUNDS = {"5 % less": 1 - WITHIN, "5 % more": 1 + WITHIN}
POINTS_APART = {"5 points less": -POINTS, "5 points more": POINTS}


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """Each of their times and rates over what their formula gives on our samples, and each of IMB-ASYNC's overheads
    less the same of ours: two figures, all MPIs."""
    found = compare(evidence)
    compared = [one for one in found if isinstance(one, Comparison)]
    times = [one for one in compared if not one.share]
    lost = [one for one in compared if one.share in (EXPOSED, SLOWED)]
    title = "Other tools' numbers beside ours of the same session"
    formula = "their number over that of their own formula on our samples (1: the same)"
    above = "What IMB-ASYNC says that communication and computation lose beside each other, less the same of ours"
    of_both = (
        "what was not hidden of a communication, and how much longer than under bare the computation beside it took, "
        "each in per cent of our communication alone, theirs less ours (0: the same)"
    )
    return [
        *intervals.draw(evidence, provenance, _points(times), "cross_check", title, formula, "theirs / ours", BOUNDS,
                        lambda _: _sentences(found)),
        *intervals.draw(evidence, provenance, _points(lost), "cross_check_overheads", above, of_both,
                        "theirs - ours, percentage points", POINTS_APART),
    ]  # fmt: skip


def _points(compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """As a figure has them."""
    return [
        {"session": one.session, "system": one.system, "study": one.study, "label": _label(one), "mpi": one.mpi,
         "variant": one.variant, **numbers(one.of_same), "status": "ok", "reason": one.unsure, "verdict": one.verdict}
        for one in compared
    ]  # fmt: skip


def _label(one: Comparison) -> str:
    tool = "IMB-ASYNC" if one.study == ASYNC else one.study.removeprefix(PREFIX).partition("-")[0].upper()
    return f"{tool}: {one.what}" + (f" ({UNLIKE})" if one.unlike else "")


def _sentences(beside: list[Outcome]) -> str:
    """How many agree, how many have no second side, and the overlaps that look better than they are."""
    found = [one for one in beside if isinstance(one, Comparison)]
    counts = {word: sum(one.verdict == word for one in found) for word in (AGREES, DIFFERS, UNKNOWN, UNLIKE)}
    said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    lines = [f"Of {len(found)} numbers, within {100 * WITHIN:g} % or {POINTS:g} percentage points: {said}."]
    if alone := len(beside) - len(found):
        lines.append(f"{alone} more could not be compared: `python -m analysis.cross_check` says which, and why.")
    for one in found:
        if one.share == OVERLAP and one.theirs.value - 100 * one.ours.value > 100 * WITHIN:
            lines.append(
                f"{one.what} on {one.mpi}, {one.variant}: they say {text_of(one, one.theirs)}, our efficiency is "
                f"{text_of(one, one.ours, ours=True).removeprefix('efficiency ')}; {one.remark}."
            )
    return " ".join(lines)


SUBJECT = Subject(
    "cross-check",
    ("cross-check-*",),
    "",
    "other tools beside ours",
    figures=(draw,),
    note="nothing is claimed of it: other tools are witnesses of our numbers",
)

SUBJECTS = (SUBJECT,)
