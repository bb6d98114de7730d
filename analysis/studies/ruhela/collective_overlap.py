# SPDX-License-Identifier: BSD-3-Clause
"""R1: nonblocking collectives that should progress beside a computation, and what the engine gains on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.chapter import Cause, Chapter, Claim
from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.curves import Curves
from analysis.figures.plot import Plot
from analysis.figures.sweep import Sweep
from analysis.figures.toolkit import Drawn
from analysis.measures import MetricAt, Ratio
from analysis.records import frames
from analysis.statistics.interval import Interval, simultaneous
from analysis.studies.ruhela.common import PAPER
from analysis.words import MPI_ORDER, bytes_text, in_order, mpi_title, plain

STUDY = "collective-overlap"
COLLECTIVES = ("ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather")
AT_EQUAL = {"comp_over_comm": 1.0}
PAPER_GAIN = {"all-to-one": 0.54, "one-to-all": 0.63, "all-to-all": 0.51}  # up to 46, 37 and 49 % less
BY_ITSELF = 0.5  # overlap efficiency of bare from which on the MPI is said to overlap by itself

CLAIMS = tuple(
    Claim(
        statement=f"{pattern.capitalize()} collectives are up to {percent} % better than the best other MPI",
        number=f"total, adaptive / best other MPI, best of the {pattern} collectives",
        operator="<=",
        threshold=1 - percent / 100,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes",
        source="abstract, 1,024 processes",
        measure=Ratio("total_s", "adaptive", "best other", {"pattern": pattern}),
        requires=("1024 processes",),
        up_to=True,
        cause=Cause(
            "perfect overlap of two equal parts saves 50 %, and what an MPI's sockets overlap by themselves nobody "
            "gains again; the engine's thread and the kernel's copying take time from the core that computes, and a "
            "collective of dependent steps waits for a wake of the engine at each (docs/measured/overlap.md)",
            "compute inflation with adaptive",
            MetricAt("compute_inflation", "adaptive", {"pattern": pattern, "comp_over_comm": 1.0}),
        ),
        since="2026-11-21 09:57",
    )
    for pattern, percent in (("all-to-one", 46), ("one-to-all", 37), ("all-to-all", 49))
)

OVERLAP = Curves(
    name="collective_overlap",
    study=STUDY,
    title="Nonblocking collectives beside a computation as long as they",
    quantity="total_s",
    formula="total: from the start until every rank is done, comp as long as the bare collective alone, the same "
    "work for every variant (lower is better; Ruhela et al., EuroMPI 2018)",
    x="collective",
    x_label="collective",
    x_axis="words",
    y_label="total",
    row="size_bytes",
    order=COLLECTIVES,
    where=AT_EQUAL,
    words_of={"size_bytes": bytes_text},
)


def gain(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The engine against the best of the same MPI's own modes: one figure a system."""
    found = evidence.choice.of(gains(evidence).assign(study=STUDY))
    if not len(found) or not found["value"].notna().any():
        return []
    several = found["system"].nunique() > 1
    parts = frames.groups(found, ["system"])
    return [_draw(part, provenance, system if several else None) for (system,), part in parts]


def gains(evidence: Evidence) -> pd.DataFrame:
    """Total of a collective with the engine over the best of the same MPI's own modes: a row an MPI and point.

    Of the same MPI alone, whose modes all do the same work; where they did not, the row has no value, and the reason.
    """
    points = evidence.points(STUDY)
    if not len(points):
        return points
    alone = _efficiency_of_bare(evidence)
    rows: list[dict[str, Any]] = []
    for pattern, name, size in points[["pattern", "collective", "size_bytes"]].drop_duplicates().to_numpy():
        where = {"collective": name, "size_bytes": size, **AT_EQUAL}
        for value in Ratio("total_s", "adaptive", "best own", where)(evidence, STUDY):
            found = value.interval
            rows.append({"session": value.session, "system": value.system, "mpi": value.mpi, "variant": "adaptive",
                         "collective": name, "pattern": pattern, "size_bytes": size, "value": found.value,
                         "low": found.low, "high": found.high, "interval": found.kind,
                         "defensible": found.defensible, "freedom": found.freedom,
                         "status": "ok" if np.isfinite(found.value) else "failed", "reason": value.caveat,
                         "efficiency_of_bare": alone.get((value.session, value.mpi, name, size))})  # fmt: skip
    return pd.DataFrame(rows)


def _efficiency_of_bare(evidence: Evidence) -> dict[tuple[str, str, str, int], float]:
    """What the MPI overlaps by itself: (session, MPI, collective, size) -> overlap efficiency at comp = comm."""
    frame = evidence.metrics
    if not len(frame) or "collective" not in frame:
        return {}
    chosen = frame[(frame["metric"] == "overlap_efficiency") & (frame["variant"] == "bare")]
    chosen = chosen[(chosen["study"] == STUDY) & (chosen["comp_over_comm"] == 1.0)]
    places = chosen[["session", "mpi", "collective", "size_bytes"]].itertuples(index=False, name=None)
    return dict(zip(places, chosen["value"], strict=True))


@toolkit.styled
def _draw(part: pd.DataFrame, provenance: str, system: Any) -> Drawn:
    mpis = in_order(part["mpi"], MPI_ORDER)
    sizes = sorted(part["size_bytes"].unique())
    figure, axes = toolkit.panels(len(sizes), len(mpis), 2.0)
    for row, size in enumerate(sizes):
        for column, mpi in enumerate(mpis):
            _panel(axes[row, column], part[(part["mpi"] == mpi) & (part["size_bytes"] == size)])
            axes[row, column].set_title(mpi_title(mpi) if row == 0 else "")
        axes[row, 0].set_ylabel(f"engine / best own mode\n({bytes_text(size)})")
    lines = {"the paper's best": {**style.IDEAL, "linestyle": "-"}, "as fast as without it": style.SERIAL}
    toolkit.legend_of(figure, [style.style("adaptive")], lines, False)
    title = "Nonblocking collectives: the engine against the best of the same MPI's own modes"
    caption = (
        f"{title}: median total with adaptive over the lesser of the median totals of bare and mpi-async, comp = comm "
        "(lower is better; Ruhela et al., EuroMPI 2018: up to 46, 37 and 49 % less, against all MPIs, at 1,024 "
        f"processes). {toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    by_mpi = frames.groups(part, ["mpi", "size_bytes"])
    found = " ".join(_found(mine, f"{mpi_title(mpi)}, {bytes_text(size)}") for (mpi, size), mine in by_mpi)
    found += " At comp = comm, perfect overlap saves 50 % of what runs serially." + toolkit.doubt_words(part)
    plot = Plot(
        x="collective", x_label="collective", y_label="engine / best own mode", x_axis="words", row="size_bytes",
        lines={"as fast as without it": 1.0}, order=COLLECTIVES,
    )  # fmt: skip
    return Drawn(toolkit.slug("collective_gain", system), title, caption, figure, part, plot, found)


def _found(part: pd.DataFrame, which: str) -> str:
    """ "MPICH, 4 MB: ... shorter ... by ibcast 47 % (45 to 49), .... The paper's best ... is reached by: ...; ..." """
    part = part.sort_values("collective", key=lambda names: names.map(COLLECTIVES.index))
    rows = frames.rows(part)
    measured = [row for row in rows if np.isfinite(row["value"])]
    less = ", ".join(f"{row['collective']} {_less(row)}" for row in measured)
    judged = [(row["collective"], _against_the_paper(row, len(measured))) for row in rows]
    told = "; ".join(f"{how} {_names(judged, how)}" for how in (REACHED, MISSED))
    told += "".join(f"; {how} {_names(judged, how)}" for how in (OPEN, NOTHING) if _names(judged, how) != NONE)
    itself = part["efficiency_of_bare"].astype(float) >= BY_ITSELF
    by_itself = ", ".join(dict.fromkeys(part.loc[itself, "collective"])) or NONE
    return (
        f"{which}: with the engine the total is shorter than in this MPI's own best mode by {less or '–'}. The paper's "
        f"best (46, 37, 49 %), decided by intervals that hold for all of these at the same time, is {told}. Overlapped "
        f"by the MPI itself (efficiency of bare at least {BY_ITSELF:g}): {by_itself}."
    )


REACHED, MISSED, OPEN, NOTHING = "reached by:", "missed by:", "cannot tell:", "no value:"
NONE = "none"


def _names(judged: Sequence[tuple[str, str]], how: str) -> str:
    return ", ".join(dict.fromkeys(name for name, found in judged if found == how)) or NONE


def _less(row: Mapping[str, Any]) -> str:
    """41 % (37 to 46)."""
    value, low, high = (plain(100 * (1 - row[name]), 0) for name in ("value", "high", "low"))
    return f"{value} % ({low} to {high})"


def _against_the_paper(row: Mapping[str, Any], points: int) -> str:
    """Whether a collective reaches the paper's best: only an interval that decides, over all collectives at once,
    says so."""
    if not np.isfinite(row["value"]):
        return NOTHING
    alone = Interval(*(row[name] for name in ("value", "low", "high", "interval", "defensible", "freedom")))
    found = simultaneous(alone, points)
    if row["reason"] or not found.defensible:
        return OPEN
    wanted = PAPER_GAIN[row["pattern"]]
    return REACHED if found.high <= wanted else MISSED if found.low > wanted else OPEN


def _panel(axes: Axes, panel: pd.DataFrame) -> None:
    x = np.array([COLLECTIVES.index(name) for name in panel["collective"]], float)
    toolkit.dots(axes, x, panel, style.style("adaptive"))
    wanted = np.array([PAPER_GAIN[kind] for kind in panel["pattern"]])
    axes.hlines(wanted, x - 0.3, x + 0.3, **{**style.IDEAL, "linestyle": "-"})
    axes.axhline(1.0, **style.SERIAL)
    axes.set_xticks(range(len(COLLECTIVES)), COLLECTIVES, rotation=30, ha="right")
    axes.set_ylim(bottom=0)


CHAPTER = Chapter("R1", (STUDY,), PAPER, "overlap of nonblocking collectives", CLAIMS, (OVERLAP, gain, Sweep(STUDY)))
