# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Miwa et al., interference-aware message detection
#
# The paper asks how a thread should wait for a message without taking the core from a computation beside it: by
# spinning, by sleeping in the kernel, or by waiting on a cache line (`mwait`). As it stands this notebook reads a
# session on a machine without hardware threads and without `mwait`: what the paper compares is not there. Others:
#
#     ./bench run miwa --scale quick
#     ./bench notebook miwa --session latest

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder (several with blanks between); empty: the reference session

# %%
from analysis.catalogue import of_paper
from analysis.measures import Ratio
from analysis.notebook.book import Book

book = Book("results/reference/miwa", SESSION)
SAME = {"placement": "same-core"}


def rate(detection, below="spin"):
    ratio = Ratio("mflops", "bare", "bare", {**SAME, "detection": detection}, {**SAME, "detection": below})
    return book.value(ratio, "interference", mpi="mpich")


# %% [markdown]
# ## What the paper says

# %%
book.published("miwa")

# %% [markdown]
# ## Computation beside a waiting thread (study M1)
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
# ## Latency of each way (study M2)

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
# ## Claim by claim

# %%
claims = book.claims("miwa")
claims

# %%
book.states(
    "Not testable without hardware threads and `mwait`: [2].",
    book.decided("miwa", "not testable here"),
)

# %% [markdown]
# ## The figures

# %%
for chapter in of_paper("miwa"):
    if chapter.recorded(book.records):
        book.draw(chapter)
