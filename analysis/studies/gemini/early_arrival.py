# SPDX-License-Identifier: BSD-3-Clause
"""G2: Did the halo arrive before MPI_Wait."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Median
from analysis.studies.gemini.common import PAPER

CLAIMS = (
    Claim(
        statement="The halo has changed before MPI_Wait is called",
        number="share of halos that had arrived when MPI_Wait was called, bare, receives pre-posted",
        operator=">=",
        threshold=1.0,
        margin=0.10,
        comparator="every halo",
        source="slide 'miniGhost Receives Data Values before MPI_Wait is Called'",
        measure=Median("arrived_early", "bare", {"posting": "receives-first"}),
        figure="early_arrival",
        cause=Cause(
            "nothing moves a message into the program's memory while it computes, unless somebody polls beside it: "
            "what the network has brought is still in the kernel's sockets. The engine's thread does poll, and halos "
            "arrive whose computation is longer than some tens of microseconds, which a wake of it takes",
            "the same share with adaptive",
            Median("arrived_early", "adaptive", {"posting": "receives-first"}),
        ),
        since="2026-11-21 09:57",
    ),
)

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

CHAPTER = Chapter("G2", ("early-arrival",), PAPER, "did the halo arrive before MPI_Wait", CLAIMS, FIGURES)
