# SPDX-License-Identifier: BSD-3-Clause
"""G2: the share of halos that were there before anybody waited for them."""

from __future__ import annotations

from analysis.claims.evidence import Evidence
from analysis.figures.curves import Curves
from analysis.figures.toolkit import Drawn

FIGURES = (
    Curves(
        name="early_arrival",
        study="early-arrival",
        title="Halos that had arrived before MPI_Wait was called",
        quantity="arrived_early",
        formula="share of the halos whose receive buffer, poisoned before, held the message completely when the wait "
        "began; on the rank with the fewest, median (higher is more asynchronous; Strohbeen, Gemini, "
        "Sandia 2011)",
        x="size_bytes",
        x_label="halo",
        x_axis="bytes",
        y_label="arrived early",
        row="posting",
        say="{:.0%}".format,
        log_y=False,
    ),
)


def draw(evidence: Evidence, provenance: str) -> list[Drawn]:
    """The figures of the studies that were run."""
    return [drawn for figure in FIGURES for drawn in figure.draw(evidence, provenance)]
