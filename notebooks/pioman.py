# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Denis, pioman (PDP 2015)
#
# The paper lets idle cores and timers poll, so that messages move while the program computes. Its figures are repeated
# here on any MPI. As it stands this notebook reads the sessions behind the overlap ratio (figures 7 and 8) and the
# latency beside computing threads (figure 12). Others:
#
#     ./bench run pioman --scale quick
#     ./bench notebook pioman --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference sessions

# %%
from analysis.catalogue import of_paper
from analysis.measures import Growth, Median, MetricAt
from analysis.notebook.book import Book

book = Book("results/reference/demo results/reference/n-load", SESSION)
MB = 1 << 20
EQUAL = {"pattern": "both", "size_bytes": 4 * MB, "comp_over_comm": 1.0}


def at_equal(metric, variant, mpi, size=4 * MB):
    return book.value(MetricAt(metric, variant, {**EQUAL, "size_bytes": size}), "overlap-ratio", mpi=mpi)


# %% [markdown]
# ## What the paper says

# %%
book.published("pioman")

# %% [markdown]
# ## Overlap ratio (study P1)
#
# The ratio is the whole time over the computation alone. Where the computation takes as long as the communication,
# perfect overlap is a ratio of one, and one after the other is two.

# %%
ratios = [at_equal("overlap_ratio", "adaptive", mpi) for mpi in ("mpich", "openmpi", "intel-mpi")]
book.states(
    "With the engine the ratio is [1.13] on MPICH, [1.11] on Open MPI and [1.14] on Intel MPI.",
    *ratios,
    holds=all(it and it.value < 1.2 for it in ratios),
)

# %%
mpich, openmpi = (at_equal("overlap_efficiency", "bare", mpi) for mpi in ("mpich", "openmpi"))
book.states(
    "The paper's MPIs did not overlap by themselves, and so it is here with MPICH (efficiency [0.00]) and Open MPI "
    "([−0.01]).",
    mpich, openmpi,
    holds=mpich and openmpi and max(mpich.high, openmpi.high) < 0.3,
)  # fmt: skip

# %%
short, long = (at_equal("overlap_efficiency", "bare", "intel-mpi", size * MB) for size in (4, 8))
book.states(
    "Over TCP Intel MPI does: with an efficiency of [0.87] at 4 MB, where the sockets' buffers take the whole message, "
    "and of [0.43] at 8 MB, which they do not.",
    short, long,
    holds=short and long and long.high < short.low,
)  # fmt: skip

# %% [markdown]
# ## Latency beside computing threads (study P9)
#
# The paper's nodes had more cores than computing threads for most of figure 12. With one core a node, every computing
# thread takes its turn before the thread that communicates, unless somebody looks for the message in their time.

# %%
growth = book.value(Growth("latency_s", "idle", "computing_threads"), "n-load", mpi="mpich")
alone = book.value(Growth("latency_s", "bare", "computing_threads"), "n-load", mpi="mpich")
book.states(
    "From no computing thread to the most, the median latency grows [1.29] times with the engine's idle threads and "
    "[27.6] times without the engine.",
    growth, alone,
    holds=growth and alone and growth.high < alone.low,
)  # fmt: skip

# %%
slowest = book.value(Median("excess_latency_s", "idle", {"computing_threads": 8}, "max"), "n-load", mpi="mpich")
book.states(
    "The slowest round trip beside eight computing threads takes [6.9 ms] longer than the slowest without load.",
    slowest,
    holds=slowest and slowest.value > 0,
)

# %% [markdown]
# ## Claim by claim

# %%
claims = book.claims("pioman")
claims[claims["decision"] != "not measured"]

# %%
book.states(
    "Reproduced: [2]; not reproduced: [1]; inconclusive: [9].",
    *(book.decided("pioman", decision) for decision in ("reproduced", "not reproduced", "inconclusive")),
)

# %% [markdown]
# ## The figures

# %%
for chapter in of_paper("pioman"):
    if chapter.recorded(book.records):
        book.draw(chapter)
