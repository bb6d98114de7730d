# SPDX-License-Identifier: BSD-3-Clause
"""Run time of send - inflated computation - receive against the computation, as Strohbeen's slides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from analysis.evidence import Evidence
from analysis.figures import style, toolkit
from analysis.figures.plot import Plot
from analysis.figures.toolkit import Drawn
from analysis.metrics.places import measured_ratio
from analysis.records import frames
from analysis.words import MPI_ORDER, bytes_text, in_order, mpi_title

SOURCE = "Strohbeen, Gemini, Sandia 2011, slides 'miniGhost and Computation Inflation'"


@dataclass(frozen=True)
class Runtime:
    """total / comm of a study against its computation: one figure a system."""

    study: str
    title: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = evidence.shown
        part = frame[(frame["study"] == self.study) & (frame["metric"] == "slowdown")]
        if "comp_over_comm" not in part or not part["value"].notna().any():
            return []
        several = part["system"].nunique() > 1
        return [
            _draw(self, _as_runtime(group), provenance, system if several else None)
            for (system,), group in frames.groups(part, ["system"])
            if group["value"].notna().any()
        ]


def _as_runtime(part: pd.DataFrame) -> pd.DataFrame:
    """total / comm from total / max(comp, comm), with its interval; one row of panels a size and posting."""
    part = part.assign(x=measured_ratio(part), posting=part.get("posting", pd.Series("receives-first", part.index)))
    longest = np.maximum(1, part["x"])
    scaled = {name: part[name] * longest for name in ("value", "low", "high")}
    return part.assign(**scaled).sort_values(["size_bytes", "posting", "x"])


@toolkit.styled
def _draw(spec: Runtime, part: pd.DataFrame, provenance: str, system: Any) -> Drawn:
    mpis = in_order(part["mpi"], MPI_ORDER)
    rows = list(dict.fromkeys(zip(part["size_bytes"], part["posting"], strict=True)))
    figure, axes = toolkit.panels(len(rows), len(mpis), 1.5 if len(rows) > 1 else 2.2)
    crossed = False
    for row, (size, posting) in enumerate(rows):
        for column, mpi in enumerate(mpis):
            chosen = (part["size_bytes"] == size) & (part["posting"] == posting) & (part["mpi"] == mpi)
            crossed |= _panel(axes[row, column], part[chosen], part["x"])
            axes[row, column].set_title(mpi_title(mpi) if row == 0 else "")
            axes[-1, column].set_xlabel("computation / communication")
        axes[row, 0].set_ylabel(f"total / comm\n({bytes_text(size)},\n{posting})")
    lines = {"flat until comp = comm: max(1, comp / comm)": style.IDEAL, "no overlap: 1 + comp / comm": style.SERIAL}
    toolkit.legend(figure, part, lines, crossed)
    caption = (
        f"{spec.title}: total / comm (lower is better; {SOURCE}). Each rank sends one halo to each neighbour, "
        "computes and receives; the total ends when all ranks are done. comm and comp are those of bare in the same "
        "session. "
        f"{toolkit.hidden_words(part, ['mpi', 'variant', 'point'])}{toolkit.interval_words(part)} {provenance}"
    )
    toolkit.footer(figure, caption)
    name = toolkit.slug(spec.study.replace("-", "_"), system)
    halos = zip(part["size_bytes"], part["posting"], strict=True)
    part = part.assign(halo=[f"{bytes_text(size)}, {posting}" for size, posting in halos])
    plot = Plot(
        x="x", x_label="computation / communication", y_label="total / comm", x_axis="number", row="halo",
        guides={"flat until comp = comm": lambda x: np.maximum(1, x), "no overlap: 1 + comp / comm": lambda x: 1 + x},
        order=tuple(style.STYLES),
    )  # fmt: skip
    return Drawn(name, spec.title, caption, figure, part, plot, _found(part) + toolkit.doubt_words(part))


def _panel(axes: Axes, part: pd.DataFrame, everywhere: pd.Series[float]) -> bool:
    """One MPI, size and posting; True if a cross was drawn."""
    fine = np.linspace(0, max(float(np.nanmax(everywhere)), 1.2) * 1.05, 100)
    axes.plot(fine, np.maximum(1, fine), **style.IDEAL)
    axes.plot(fine, 1 + fine, **style.SERIAL)
    axes.axvline(1, color="#cccccc", linewidth=0.6, zorder=0)
    level = 0
    for variant in in_order(part["variant"], style.STYLES):
        mine = toolkit.one_a_place(part[part["variant"] == variant], "point")
        toolkit.series(axes, mine["x"].to_numpy(float), mine, style.style(variant))
        level += toolkit.gaps(axes, mine["x"].to_numpy(float), mine, style.style(variant), level)
    return level > 0


def _found(part: pd.DataFrame) -> str:
    """total / comm of each MPI and variant at the point nearest to comp = comm, of the largest message."""
    size = part["size_bytes"].max()
    said = []
    for (mpi, variant), mine in frames.groups(part[(part["size_bytes"] == size)], ["mpi", "variant"]):
        good = mine[mine["value"].notna()]
        if len(good):
            nearest = good.loc[(good["x"] - 1).abs().idxmin()]
            said.append(f"{mpi_title(str(mpi))}, {variant}: {nearest['value']:.2f} at {nearest['x']:.2f}")
    return f"Total / communication at comp / comm, {bytes_text(size)}. {'; '.join(said)}." if said else ""
