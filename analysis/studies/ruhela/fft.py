# SPDX-License-Identifier: BSD-3-Clause
"""R3: 3D fast Fourier transform."""

from __future__ import annotations

from analysis.chapter import Cause, Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Ratio
from analysis.studies.ruhela.common import PAPER

STUDY = "fft"
MODES = ("blocking", "pipelined", "chunked")
PIPELINED, BLOCKING = {"mode": "pipelined"}, {"mode": "blocking"}
SHARED_CORE = (
    "perfect overlap saves the shorter of the two parts, transforms or transposes, and the engine's thread and the "
    "kernel's copying take time from the core that transforms"
)
COMPUTING = "time outside of MPI calls, pipelined with adaptive / blocking and bare"

CLAIMS = (
    Claim(
        statement="The 3D FFT is 44 % faster",
        number="time, pipelined with adaptive / blocking with the best other MPI",
        operator="<=",
        threshold=0.56,
        margin=0.10,
        comparator="the best over all MPIs and their own asynchronous modes, with blocking transposes",
        source="abstract, P3DFFT, 448 processes",
        measure=Ratio("elapsed_s", "adaptive", "best other", PIPELINED, BLOCKING),
        figure="fft",
        requires=("448 processes",),
        cause=Cause(SHARED_CORE, COMPUTING, Ratio("comp_s", "adaptive", "bare", PIPELINED, BLOCKING)),
        since="2026-11-23 02:15",
    ),
    Claim(
        statement="A pipeline of transposes with the adaptive engine is 44 % faster than blocking ones",
        number="time, pipelined with adaptive / blocking and bare",
        operator="<=",
        threshold=0.56,
        margin=0.10,
        comparator="the same MPI, bare, with blocking transposes",
        source="our own, after the abstract, on as many nodes as the run is given",
        measure=Ratio("elapsed_s", "adaptive", "bare", PIPELINED, BLOCKING),
        figure="fft",
        cause=Cause(
            f"{SHARED_CORE}; in the first and the last stage of the pipeline nothing travels",
            COMPUTING,
            Ratio("comp_s", "adaptive", "bare", PIPELINED, BLOCKING),
        ),
        since="2026-11-23 02:15",
    ),
)

TIMES = Curves(
    name="fft",
    study=STUDY,
    title="3D Fourier transforms whose transposes travel alone or beside them",
    quantity="elapsed_s",
    formula="all fields forward and backward, in pencils; blocking: MPI_Alltoallv; pipelined: a field's transpose "
    "beside the transforms of the others; chunked: a chunk's beside those of the others of its field (lower is better; "
    "Ruhela et al., EuroMPI 2018)",
    x="mode",
    x_label="mode",
    x_axis="words",
    y_label="time",
    row="nx",
    apart=("fields", "field", "chunks"),
    order=MODES,
    log_y=False,
    words_of={
        "nx": lambda edge: f"{edge:g}³ points",
        "fields": lambda number: f"{number:g} field{'s' if number > 1 else ''}",
        "chunks": "{:g} chunks".format,
    },
)

CHAPTER = Chapter("R3", (STUDY,), PAPER, "3D fast Fourier transform", CLAIMS, (TIMES,))
