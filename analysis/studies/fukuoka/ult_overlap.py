# SPDX-License-Identifier: BSD-3-Clause
"""F2: Overlap by user-level threads."""

from __future__ import annotations

from analysis.chapter import Chapter, Claim
from analysis.figures.curves import Curves
from analysis.measures import Growth
from analysis.studies.fukuoka.common import PAPER, THREADING, ULTS

CLAIMS = (
    Claim(
        statement="The time that communication adds shrinks as computation grows",
        number="whole time − computation, largest MAT_SIZE / smallest, offload",
        operator="<=",
        threshold=1.0,
        margin=0.0,
        comparator="the smallest computation",
        source="slide 'Overlap Benchmark Result'",
        measure=Growth("remainder_s", "offload", "mat_size", ULTS),
        since="2026-11-21 16:04",
    ),
)

FIGURES = (
    Curves(
        name="ult_overlap",
        study="ult-overlap",
        title="What communication adds to the computation of many threads that make blocking calls",
        quantity="remainder_s",
        formula="whole time less the time of the same computation alone; each thread exchanges, computes, exchanges "
        "(lower is better; Fukuoka et al., MPI+myth, HPCC 2019)",
        x="mat_size",
        x_label="computation of a thread (units of about 1 µs)",
        y_label="whole time − computation",
        log_y=False,
        row="threading",
        meanings=THREADING,
    ),
)

CHAPTER = Chapter("F2", ("ult-overlap",), PAPER, "overlap by user-level threads", CLAIMS, FIGURES)
