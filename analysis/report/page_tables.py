# SPDX-License-Identifier: BSD-3-Clause
"""The report's tables as plain lists of text: results, gaps, launches, noise, provenance.

`differing`: by what the MPI carried messages, as the engine saw it in the process.

An MPI may choose otherwise where it is asked for another thread level: then a variant differs from another one in more
than the engine. Of a launch without the engine nothing is known; the variant `off` has it and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from analysis.claims.table import ClaimTable
from analysis.metrics.formulas import METRICS, efficiency_says_little
from analysis.metrics.times import rounds_words
from analysis.records import frames
from analysis.records.frames import took
from analysis.records.load import Records
from analysis.report.answer import time_bar
from analysis.words import added_text, bytes_text, mpi_title, point_words, points_text, seconds_text, text

REFERENCE = "off"


def words(transport: Mapping[str, Any]) -> str:
    """ "ob1, /dev/knem, tcp": Open MPI's component, devices, sockets."""
    parts = [transport.get("component"), *transport.get("devices", []), "tcp" if transport.get("tcp") else ""]
    return ", ".join(filter(None, parts)) or "unknown"


def differing(launches: pd.DataFrame) -> list[list[str]]:
    """Rows of the table of gaps: variants whose transport is another one than that of `off`, or else of the first."""
    rows = []
    for (_, _, study, mpi), part in frames.groups(launches, ["session", "system", "study", "mpi"]):
        seen = {variant: found for (variant,), one in frames.groups(part, ["variant"]) if (found := _of(one))}
        if len(seen) < 2:
            continue
        usual = REFERENCE if REFERENCE in seen else next(iter(seen))
        for variant, found in seen.items():
            if found != seen[usual]:
                why = f"{' or '.join(found)}; {' or '.join(seen[usual])} under {usual}: not the engine alone differs"
                rows.append([study, mpi, variant, "transport", "differs", why])
    return rows


def _of(launches: pd.DataFrame) -> list[str]:
    """Of all ranks of a variant's launches that had the engine; each once."""
    engines = [engine for every in launches["engines"] for engine in every]
    return sorted({words(engine["transport"]) for engine in engines if engine.get("transport")})


Table = dict[str, Any]  # {"columns": [...], "rows": [[...]]}
SHOWN = [
    "overlap_efficiency",
    "compute_inflation",
    "hidden_communication",
    "cores_used",
    "standing_cost",
    "osu_overlap",
    "imb_overlap",
]
WHERE = ["study", "mpi", "variant"]


def results(frame: pd.DataFrame, filters: Callable[[dict[str, Any]], str] | None = None) -> list[Table]:
    """One table a study and MPI: a row a (point, variant), total with interval and the metrics. `filters` says of a row
    by what it can be filtered."""
    found: list[Table] = []
    if not len(frame):
        return found
    for (study, mpi), part in frames.groups(frame, ["study", "mpi"]):
        place = ["session", "system", "point"]
        longest = part.groupby(place)["total_s"].transform("max") if "total_s" in part else part["value"]
        by_point = [group for _, group in frames.groups(part.assign(longest=longest), [*place, "variant"])]
        rows = [_result(group) for group in by_point]
        columns = [
            "point",
            "variant",
            "total",
            "where it goes",
            "comp/comm measured",
            *(METRICS[name].title for name in SHOWN),
            "of the limit",
            "sees",
            "p95, p99, longest",
            "slowest rank",
            "launches",
            "marks",
        ]
        filtered = {"filters": [filters(frames.rows(group)[0]) for group in by_point]} if filters else {}
        found.append({"title": f"{study}, {mpi_title(str(mpi))}", "columns": columns, "rows": rows, **filtered})
    return found


def _result(group: pd.DataFrame) -> list[str]:
    by_metric = {row["metric"]: row for row in frames.rows(group)}
    row = next(iter(by_metric.values()))
    cells = [point_words(row["point"]), row["variant"]]
    total = by_metric.get("send_time", row)
    if np.isfinite(total["value"]):
        low, high = seconds_text(total["low"]), seconds_text(total["high"])
        cells.append(f"{seconds_text(total['value'])} ({low} to {high})")
    else:
        cells.append(f"{row['status']}: {row['reason'] or 'no value'}")
    cells.append(time_bar(row, row["longest"]) if np.isfinite(row.get("total_s", np.nan)) else "–")
    cells.append(text(row.get("comp_over_comm_measured")))
    cells += [efficiency_text(by_metric), *(_cell(by_metric.get(name)) for name in SHOWN[1:])]
    cells.append(_of_limit(by_metric.get("overlap_efficiency", {})))
    cells += [_sees(row), _tail(row), row.get("slowest_rank") or "–"]
    return [*cells, text(row.get("launches"), 0), ", ".join(_marks(row, by_metric))]


def _sees(row: dict[str, Any]) -> str:
    """How small a change against bare the launches would have shown: half of its interval."""
    low, high = (row.get(f"change_{name}", np.nan) for name in ("low", "high"))
    sure = row.get("change_defensible") is True
    return f"±{50 * (high - low):.1f} %" if sure and np.isfinite(low + high) else "–"


def _tail(row: dict[str, Any]) -> str:
    """Of a step its slowest rank."""
    found = [row.get(f"tail_{name}_s", np.nan) for name in ("p95", "p99", "max")]
    return ", ".join(map(seconds_text, found)) if np.isfinite(found).all() else "–"


def _cell(row: dict[str, Any] | None) -> str:
    if row is None or not np.isfinite(row["value"]):
        return "–"
    digits = 0 if row["metric"].endswith("_overlap") else 2
    value, low, high = (text(row[name], digits) for name in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def efficiency_text(by_metric: dict[str, dict[str, Any]]) -> str:
    """A point's overlap efficiency with its interval: '0.93 (0.91 to 0.95)'; where that says little, the time added:
    'adds 62 µs (60 µs to 65 µs)'. `by_metric` are the rows of a point and variant by their metric."""
    row, added = by_metric.get(SHOWN[0]), by_metric.get("added_time")
    if row is None or not np.isfinite(row["value"]):
        return "–"
    if added is not None and np.isfinite(added["value"]) and efficiency_says_little(row["low"], row["high"]):
        return added_text(added["value"], added["low"], added["high"])
    return f"{text(row['value'])} ({text(row['low'])} to {text(row['high'])})"


def _of_limit(efficiency: dict[str, Any]) -> str:
    """The efficiency as a share of the limit's, see analysis.limit."""
    value, low, high = (efficiency.get(f"against_limit_{name}", np.nan) for name in ("value", "low", "high"))
    return f"{text(value)} ({text(low)} to {text(high)})" if np.isfinite(value) else "–"


def _marks(row: dict[str, Any], by_metric: dict[str, dict[str, Any]]) -> list[str]:
    marks = []
    if row.get("noisy") is True:
        marks.append("noisy")
    if row.get("converged") is False:
        marks.append("not converged")
    if said := took(row.get("disturbance")):
        marks.append(f"disturbed: {said}")
    measured = [metric for metric in by_metric.values() if np.isfinite(metric["value"])]
    marks += dict.fromkeys(str(metric["interval"]) for metric in measured if not metric["defensible"])
    share = by_metric.get("overlap_efficiency", {})
    if np.isfinite(share.get("against_limit_value", np.nan)) and not share["against_limit_defensible"]:
        marks.append(f"of the limit: a spread over {rounds_words(share)}")
    if row["status"] == "partial":
        marks.append(f"some launches have no value: {row['reason']}")
    notes = {m["note"] for m in by_metric.values() if isinstance(m.get("note"), str)}
    return marks + sorted(notes)


def claims(decided: ClaimTable) -> Table:
    """The claims that these records speak to; those of studies that were not run are left to `./bench claims`."""
    rows = []
    for row in decided.rows:
        if row.decision == "not measured":
            continue
        measured = (
            "–" if row.value is None else f"{text(row.value)} ({text(row.low)} to {text(row.high)}{row.together})"
        )
        rows.append(
            [row.study, row.claim, row.mpi, measured, row.wanted, row.decision, row.reason, row.source, row.dated]
        )
    columns = ["study", "claim", "MPI", "value", "wanted", "decision", "remarks", "source", "wording"]
    return {"columns": columns, "rows": rows}


def gaps(records: Records, frame: pd.DataFrame) -> Table:
    """What failed, was skipped, is missing or was not alike, with the reason; equal ones together."""
    rows: list[list[str]] = []
    launches = records.launches
    for row in frames.rows(launches):
        reason = row["reason"] if isinstance(row.get("reason"), str) else ""
        if reason or row["status"] != "ok":
            where = [row["study"], row["mpi"], row["variant"], f"launch {row['launch']}"]
            rows.append([*where, *_as_known(row["status"], reason or "no reason given")])
    rows += differing(launches) if len(launches) else []
    points = records.points
    failed = points[points["status"] != "ok"]
    for (*where, status, reason), part in frames.groups(failed, [*WHERE, "status", "reason"]):
        rows.append([*where, points_text(len(part)), *_as_known(status, reason)])
    if len(frame):
        missing = frame[frame["status"] == "missing"]
        for (*where, reason), part in frames.groups(missing, [*WHERE, "reason"]):
            rows.append([*where, points_text(part["point"].nunique()), "missing", reason])
        rows += _without_value(frame[frame["status"].isin(["ok", "partial"])])
    return {"columns": ["study", "MPI", "variant", "what", "status", "reason"], "rows": rows}


def _as_known(status: str, reason: str) -> tuple[str, str]:
    """Status and reason of what did as is known of its MPI, or did not."""
    sign, _, rest = reason.partition(": ")
    return (sign, rest) if sign in frames.KNOWN else (status, reason)


def _without_value(measured: pd.DataFrame) -> list[list[str]]:
    """The metrics that have no finite value though their point was measured, counted by what the reason is."""
    rows = []
    without = measured[~np.isfinite(measured["value"].astype(float))]
    for (*where, note), part in frames.groups(without, [*WHERE, "note"] if "note" in without else WHERE):
        what = (
            f"{points_text(part['point'].nunique())}: "
            f"{', '.join(name.replace('_', ' ') for name in part['metric'].unique())}"
        )
        rows.append([*where, what, "no value", note if isinstance(note, str) else "not a finite number"])
    return rows


def launches(records: Records) -> Table:
    """What really ran, by MPI and variant: hosts, CPUs, thread level, engine, bytes on the network, energy if any is
    known; `unread` says once why it is not."""
    rows, found = [], records.launches
    energy = len(found) > 0 and bool(found["joules"].notna().any())
    if len(found):
        for (study, mpi, variant), part in frames.groups(found, ["study", "mpi", "variant"]):
            rows.append([study, mpi, variant, str(len(part)), *_ran(part), *([_energy(part)] if energy else [])])
    columns = [
        "study",
        "MPI",
        "variant",
        "launches",
        "hosts",
        "CPUs seen",
        "thread level",
        "engine",
        "bytes on the network",
        *(["energy, power"] if energy else []),
    ]
    return {"columns": columns, "rows": rows, "unread": _unread(found) if len(found) else ""}


def _ran(part: pd.DataFrame) -> list[str]:
    first = part.iloc[0]
    hosts = sorted({host for names in part["hosts"] for host in names})
    cpus: list[int] = sorted({cpu for ranks in part["cpus_observed"] for seen in ranks for cpu in seen})
    level = f"{first['thread_asked']} asked, {first['thread_provided']} given" if first["thread_asked"] else "–"
    return [
        ", ".join(hosts),
        ", ".join(map(str, cpus)),
        level,
        _engine(part),
        bytes_text(float(part["network_bytes"].median())),
    ]


COUNTED = {"pm_counters": "whole nodes", "powercap": "processors"}


def _energy(part: pd.DataFrame) -> str:
    """Medians of the launches that ended well, between which their powers lie, and of what."""
    known = part[(part["status"] == "ok") & part["joules"].notna()]
    if not len(known):
        return "–"
    watts = known["watts"].astype(float)
    of = ", ".join(COUNTED.get(source, source) for source in sorted(set(known["energy_source"])))
    return f"{known['joules'].median():.4g} J, {watts.median():.4g} W ({watts.min():.4g} to {watts.max():.4g}), {of}"


def _unread(found: pd.DataFrame) -> str:
    why = found["energy_unread"].dropna()
    return f"The energy of {len(why)} of {len(found)} launches is not known ({why.iloc[0]})." if len(why) else ""


def _engine(part: pd.DataFrame) -> str:
    engines = [engine for engine in part["engine"] if isinstance(engine, dict)]
    if not engines:
        return "none loaded"
    inactive = [engine.get("reason") or "no reason given" for engine in engines if not engine.get("active")]
    words = f"{engines[0].get('preset')} {engines[0].get('version')}"
    return f"{words}: inactive in {len(inactive)} ({inactive[0]})" if inactive else f"{words}, active"


def noise(records: Records) -> Table:
    """Steal, soft interrupts and involuntary switches of the points, by MPI and variant; medians and worst."""
    rows = []
    points = records.points[records.points["status"] == "ok"]
    for (study, mpi, variant), part in frames.groups(points, ["study", "mpi", "variant"]):
        numbers = [part[name].dropna().astype(float) for name in ("steal_s", "softirq_s", "involuntary_switches")]
        cells = [
            f"{text(n.median(), d)} / {text(n.max(), d)}" if len(n) else "–"
            for n, d in zip(numbers, (3, 3, 0), strict=True)
        ]
        loose = int((part["converged"] == False).sum())  # noqa: E712
        rows.append([study, mpi, variant, *cells, f"{loose} of {len(part)}"])
    columns = ["study", "MPI", "variant", "steal (s)", "soft interrupts (s)", "involuntary switches", "not converged"]
    return {"columns": columns, "rows": rows}


def session(facts: dict[str, Any]) -> Table:
    """A session's provenance as name and value; what the harness did not say is not there."""
    shown = {**facts, "nodes": frames.alike_machines(facts.get("nodes") or [])}
    rows = [
        [name, value]
        for name, value in _flat(shown)
        if value not in ("", "None") and name not in ("expected", "schema")
    ]
    return {"title": str(facts["session"]), "rows": rows}


def _flat(value: Any, name: str = "") -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [
            pair for key, inner in value.items() for pair in _flat(inner, f"{name} {key}".strip().replace("_", " "))
        ]
    if isinstance(value, list):
        if name == "expected":
            return []
        return [(name, ", ".join(_words(item) for item in value))]
    return [(name, str(value))]


def _words(item: Any) -> str:
    return " ".join(f"{key}={inner}" for key, inner in item.items()) if isinstance(item, dict) else str(item)
