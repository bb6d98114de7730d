# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # From a regression to its cause
#
# Two sessions measured the same points, and the later one looks slower. Is that real, whom does it concern, which part
# of the time is it, and what is different? As it stands this notebook reads two sessions of the same command, the same
# engine and the same machine. **They hold no proven regression**: the answer to the first question is "cannot tell",
# and the rest shows where to look. No session of the repository holds a proven one. For others:
#
#     ./bench run --like BASE
#     ./bench notebook regression-to-cause --session "BASE latest"
#
# Behind the two may stand gates, of `./bench gate` or each one of a `./bench bisect`: they are shown where the question
# is, which commit it was. A gate that finds a slower engine can be had on any machine, as this engine is made so slow
# that it wakes once a second:
#
#     ./bench gate --base timer --new timer:timer_us=1000000 --minutes 3 \
#       --set pattern=both --set size_bytes=4194304 --set comp_over_comm=1
#     ./bench notebook regression-to-cause --session "BASE NEW latest"

# %% tags=["parameters"]
SESSION = ""  # BASE, NEW and any gates, with blanks between; empty: the reference sessions

# %%
import pandas as pd

from analysis.compare.comparison import Judgement
from analysis.compare.judge import compare
from analysis.compare.machines import differences
from analysis.measures import MetricAt
from analysis.metrics.places import STUDY
from analysis.notebook.book import Book, Sentence, show

book = Book("results/reference/overlap-mtu-9000 results/reference/overlap-mtu-1500", SESSION, least=2)
base, new = book.sessions[:2]
BASE, NEW = (facts["session"] for facts in book.records.sessions[:2])

# %% [markdown]
# ## Is it real?
#
# `./bench compare` judges each point by its launches, with one probability of a false alarm for the whole session. It
# refuses sessions of different machines or networks; here that is asked for, since the difference is what we look for.

# %%
comparison = compare(base, new, force=True)
table = pd.DataFrame(
    [
        {"MPI": it.mpi, "variant": it.variant, "point": it.point, "NEW / BASE": it.ratio, "verdict": it.verdict.value}
        for it in comparison.points
    ]
)
table

# %%
ratios = sorted(it.ratio for it in comparison.points if it.ratio == it.ratio)
book.states(
    "NEW takes [1.04] times as long at the middle one of [9] points, and the session as a whole is told to be: [cannot "
    "tell].",
    ratios[len(ratios) // 2] if ratios else None, len(ratios), comparison.verdict.value,
    holds=comparison.verdict is Judgement.CANNOT_TELL,
)  # fmt: skip

# %%
for reason in sorted({it.reason.partition(":")[0] for it in comparison.points}):
    print(reason)


# %%
def work(session):
    points = book.records.points
    mine = points[(points["session"] == session) & (points["mpi"] == "mpich")]
    return mine["work_units"].dropna().median()


book.states(
    "On MPICH each session calibrated its own computation, to be as long as the communication: NEW computes [1.04] "
    "times as much. Of the same work nothing is known to be slower.",
    work(NEW) / work(BASE),
    holds=work(NEW) > work(BASE),
)

# %% [markdown]
# ## Whom does it concern?
#
# If only the engine's variants took longer, the engine would be to blame. `bare` is the MPI without it.

# %%
bare, engine = (
    next((it.ratio for it in comparison.points if (it.mpi, it.variant) == ("mpich", variant)), None)
    for variant in ("bare", "adaptive")
)
book.states(
    "On MPICH `bare` takes [1.04] times as long as before, `adaptive` [1.04] times: it is not the engine.",
    bare, engine,
    holds=bare and engine and abs(engine / bare - 1) < comparison.margin,
)  # fmt: skip

# %% [markdown]
# ## Which part of the time is it?
#
# Communication and computation were each measured alone as well, with `bare`. The rest is what they do to each other:
# the efficiency, and how much longer the same computation takes beside the communication.

# %%
frame = book.evidence.metrics
alone = frame[(frame["variant"] == "bare") & (frame["metric"] == "overlap_efficiency")]
alone[["session", "mpi", "reference_comm_s", "reference_comp_s", "total_s", "value"]]

# %%
part = alone[alone["mpi"] == "mpich"].groupby("session")["reference_comm_s"].median()
book.states("MPICH's communication alone takes [34.2 ms] instead of [32.9 ms].", part.get(NEW), part.get(BASE))


# %%
def inflation(session):
    return book.value(MetricAt("compute_inflation", "adaptive"), STUDY, mpi="mpich", session=session)


before, now = inflation(BASE), inflation(NEW)
book.states(
    "With the engine the computation takes [1.09] times as long as alone, before that [1.09] times.",
    now, before,
    holds=before and now and now.low <= before.high and before.low <= now.high,
)  # fmt: skip

# %% [markdown]
# So the same bytes take longer on the wire, and the computation pays no more for them: what changed is below MPI.

# %% [markdown]
# ## What is different?

# %%
decisive, told = differences(*book.records.sessions[:2])
for sentence in (*decisive, *told):
    print(sentence)

# %%
versions = [facts.get("identity", {}).get("mpich engine", "") for facts in book.records.sessions[:2]]
networks = [str(facts.get("network")) for facts in book.records.sessions[:2]]
book.states(
    "The engine is the same and the network is not: its packets are smaller, so that there are more headers to send.",
    holds=versions[0] == versions[1] and "MTU 9000" in networks[0] and "MTU 1500" in networks[1],
)

# %% [markdown]
# ## Which commit?
#
# A gate holds an engine against another one by turns, in one allocation, and `./bench bisect` makes one for each commit
# that it has to look at. Where the sessions named above have gates, this is what they told: a candidate is slower where
# the verdict is `commit`. The reference sessions have none.

# %%
gates = book.gates()
gates

# %%
slower = sorted(set(gates.loc[gates["verdict"] == "commit", "candidate"]))
for candidate in slower:
    show(Sentence(f"Shown to be slower: `{candidate}`."))

# %% [markdown]
# ## What then
#
# A difference below MPI is mended there: set the nodes' packet size as it was, and measure once more with
# `./bench run --like BASE`, which does the work of BASE. Where the engine's commit had changed instead, `./bench gate`
# compares two commits by turns on the same nodes, which no change of the machine can disturb.
