# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # The papers: what each says, and what is measured here
#
# Five papers, a part each: what it says, what of it was measured, its claims and figures. As it stands this notebook
# reads sessions of virtual nodes on one machine with two cores, over TCP. Others, of one paper or of several:
#
#     ./bench run pioman --scale quick
#     ./bench notebook papers --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference sessions

# %%
from analysis.measures import Growth, Median, MetricAt, Ratio
from analysis.notebook.book import Book
from analysis.studies.ruhela import COLLECTIVE_OVERLAP
from analysis.subject import of_paper

book = Book(
    "results/reference/demo results/reference/n-load results/reference/miwa results/reference/collectives/two-nodes "
    "results/reference/context-switches results/reference/gemini",
    SESSION,
)
MB = 1 << 20


def claims(paper):
    """A paper's claims that these sessions can say something of."""
    found = book.claims(paper)
    return found[found["decision"] != "not measured"] if len(found) else found


def figures(paper):
    for subject in of_paper(paper):
        if subject.recorded(book.records):
            book.draw(subject)


# %% [markdown]
# ## Denis, pioman (PDP 2015)
#
# The paper lets idle cores and timers poll, so that messages move while the program computes. Its figures are repeated
# here on any MPI. The sessions are of the overlap ratio (figures 7 and 8) and of the latency beside computing threads
# (figure 12).

# %%
EQUAL = {"pattern": "both", "size_bytes": 4 * MB, "comp_over_comm": 1.0}


def at_equal(metric, variant, mpi, size=4 * MB):
    return book.value(MetricAt(metric, variant, {**EQUAL, "size_bytes": size}), "overlap-ratio", mpi=mpi)


# %% [markdown]
# ### What the paper says

# %%
book.published("pioman")

# %% [markdown]
# ### Overlap ratio (study P1)
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
# ### Latency beside computing threads (study P9)
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
# ### Claim by claim

# %%
claims("pioman")

# %%
book.states(
    "Reproduced: [2]; not reproduced: [1]; inconclusive: [10].",
    *(book.decided("pioman", decision) for decision in ("reproduced", "not reproduced", "inconclusive")),
)

# %% [markdown]
# ### The figures

# %%
figures("pioman")

# %% [markdown]
# ## Miwa et al., interference-aware message detection
#
# The paper asks how a thread should wait for a message without taking the core from a computation beside it: by
# spinning, by sleeping in the kernel, or by waiting on a cache line (`mwait`). The session
# is of a machine without hardware threads and without `mwait`: what the paper compares is not there.

# %%
SAME = {"placement": "same-core"}


def rate(detection, below="spin"):
    ratio = Ratio("mflops", "bare", "bare", {**SAME, "detection": detection}, {**SAME, "detection": below})
    return book.value(ratio, "interference", mpi="mpich")


# %% [markdown]
# ### What the paper says

# %%
book.published("miwa")

# %% [markdown]
# ### Computation beside a waiting thread (study M1)
#
# The waiting thread shares a hardware thread with the computation, which is the hardest case.

# %%
polite = rate("yield")
book.states(
    "Where the waiting thread gives up the core each time it has looked, the computation beside it runs [2.1] times as "
    "fast as where it spins.",
    polite,
    holds=polite and polite.low > 1,
)

# %%
sleeping = rate("futex")
book.states(
    "Where it sleeps in the kernel until the message is there, [0.9 (0.8 to 1.2)] times: no difference is shown, as it "
    "is woken for every message of a partner that never rests.",
    sleeping,
    holds=sleeping and sleeping.low < 1 < sleeping.high,
)

# %% [markdown]
# ### Latency of each way (study M2)

# %%
latency = book.value(
    Ratio("latency_s", "bare", "bare", {"detection": "futex"}, {"detection": "spin"}), "detection-latency", mpi="mpich"
)
book.states(
    "Woken by the kernel, the thread sees a message after [8.7] times as long as by spinning.",
    latency,
    holds=latency and latency.low > 1,
)

# %% [markdown]
# ### Claim by claim

# %%
claims("miwa")

# %%
book.states("Not testable without hardware threads and `mwait`: [2].", book.decided("miwa", "not testable here"))

# %% [markdown]
# ### The figures

# %%
figures("miwa")

# %% [markdown]
# ## Ruhela et al. (EuroMPI 2018)
#
# The paper wakes a progress thread only when there is something to do, and reports how much faster nonblocking
# collectives and applications become on hundreds of processes. The sessions
# on collectives and on context switches are of two ranks on two nodes.


# %%
def gain(collective, mpi, size=4 * MB):
    where = {"collective": collective, "size_bytes": size, "comp_over_comm": 1.0}
    return book.value(Ratio("total_s", "adaptive", "best own", where), COLLECTIVE_OVERLAP, mpi=mpi)


# %% [markdown]
# ### What the paper says

# %%
book.published("ruhela")

# %% [markdown]
# ### Nonblocking collectives beside a computation (study R1)
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
    MetricAt("overlap_efficiency", "bare", {"collective": "ibcast", "size_bytes": 4 * MB, "comp_over_comm": 1.0}),
    COLLECTIVE_OVERLAP,
    mpi="mpich",
)
book.states("By itself MPICH hides [−0.06 (−0.19 to 0.05)] of the broadcast.", efficiency, holds=efficiency)

# %% [markdown]
# ### Context switches (study R2)
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
# ### Claim by claim
#
# The paper's gains are those of hundreds of processes; fewer cannot decide them, and the table says so.

# %%
claims("ruhela")

# %%
book.states(
    "Reproduced: [0]; not testable on so few processes: [9].",
    *(book.decided("ruhela", decision) for decision in ("reproduced", "not testable here")),
)

# %% [markdown]
# ### The figures

# %%
figures("ruhela")

# %% [markdown]
# ## Fukuoka et al., MPI+myth (HPCC 2019)
#
# The paper gives all MPI calls of many user-level threads to one communication thread. The engine's variant `offload`
# does that for any MPI. Of its studies no session is kept: their messages are short, and none was measured on a line
# that limits such messages. Where a session has these studies, claims and figures below show them:
#
#     ./bench run fukuoka --scale quick

# %% [markdown]
# ### What the paper says

# %%
book.published("fukuoka")

# %% [markdown]
# ### Claim by claim

# %%
claims("fukuoka")

# %% [markdown]
# ### The figures

# %%
figures("fukuoka")

# %% [markdown]
# ## Strohbeen, Cray's Gemini interconnect (Sandia, 2011)
#
# The slides ask whether halos travel while miniGhost and miniFE compute, on a network that can read memory by itself.
# The session is over TCP, where nothing does that.

# %%
POSTED = {"posting": "receives-first"}

# %% [markdown]
# ### What the slides say

# %%
book.published("gemini")

# %% [markdown]
# ### Did the halo arrive before the wait? (study G2)


# %%
def early(variant, size):
    return book.value(Median("arrived_early", variant, {**POSTED, "size_bytes": size}), "early-arrival", mpi="mpich")


largest = max(
    book.records.points.loc[book.records.points["study"] == "early-arrival", "size_bytes"].dropna(), default=0
)
book.states(
    "Of the largest halos [0 %] had arrived with MPICH as it is, and [100 %] with the engine.",
    early("bare", largest), early("adaptive", largest),
)  # fmt: skip

# %% [markdown]
# ### Messages of many megabytes (study G4)

# %%
bare, engine = (
    book.value(MetricAt("overlap_efficiency", variant, {"comp_over_comm": 1.0}), "large-messages", mpi="mpich")
    for variant in ("bare", "adaptive")
)
book.states(
    "The slides' experiment saw no overlap. Here MPICH hides [−0.01 (−0.14 to 0.03)] by itself and "
    "[0.82 (0.72 to 0.90)] with the engine.",
    bare, engine,
    holds=bare and engine and engine.low > bare.high,
)  # fmt: skip

# %% [markdown]
# ### Whole programs, and what the computation pays (studies G1, G3 and G5)
#
# Of miniFE, of a nonblocking miniGhost, and of how much longer a computation takes beside a message no session is kept.
# Where a session has these studies, claims and figures below show them.

# %% [markdown]
# ### Claim by claim

# %%
claims("gemini")

# %%
book.states(
    "Reproduced: [1]; not reproduced: [1]; inconclusive: [1].",
    *(book.decided("gemini", decision) for decision in ("reproduced", "not reproduced", "inconclusive")),
)

# %% [markdown]
# ### The figures

# %%
figures("gemini")
