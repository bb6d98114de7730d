# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Strohbeen, Cray's Gemini interconnect (Sandia, 2011)
#
# The slides ask whether halos travel while miniGhost and miniFE compute, on a network that can read memory by itself.
# As it stands this notebook reads a session over TCP, where nothing does that: two virtual nodes of one machine, on
# which nothing else ran. Others:
#
#     ./bench run gemini --scale quick
#     ./bench notebook gemini --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference session

# %%
from analysis.catalogue import of_paper
from analysis.measures import Median, MetricAt
from analysis.notebook.book import Book

book = Book("results/reference/gemini", SESSION)
POSTED = {"posting": "receives-first"}

# %% [markdown]
# ## What the slides say

# %%
book.published("gemini")

# %% [markdown]
# ## Did the halo arrive before the wait? (study G2)


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
# ## Messages of many megabytes (study G4)

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
# ## Whole programs, and what the computation pays (studies G1, G3 and G5)
#
# Of miniFE, of a nonblocking miniGhost, and of how much longer a computation takes beside a message no session is kept.
# Where a session has these studies, claims and figures below show them.

# %% [markdown]
# ## Claim by claim

# %%
claims = book.claims("gemini")
claims

# %%
book.states(
    "Reproduced: [0]; not reproduced: [1]; inconclusive: [1].",
    *(book.decided("gemini", decision) for decision in ("reproduced", "not reproduced", "inconclusive")),
)

# %% [markdown]
# ## The figures

# %%
for chapter in of_paper("gemini"):
    if chapter.recorded(book.records):
        book.draw(chapter)
