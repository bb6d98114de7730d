# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Does MPI progress on my cluster?
#
# A program posts a message, computes, and waits for the message. Does the message move while the program computes? This
# notebook answers that for one session. As it stands it reads the session of `./bench demo` that is in this repository.
# For a cluster, describe it, measure there, and open this notebook on what was measured:
#
#     ./bench site new mycluster
#     ./bench run overlap-ratio --system mycluster.py:batch --variant bare,mpi-async,adaptive --scale paper
#     ./bench notebook does-mpi-progress --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder; empty: the reference session

# %%
import pandas as pd

from analysis.measures import MetricAt
from analysis.metrics.evaluate import STUDY, at_equal
from analysis.notebook.book import Book
from analysis.report.sentences import verdict
from analysis.words import bytes_text, mpi_title

book = Book("results/reference/demo", SESSION)
EQUAL = {"pattern": "both", "comp_over_comm": 1.0}
MB = 1 << 20


def efficiency(variant, mpi, size=8 * MB, metric="overlap_efficiency"):
    return book.value(MetricAt(metric, variant, {**EQUAL, "size_bytes": size}), STUDY, mpi=mpi)


# %% [markdown]
# ## The answer in words
#
# *Overlap efficiency* says how much of the shorter of the two, computation and communication, was hidden behind the
# longer one: one is perfect, zero is one after the other. *Inflation* says what the computation paid for it.

# %%
print(verdict(book.evidence.metrics, book.evidence.records.simulated).text())

# %% [markdown]
# ## All points where the computation takes as long as the communication
#
# Only there is the efficiency easy to read: with much less computation, or much more, there is little to hide.

# %%
equal = at_equal(book.evidence.metrics)
equal = equal[(equal["metric"] == "overlap_efficiency") & equal["value"].notna()]
table = pd.DataFrame(
    {
        "MPI": equal["mpi"].map(mpi_title),
        "message": equal["size_bytes"].map(bytes_text),
        "pattern": equal["pattern"],
        "variant": equal["variant"],
        "efficiency": equal["value"].round(2),
        "from": equal["low"].round(2),
        "to": equal["high"].round(2),
        "launches": equal["launches"],
    }
)
table

# %% [markdown]
# ## What it says
#
# An MPI that sends a message at once hands the kernel what fits the sockets' buffers, and the rest waits until the
# program calls MPI again. One that asks the receiver first sends nothing before the answer, for which the program must
# call MPI, too.

# %%
mpich, openmpi, intel = (efficiency("bare", mpi) for mpi in ("mpich", "openmpi", "intel-mpi"))
book.states(
    "Of a message of 8 MB MPICH hides [0.02] by itself, Open MPI [0.01], Intel MPI [0.43 (0.33 to 0.51)].",
    mpich, openmpi, intel,
    holds=mpich and mpich.high < 0.5,
)  # fmt: skip

# %%
engine = [efficiency("adaptive", mpi) for mpi in ("mpich", "openmpi", "intel-mpi")]
book.states(
    "With the engine (variant `adaptive`) it is [0.87], [0.80] and [0.82]: on each of the three most of it.",
    *engine,
    holds=all(it and it.low > 0.7 for it in engine),
)

# %%
limit = efficiency("limit", "mpich")
book.states("A program that moves the same bytes without MPI reaches [0.87 (0.81 to 0.94)].", limit, holds=limit)

# %%
paid = efficiency("adaptive", "mpich", metric="compute_inflation")
book.states(
    "On MPICH the computation takes [1.12] times as long with the engine, since one core does both.",
    paid,
    holds=paid and paid.low > 1,
)

# %%
own = efficiency("mpi-async", "mpich")
book.states(
    "MPICH's own progress thread does not help on one core: it hides [−0.08 (−0.10 to 0.00)].",
    own,
    holds=own and own.high < 0.5,
)

# %% [markdown]
# ## The figures

# %%
from analysis.studies.pioman import P1 as SUBJECT

book.draw(SUBJECT)
