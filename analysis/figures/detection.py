# SPDX-License-Identifier: BSD-3-Clause
"""A victim's rate and the message's latency against the CPU time that each way of waiting takes."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.plot import Plot
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn
from analysis.records import frames
from analysis.words import MPI_ORDER, in_order, mpi_title, seconds_text

ORDER = ("spin", "pause", "yield", "sleep", "epoll", "futex", "mwait-c0", "mwait-c1")
QUANTITIES = {"mflops": "Himeno's rate / its rate alone", "latency_s": "latency (s)"}
WHERE = {"same-core": "the same hardware thread", "smt-sibling": "the core's other hardware thread",
         "same-l3": "another core", "other-socket": "another socket"}  # fmt: skip


@dataclass(frozen=True)
class Detection:
    """What each way of waiting takes and gives: a figure a system, and with a victim one a place of the thread."""

    study: str
    words: str  # where the partner is
    victim: bool  # whether somebody computes beside the thread that waits

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = _frame(evidence, self.study)
        if not len(frame) or not frame["value"].notna().any():
            return []
        several = frame["system"].nunique() > 1
        by = ["system", "placement"] if self.victim else ["system"]
        return [
            _draw(self, str(keys[1]) if self.victim else "", part, keys[0] if several else None, provenance)
            for keys, part in frames.groups(frame, by)
            if part["value"].notna().any()
        ]


def _frame(evidence: Evidence, study: str) -> pd.DataFrame:
    """Latency and the victim's rate over its rate alone, each with the median CPU share of its point."""
    shares = summary(evidence, study, "cpu_share").set_index(["session", "system", "mpi", "point"])
    alone = summary(evidence, study, "alone_mflops").set_index(["session", "system", "mpi", "point"])
    parts = []
    for quantity in ("mflops", "latency_s"):
        part = summary(evidence, study, quantity, quantities=True)
        if not len(part):
            return part
        places = pd.MultiIndex.from_frame(part[["session", "system", "mpi", "point"]])
        part["cpu_share"] = shares["value"].reindex(places).to_numpy()
        if quantity == "mflops":
            base = alone["value"].reindex(places).to_numpy()
            part[["value", "low", "high"]] = part[["value", "low", "high"]].div(base, axis=0)
        parts.append(part)
    return pd.concat(parts)


@toolkit.styled
def _draw(spec: Detection, place: str, part: pd.DataFrame, system: str | None, provenance: str) -> Drawn:
    quantities = ["mflops", "latency_s"] if place else ["latency_s"]
    mpis = in_order(part["mpi"], MPI_ORDER)
    methods = in_order(part.loc[part["value"].notna(), "detection"], ORDER)
    figure, axes = toolkit.panels(len(quantities), len(mpis), 2.0)
    for row, quantity in enumerate(quantities):
        for column, mpi in enumerate(mpis):
            panel = part[(part["mpi"] == mpi) & (part["quantity"] == quantity)]
            _panel(axes[row, column], panel, methods, quantity)
            axes[row, column].set_title(mpi_title(mpi) if row == 0 else "")
            axes[-1, column].set_xlabel("share of a CPU taken by the waiting thread")
        axes[row, 0].set_ylabel("Himeno's rate\n/ its rate alone" if quantity == "mflops" else "latency")
    toolkit.legend_of(figure, [style.curve(ORDER.index(method), method) for method in methods], {}, False)
    title = f"Ways to wait for a message: {spec.words}" + (f", waiting on {WHERE[place]}" if place else "")
    caption = (
        f"{title}. Half a round trip of 8 bytes (lower is better)"
        + ("; the sequential Himeno's rate meanwhile over its rate just before (1: undisturbed)" if place else "")
        + f"; Miwa et al.{_without(part)} {toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    name = toolkit.slug(spec.study.replace("-", "_"), place, system)
    plot = Plot(
        x="cpu_share", x_label="share of a CPU taken by the waiting thread", y_label="", x_axis="number", log_y=True,
        series="detection", row="quantity", words=lambda value, _: QUANTITIES.get(str(value), mpi_title(str(value))),
        look=lambda method, _: style.curve(ORDER.index(method), method), joined=False, order=ORDER,
    )  # fmt: skip
    return Drawn(name, title, caption, figure, part[part["quantity"].isin(quantities)], plot,
                 _found(part, quantities, methods) + toolkit.doubt_words(part))  # fmt: skip


def _without(part: pd.DataFrame) -> str:
    """The ways that have no value, with the reasons."""
    bad = part[part["value"].isna()].drop_duplicates("detection")
    by_reason = frames.groups(bad, ["reason"])
    said = [f"{', '.join(rows['detection'])} ({reason})" for (reason,), rows in by_reason]
    return f" No value: {'; '.join(said)}." if said else ""


def _panel(axes: Axes, panel: pd.DataFrame, methods: list[str], quantity: str) -> None:
    for method in methods:
        mine = panel[panel["detection"] == method]
        toolkit.dots(axes, mine["cpu_share"].to_numpy(float), mine, style.curve(ORDER.index(method), method))
    axes.set_xlim(-0.03, 1.05)
    if quantity == "mflops":
        axes.set_ylim(bottom=0)
    elif panel["value"].gt(0).any():
        toolkit.log_y(axes, seconds_text)


def _found(part: pd.DataFrame, quantities: list[str], methods: list[str]) -> str:
    """ "MPICH: spin 50 % of a CPU, rate 0.51, latency 1.2 ms; ..." """
    said = []
    for (mpi,), mine in frames.groups(part, ["mpi"]):
        words = []
        for method in methods:
            rows = {q: mine[(mine["quantity"] == q) & (mine["detection"] == method)] for q in quantities}
            good = {q: rows[q].iloc[0] for q in quantities if rows[q]["value"].notna().any()}
            if "latency_s" in good:
                rate = f", rate {good['mflops']['value']:.2f}" if "mflops" in good else ""
                row = good["latency_s"]
                latency = seconds_text(row["value"])
                words.append(f"{method} {100 * row['cpu_share']:.0f} % of a CPU{rate}, latency {latency}")
        said.append(f"{mpi_title(str(mpi))}: {'; '.join(words)}")
    return ". ".join(said) + "."
