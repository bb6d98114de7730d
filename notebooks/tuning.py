# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Tuning: which settings of the engine?
#
# A preset of the engine takes settings, and which are best depends on what the program does. A session with a variant
# for each setting answers that by measurement, and so does a search of `./bench tune`. As it stands this notebook reads
# a session on MPICH's `MPI_Iallreduce`, of which the preset gains less than of other collectives. For one's own:
#
#     ./bench tune --mpi mpich --minutes 20
#     ./bench notebook tuning --session latest
#
# or, with settings of one's own choice:
#
#     ./bench run collective-overlap --variant bare,adaptive,timer:timer_us=500 --set launches=6

# %% tags=["parameters"]
SESSION = ""  # a session's name or folder; empty: the reference session

# %%
import pandas as pd

from analysis.measures import Median, Ratio
from analysis.notebook.book import Book, Picture, Sentence, show
from analysis.tuning import confirmation, figures, search_records
from analysis.words import point_words

book = Book("results/reference/collectives/iallreduce", SESSION)
STUDY = book.records.launches["study"].iloc[0]

# %% [markdown]
# ## A search
#
# A search tries many settings, so the one that leads was perhaps lucky. It is measured afresh, at points at which
# nothing was tuned, and those launches alone decide. Its whole account is `tuning/tuning.md` in the session.

# %%
for search in (search_records.read(session) for session in book.sessions if (session / "tuning").is_dir()):
    show(Sentence(confirmation.of(search).sentence))
    for drawn in figures.draw(search):
        show(Picture(drawn))

# %% [markdown]
# ## All settings
#
# The whole time of computation and communication, at every point, and over that of `bare`.

# %%
variants = [it for it in dict.fromkeys(book.records.launches["variant"]) if it != "bare"]
rows = [
    {"variant": it.variant, "MPI": it.mpi, "point": it.point, "of bare": it.interval.value,
     "from": it.interval.low, "to": it.interval.high}
    for variant in variants
    for it in Ratio("total_s", variant, "bare")(book.evidence, STUDY)
]  # fmt: skip
pd.DataFrame(rows)


# %%
def total(variant):
    return book.value(Median("total_s", variant), STUDY, mpi="mpich")


def against(variant, below="bare"):
    return book.value(Ratio("total_s", variant, below), STUDY, mpi="mpich")


book.states("`bare` takes [67.7 ms].", total("bare"))

# %%
preset = against("adaptive")
book.states("The preset `adaptive` takes [0.82 (0.80 to 1.10)] of that.", preset, holds=preset and preset.value < 1)

# %% [markdown]
# ## What was guessed, and what was not so
#
# The first guess was that the engine stops polling too early. Settings that let it poll longer, or never rest, should
# then be faster.

# %%
longer, never = against("adaptive:burst=20", "adaptive"), against("adaptive:rest_us=0", "adaptive")
book.states(
    "Bursts of more polls take [0.98 (0.74 to 1.05)] of the preset's time, an engine that never rests [0.98 (0.74 to "
    "1.11)]: neither interval is below one.",
    longer, never,
    holds=longer and never and longer.high >= 1 and never.high >= 1,
)  # fmt: skip

# %% [markdown]
# ## What it was
#
# An `MPI_Iallreduce` is made of steps that each need the one before. Each step waits for the engine's next wake, so
# that the distance between wakes counts, once a step. A timer with less distance should then be faster.

# %%
slow, fast = against("timer"), against("timer:timer_us=500")
book.states(
    "A timer as it is set by default takes [0.81] of `bare`; one that wakes four times as often [0.66].",
    slow, fast,
    holds=slow and fast and fast.value < slow.value,
)  # fmt: skip

# %%
direct = against("timer:timer_us=500", "adaptive")
book.states(
    "Against the preset it is [0.80 (0.61 to 0.92)], and the whole interval is below one.",
    direct,
    holds=direct and direct.high < 1,
)

# %% [markdown]
# ## What to take from it
#
# More wakes cost computation, so this is right for this collective and not for every program. Try it on the program
# itself: `./bench compare-program` runs it with the setting and without, by turns.

# %%
points = {point_words(point) for point in book.records.points["point"]}
sorted(points)
