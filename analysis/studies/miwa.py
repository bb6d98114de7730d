# SPDX-License-Identifier: BSD-3-Clause
"""Miwa, Nakashima, Naruse, "Interference-aware incoming message detection for MPI threaded progression": M1 to M3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.evidence import Evidence, Value
from analysis.figures import toolkit
from analysis.figures.curves import Curves
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn, Plot
from analysis.measures import Ratio
from analysis.records import frames
from analysis.subject import Claim, Subject
from analysis.words import in_order, mpi_title, seconds_text

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
            _drawn(self, str(keys[1]) if self.victim else "", part, keys[0] if several else None, provenance)
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


def _drawn(spec: Detection, place: str, part: pd.DataFrame, system: str | None, provenance: str) -> Drawn:
    quantities = ["mflops", "latency_s"] if place else ["latency_s"]
    title = f"Ways to wait for a message: {spec.words}" + (f", waiting on {WHERE[place]}" if place else "")
    caption = (
        f"{title}. Half a round trip of 8 bytes (lower is better)"
        + ("; the sequential Himeno's rate meanwhile over its rate just before (1: undisturbed)" if place else "")
        + f"; Miwa et al.{_without(part)} {toolkit.interval_words(part)} {provenance}"
    )
    plot = Plot(
        x="cpu_share", x_label="share of a CPU taken by the waiting thread", y_label="", x_axis="number", log_y=True,
        series="detection", row="quantity", words=lambda value, _: QUANTITIES.get(str(value), mpi_title(str(value))),
        look=lambda method, _: toolkit.curve(ORDER.index(method), method), joined=False, order=ORDER,
        say="{:.3g}".format if place else seconds_text,
    )  # fmt: skip
    name = toolkit.slug(spec.study.replace("-", "_"), place, system)
    found = _found(part, quantities) + toolkit.doubt_words(part)
    return Drawn(name, title, caption, part[part["quantity"].isin(quantities)], plot, found)


def _without(part: pd.DataFrame) -> str:
    """The ways that have no value, with the reasons."""
    bad = part[part["value"].isna()].drop_duplicates("detection")
    by_reason = frames.groups(bad, ["reason"])
    said = [f"{', '.join(rows['detection'])} ({reason})" for (reason,), rows in by_reason]
    return f" No value: {'; '.join(said)}." if said else ""


def _found(part: pd.DataFrame, quantities: list[str]) -> str:
    """ "MPICH: spin 50 % of a CPU, rate 0.51, latency 1.2 ms; ..." """
    said = []
    for (mpi,), mine in frames.groups(part, ["mpi"]):
        words = []
        for method in in_order(part.loc[part["value"].notna(), "detection"], ORDER):
            rows = {q: mine[(mine["quantity"] == q) & (mine["detection"] == method)] for q in quantities}
            good = {q: rows[q].iloc[0] for q in quantities if rows[q]["value"].notna().any()}
            if "latency_s" in good:
                rate = f", rate {good['mflops']['value']:.2f}" if "mflops" in good else ""
                row = good["latency_s"]
                latency = seconds_text(row["value"])
                words.append(f"{method} {100 * row['cpu_share']:.0f} % of a CPU{rate}, latency {latency}")
        said.append(f"{mpi_title(str(mpi))}: {'; '.join(words)}")
    return ". ".join(said) + "."


PAPER = "Miwa et al., MWAIT"


@dataclass(frozen=True)
class Between(Ratio):
    """Between two nodes, as in the paper: within one a wake is a large part of what it measures."""

    def __call__(self, evidence: Evidence, study: str) -> Sequence[Value]:
        return super().__call__(evidence, study) if study.endswith("-network") else []


SIBLING = {"placement": "smt-sibling"}

M1_CLAIMS = (
    Claim(
        statement="Waiting with mwait instead of spinning makes the sibling's computation 26 % faster, or a tenth less",
        number="Himeno's rate with mwait / with spin on the SMT sibling",
        operator=">=",
        threshold=1.26,
        margin=0.026,
        comparator="spin",
        source="results b and abstract, over InfiniBand between two nodes",
        measure=Between(
            "mflops", "bare", "bare", {**SIBLING, "detection": "mwait-c1"}, {**SIBLING, "detection": "spin"}
        ),
        requires=("smt", "mwait", "rdma"),
        since="2026-11-29 02:30",
    ),
)

M1_FIGURES = (
    Detection("interference", "partner on the same node", victim=True),
    Detection("interference-network", "partner on another node", victim=True),
)

M1 = Subject(
    "M1", ("interference", "interference-network"), PAPER, "computation beside a waiting thread", M1_CLAIMS, M1_FIGURES
)


M2_CLAIMS = (
    Claim(
        statement="Detection by mwait makes the ping-pong only slightly slower",
        number="median latency with mwait / with spin",
        operator="<=",
        threshold=1.0,
        margin=0.25,
        comparator="spin",
        source="results a and abstract, over InfiniBand between two nodes",
        measure=Between("latency_s", "bare", "bare", {"detection": "mwait-c1"}, {"detection": "spin"}),
        requires=("smt", "mwait", "rdma"),
        since="2026-11-29 02:30",
    ),
)

M2_FIGURES = (
    Detection("detection-latency", "partner on the same node, nobody computes", victim=False),
    Detection("detection-latency-network", "partner on another node, nobody computes", victim=False),
)

M2 = Subject(
    "M2",
    ("detection-latency", "detection-latency-network"),
    PAPER,
    "latency of each way to detect a message",
    M2_CLAIMS,
    M2_FIGURES,
)


PLACEMENTS = ("shared", "smt-sibling", "dedicated")
M3_FIGURES = tuple(
    Curves(
        name=name,
        study=study,
        title=title,
        quantity="elapsed_s",
        formula="time of a repetition, all ranks (lower is better; Miwa et al., future plan: measured, nothing was "
        "claimed)",
        x="placement",
        x_label="where progress runs",
        x_axis="words",
        y_label="time",
        log_y=False,
        order=PLACEMENTS,
        meanings={"shared": "same CPU", "smt-sibling": "SMT sibling", "dedicated": "another core"},
    )
    for name, study, title in (
        ("placement_minighost", "placement", "miniGhost, halos beside the computation, against the place of progress"),
        ("placement_himeno", "placement-himeno", "Himeno, nothing to overlap, against the place of progress"),
    )
)

M3 = Subject(
    "M3",
    ("placement", "placement-himeno"),
    PAPER,
    "a dedicated core against SMT against sharing",
    figures=M3_FIGURES,
    note="the paper's future plan: measured, nothing was claimed",
)


SUBJECTS = (M1, M2, M3)
