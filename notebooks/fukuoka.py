# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Fukuoka et al., MPI+myth (HPCC 2019)
#
# The paper gives all MPI calls of many user-level threads to one communication thread. The engine's variant `offload`
# does that for any MPI. As it stands this notebook reads a session of user-level threads on one core a node, where the
# communication thread has no core of its own. Others:
#
#     ./bench run fukuoka --scale quick
#     ./bench notebook fukuoka --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference session

# %%
from analysis.catalogue import of_paper
from analysis.measures import Ratio
from analysis.notebook.book import Book

book = Book("results/reference/ult-overlap", SESSION)
ULTS = {"threading": "ult"}

# %% [markdown]
# ## What the paper says

# %%
book.published("fukuoka")

# %% [markdown]
# ## Threads that communicate at once (study F1)
#
# The other way is to let all threads call MPI themselves (`bare-multiple`), which then takes locks.

# %%
ratios = [
    book.value(
        Ratio("mean_latency_s", "offload", "bare-multiple", {"threads": 8, **ULTS}), "concurrent-latency", mpi=mpi
    )
    for mpi in ("mpich", "openmpi", "intel-mpi")
]
book.states(
    "The mean latency of eight threads with `offload` over that with their own calls is [1.22] on MPICH, [1.16] on "
    "Open MPI and [1.00] on Intel MPI.",
    *ratios,
    holds=all(ratios),
)

# %% [markdown]
# ## Overlap by user-level threads, and two ways to wait (studies F2 and F3)
#
# Each thread exchanges a message, computes, and exchanges again, with blocking calls. A waiting thread is taken from
# the queue of ready threads, or put back into it. What either gives is not known here: no session that is kept has it
# on a line that limits messages of such sizes. Where a session has these studies, claims and figures below show them.

# %% [markdown]
# ## Claim by claim

# %%
claims = book.claims("fukuoka")
claims[claims["decision"] != "not measured"]

# %%
book.states(
    "Not testable with fewer than four cores: [6].",
    book.decided("fukuoka", "not testable here"),
)

# %% [markdown]
# ## The figures

# %%
for chapter in of_paper("fukuoka"):
    if chapter.recorded(book.records):
        book.draw(chapter)
