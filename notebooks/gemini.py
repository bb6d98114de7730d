# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Strohbeen, Cray's Gemini interconnect (Sandia, 2011)
#
# The slides ask whether halos travel while miniGhost and miniFE compute, on a network that can read memory by itself.
# As it stands this notebook reads a session over TCP, where nothing does that. Another program took one of two cores
# beside it: its numbers show how this notebook works and are no result. Others:
#
#     ./bench run gemini --scale quick
#     ./bench notebook gemini --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference session

# %%
from analysis.catalogue import of_paper
from analysis.measures import Median, MetricAt, Ratio
from analysis.notebook.book import Book

book = Book("results/reference/miwa-gemini", SESSION)
POSTED = {"posting": "receives-first"}

# %% [markdown]
# ## What the slides say

# %%
book.published("gemini")

# %% [markdown]
# ## Conjugate gradient with and without overlap (study G1)

# %%
OFF, ON = ({"mode": mode, "barrier": False, "packets": False} for mode in ("blocking", "overlapped"))
dot = book.value(Ratio("allreduce_s", "bare", "bare", ON, OFF), "minife-packets", mpi="mpich")
book.states("With overlap the dot products take [0.77 (0.69 to 0.90)] times as long as without.", dot)

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
    "The slides' experiment saw no overlap. Here MPICH hides [0.02 (−0.95 to 0.15)] by itself and "
    "[0.28 (0.21 to 0.89)] with the engine.",
    bare, engine,
    holds=bare and engine and engine.low > bare.high,
)  # fmt: skip

# %% [markdown]
# ## A nonblocking miniGhost (study G5)

# %%
where = {"stencil": 27}
ratio = book.value(
    Ratio("elapsed_s", "bare", "bare", {"mode": "direct", **where}, {"mode": "nonblocking", **where}),
    "minighost-nonblocking",
    mpi="mpich",
)
book.states("All neighbours at once take [0.87 (0.76 to 0.95)] times as long as axis after axis.", ratio)

# %% [markdown]
# ## Claim by claim

# %%
claims = book.claims("gemini")
claims

# %%
book.states(
    "Reproduced: [2]; not reproduced: [2]; inconclusive: [4].",
    *(book.decided("gemini", decision) for decision in ("reproduced", "not reproduced", "inconclusive")),
)

# %% [markdown]
# ## The figures

# %%
for chapter in of_paper("gemini"):
    if chapter.recorded(book.records):
        book.draw(chapter)
