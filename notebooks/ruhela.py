# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Ruhela et al. (EuroMPI 2018)
#
# The paper wakes a progress thread only when there is something to do, and reports how much faster nonblocking
# collectives and applications become on hundreds of processes. As it stands this notebook reads the sessions on
# collectives and on context switches, of two ranks on two nodes. Others:
#
#     ./bench run ruhela --scale quick
#     ./bench notebook ruhela --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference sessions

# %%
from analysis.catalogue import of_paper
from analysis.measures import Median, MetricAt, Ratio
from analysis.notebook.book import Book
from analysis.studies.ruhela import COLLECTIVE_OVERLAP as STUDY

book = Book("results/reference/collectives/two-nodes results/reference/context-switches", SESSION)
MB4 = 4 << 20


def gain(collective, mpi, size=MB4):
    where = {"collective": collective, "size_bytes": size, "comp_over_comm": 1.0}
    return book.value(Ratio("total_s", "adaptive", "best own", where), STUDY, mpi=mpi)


# %% [markdown]
# ## What the paper says

# %%
book.published("ruhela")

# %% [markdown]
# ## Nonblocking collectives beside a computation (study R1)
#
# The numbers are the whole time with the engine over that of the same MPI's best own mode. Perfect overlap of two equal
# parts halves the time, if the MPI by itself overlaps nothing.

# %%
bcast, alltoall = gain("ibcast", "mpich"), gain("ialltoall", "mpich")
book.states(
    "On MPICH a broadcast of 4 MB takes [0.56] of the time, an all-to-all [0.60].",
    bcast, alltoall,
    holds=bcast and bcast.high < 1,
)  # fmt: skip

# %%
efficiency = book.value(
    MetricAt("overlap_efficiency", "bare", {"collective": "ibcast", "size_bytes": MB4, "comp_over_comm": 1.0}),
    STUDY,
    mpi="mpich",
)
book.states("By itself MPICH hides [−0.06 (−0.19 to 0.05)] of the broadcast.", efficiency, holds=efficiency)

# %% [markdown]
# ## Context switches (study R2)
#
# A thread that sleeps until something is pending should not switch at all while nothing is.

# %%
pending = book.value(Median("switches_per_s", "adaptive", {"pending": True}), "context-switches", mpi="mpich")
silent = book.value(Median("switches_per_s", "adaptive", {"pending": False}), "context-switches", mpi="mpich")
book.states(
    "The engine's threads switch [772] times a second while a message is pending, and [0] times while nothing is.",
    pending, silent,
    holds=pending and silent and silent.value < pending.value,
)  # fmt: skip

# %% [markdown]
# ## Claim by claim
#
# The paper's gains are those of hundreds of processes; fewer cannot decide them, and the table says so.

# %%
claims = book.claims("ruhela")
claims[claims["decision"] != "not measured"]

# %%
book.states(
    "Reproduced: [0]; not testable on so few processes: [9].",
    *(book.decided("ruhela", decision) for decision in ("reproduced", "not testable here")),
)

# %% [markdown]
# ## The figures

# %%
for chapter in of_paper("ruhela"):
    if chapter.recorded(book.records):
        book.draw(chapter)
