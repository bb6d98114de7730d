# SPDX-License-Identifier: BSD-3-Clause
"""Records -> one tidy frame of metrics with intervals: one row a (session, system, mpi, study, variant, point, metric).

Columns beside those and the point's parameters: value, low, high, interval (what kind, in words), defensible,
freedom (see Interval), launches, work_units (where all launches of the point did the same), samples, reference_comm_s,
reference_comp_s, total_s (medians), comp_over_comm_measured, ideal, serial, status, reason, note, noisy, converged,
unconverged (how many launches were not), disturbance; change_value, _low, _high, _defensible, _freedom: the whole time
over that of bare; tail_p95_s, _p99_s, _max_s: of all steps of all launches, of each step the rank that takes longest
(the acknowledgement included), slowest_rank: which rank that mostly is; part_post_s and so on: see times.PARTS;
where variant `limit` was measured
against_limit_value, _low and _high, _defensible, against_limit (what kind of interval), and of how many _rounds so many
were _used, see analysis.limit. A variant that has no usable samples of a point that others have keeps a row without a
value, with status and reason: figures draw it as a gap with a mark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.metrics.formulas import METRICS, Metric, as_float, suspicious, undefined
from analysis.metrics.times import (
    LIMIT,
    VariantTimes,
    against,
    change,
    change_columns,
    chosen_words,
    combine,
    judged,
    launch_times,
    limit_columns,
    part_columns,
    rank_samples,
    tail_columns,
)
from analysis.records.frames import disturbance, failed, groups, measured_s, unique
from analysis.records.load import Records, parameter_columns
from analysis.statistics.interval import effective_groups, exceeds_effect, interval

STUDY, BY_SIZE = "overlap-ratio", "overlap-by-size"


def at_equal(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of efficiency and inflation at the points of both studies that were meant to have comp = comm."""
    if "comp_over_comm" not in frame:
        return frame.iloc[:0]
    wanted = frame["metric"].isin(["overlap_efficiency", "compute_inflation"])
    return frame[
        frame["study"].isin([STUDY, BY_SIZE]) & wanted & np.isclose(frame["comp_over_comm"].astype(float), 1.0)
    ]


def measured_ratio(part: pd.DataFrame) -> pd.Series[float]:
    """comp / comm of each point as it was measured on this MPI; as it was meant where bare has no value."""
    measured = part.groupby(["system", "mpi", "point"])["comp_over_comm_measured"].transform("median")
    return measured.fillna(part["comp_over_comm"].astype(float))


REFERENCE = "bare"
SETTING = ["session", "system", "mpi", "study"]
OWN_PART = "own_part"  # value of computes_for in a point
NOT_THE_SAME_WORK = "each rank computed as long as its own part took, so that no two variants did the same work"


def evaluate(records: Records, metrics: Sequence[str] = tuple(METRICS), seed: int = 0) -> pd.DataFrame:
    """The metric frame of all overlap studies in `records`. The same records and seed give the same intervals."""
    points = overlap_points(records)
    rows: list[dict[str, Any]] = []
    for keys, setting in groups(points, SETTING):
        rng = np.random.default_rng(seed)
        rows += _Setting(records, dict(zip(SETTING, keys, strict=True)), setting, rng).rows(
            [METRICS[m] for m in metrics]
        )
    columns = [*SETTING, "variant", "point", *records.parameters, "metric", "value", "low", "high", "status", "reason"]
    return pd.DataFrame(rows, columns=None if rows else columns)


def overlap_points(records: Records) -> pd.DataFrame:
    """The points of studies that measure overlap (they record total_s), with what failed of them; no calibration."""
    points = records.points
    if "calibration" in points:
        points = points[points["calibration"].isna()]
    rows = records.series.loc[records.series["quantity"] == "total_s", "row"]
    studies = unique(points.loc[points.index.isin(rows), "study"])
    named = ["overlap-ratio", "send-time"]  # known to measure overlap even where every point failed
    return points[points["study"].isin(studies + named)]


class _Setting:
    """One study on one MPI of one system in one session: all its variants and points."""

    def __init__(self, records: Records, keys: dict[str, Any], points: pd.DataFrame, rng: np.random.Generator) -> None:
        self.keys, self.rng = keys, rng
        self.samples = rank_samples(records, points)
        self.points, self.intervals = judged(points, self.samples)
        launches = records.launches
        self.launches = launches[np.logical_and.reduce([launches[name] == keys[name] for name in SETTING])]
        clocks = self.launches["clock_resolution_s"].dropna()
        self.clock = float(clocks.max()) if len(clocks) else None
        planned = [variant for session in records.sessions for variant in session.get("variants", [])]
        self.variants = list(dict.fromkeys([*self.launches.sort_values("order")["variant"], *planned]))

    def rows(self, metrics: Sequence[Metric]) -> Iterator[dict[str, Any]]:
        for (point,), rows in groups(self.points, ["point"]):
            parameters = json.loads(point)
            by_variant = {variant: rows[rows["variant"] == variant] for variant in self.variants}
            times = {variant: self._times(part, parameters) for variant, part in by_variant.items()}
            bare = times.get(REFERENCE) or self._without_settings(REFERENCE, parameters)
            limit_here = times.get(LIMIT) or self._without_settings(LIMIT, parameters)
            work = unique(rows["work_units"]) if "work_units" in rows else []
            differs = (
                "its launches did different amounts of work: " + ", ".join(map(str, work)) if len(work) > 1 else None
            )
            for variant, part in by_variant.items():
                head = {**self.keys, "variant": variant, "point": point, **parameter_columns(parameters)}
                head |= {"work_units": work[0] if len(work) == 1 else None, **self._facts(part, variant)}
                mine = times[variant]
                if variant == LIMIT and self.intervals and not len(part):
                    continue  # it is measured at fewer points than the others, and misses nothing there
                if mine is None or parameters.get("computes_for") == OWN_PART:
                    note = None if mine is None else NOT_THE_SAME_WORK
                    yield from ({**head, "metric": metric.name, **_nothing(), "note": note} for metric in metrics)
                else:
                    values = self._values(mine, bare, variant, metrics)
                    chosen = self.intervals.get(point) if variant == LIMIT else None
                    note = differs or (chosen_words(chosen) if chosen else None)
                    best = limit_here if variant != LIMIT else None
                    for metric, row in zip(metrics, values, strict=True):
                        compared = limit_columns(against(metric, mine, best, bare)) if best and bare else {}
                        yield {**head, **row, **compared, "note": row["note"] or note}

    def _without_settings(self, variant: str, parameters: dict[str, Any]) -> VariantTimes | None:
        """bare, or limit, at the point that this one is but for the engine's settings, which neither has."""
        mine = self.points[self.points["variant"] == variant]
        for (point,), rows in groups(mine, ["point"]):
            known = json.loads(point)
            if known.items() <= parameters.items():
                return self._times(rows, known)
        return None

    def _times(self, part: pd.DataFrame, parameters: dict[str, Any]) -> VariantTimes | None:
        pattern = parameters.get("pattern")
        launches, rounds, steps = [], [], []
        for _, ranks in groups(part[part["status"] == "ok"], ["launch"]):
            usable = [self.samples[row] for row in ranks.index if row in self.samples]
            times = launch_times(usable, pattern, self.rng)
            if not np.isnan(times.medians["total"]):
                launches.append(times)
                rounds.append(int(ranks["repetition"].iloc[0]))
                known = ((row, rank) for row, rank in ranks["rank"].items() if row in self.samples)
                found = {int(rank): self.samples[row].samples.get("total_s") for row, rank in known}
                steps.append({rank: samples for rank, samples in found.items() if samples is not None})
        return replace(VariantTimes.of(launches, self.rng, rounds), tail=tail_columns(steps)) if launches else None

    def _facts(self, part: pd.DataFrame, variant: str) -> dict[str, Any]:
        """Status, reason and noise of a variant at a point, over its launches and ranks."""
        bad = part[part["status"] != "ok"]
        status, reason = "ok", None
        if failed(part):
            usable = len(part) > len(bad)
            status, reason = (("partial" if usable else bad.iloc[0]["status"]), bad.iloc[0]["reason"])
        elif not len(part):
            status, reason = "missing", self._why_missing(variant)
        converged = part["converged"].dropna()
        return {
            "status": status,
            "reason": reason,
            "converged": bool(converged.all()) if len(converged) else None,
            "unconverged": int(part.loc[part["converged"].eq(False), "launch"].nunique()),
            "disturbance": disturbance(
                part, sum(measured_s(self.samples[row].samples) for row in part.index if row in self.samples)
            ),
        }

    def _why_missing(self, variant: str) -> str:
        ended = self.launches[(self.launches["variant"] == variant) & (self.launches["status"] != "ok")]
        if len(ended):
            first = ended.iloc[0]
            return f"launch {first['launch']}: {first['status']}" + (f" ({first['reason']})" if first["reason"] else "")
        return "not measured with this variant"

    def _values(
        self, mine: VariantTimes, bare: VariantTimes | None, variant: str, metrics: Sequence[Metric]
    ) -> Iterator[dict[str, Any]]:
        value = combine(mine, bare)
        launches = min(mine.launches, bare.launches if bare else mine.launches)
        against = bare.draws["total"] if bare and variant != REFERENCE else None
        noisy = exceeds_effect(mine.draws["total"], against)
        changed = change_columns(change(mine, bare)) if bare and variant != REFERENCE else {}
        for metric in metrics:
            yield {
                "metric": metric.name,
                **self._evaluated(metric, mine, bare, launches),
                "launches": mine.launches,
                "samples": mine.samples,
                "reference_comm_s": value.comm,
                "reference_comp_s": value.comp,
                "total_s": value.total,
                "comp_over_comm_measured": value.comp / value.comm if value.comm > 0 else np.nan,
                "noisy": noisy,
                **mine.tail,
                **part_columns(value),
                **changed,
            }

    def _evaluated(
        self, metric: Metric, mine: VariantTimes, bare: VariantTimes | None, launches: int
    ) -> dict[str, Any]:
        """The metric with its interval; variant and reference are two groups of launches, unless they are one."""
        value = combine(mine, bare)
        why = undefined(metric, value, self.clock)
        if why is not None:
            return {**_nothing(), "note": why}
        draws = np.asarray(metric.value(combine(mine, bare, "resampled", "resampled")))
        alone = bare is None or bare is mine or metric.own_only
        sides = [("resampled", "value"), ("value", "resampled")]
        found = interval(
            as_float(metric.value(value)),
            draws,
            launches,
            groups=1.0
            if alone
            else effective_groups([np.asarray(metric.value(combine(mine, bare, *s))) for s in sides]),
            two_kinds=any(x.draws["total"].two_kinds for x in (mine, bare) if x is not None),
        )
        return {
            "value": found.value,
            "low": found.low,
            "high": found.high,
            "interval": found.kind,
            "freedom": found.freedom,
            "defensible": found.defensible,
            "ideal": as_float(metric.ideal(value.comp, value.comm)),
            "serial": as_float(metric.serial(value.comp, value.comm)) if metric.serial else np.nan,
            "note": suspicious(value),
        }


def _nothing() -> dict[str, Any]:
    return {"value": np.nan, "low": np.nan, "high": np.nan, "interval": "no value", "defensible": False}
