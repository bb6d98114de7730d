# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # From a regression to its cause
#
# Two sessions measured the same points, and the later one looks slower. Is that real, whom does it concern, which part
# of the time is it, and what is different? As it stands this notebook reads two sessions of the same command, the same
# engine and the same machine: of these "cannot tell" is the answer, and the rest shows where to look. A third session
# is a gate that proved a regression: of an engine that was made to wake once a second. For others:
#
#     ./bench run --like BASE
#     ./bench notebook regression-to-cause --session "BASE latest"
#
# Behind the two may stand gates, of `./bench gate` or each one of a `./bench bisect`: they are shown where the question
# is, which engine it was. The one that is kept here was made by
#
#     ./bench gate --base timer --new timer:timer_us=1000000 --minutes 1.5 --margin 5% \
#       --set pattern=both --set size_bytes=4194304 --set comp_over_comm=1
#     ./bench notebook regression-to-cause --session "BASE NEW latest"

# %% tags=["parameters"]
SESSION = ""  # BASE, NEW and any gates, with blanks between; empty: the reference sessions

# %%
import statistics

import pandas as pd

from analysis.compare.comparison import Judgement
from analysis.compare.missing import differences
from analysis.compare.point_tests import compare
from analysis.gate.gate_records import read
from analysis.gate.judge import judge
from analysis.measures import MetricAt
from analysis.metrics.evaluate import STUDY
from analysis.notebook.book import Book, Sentence, show
from analysis.statistics.interval import Interval

book = Book(
    "results/reference/overlap/overlap-mtu-9000 results/reference/overlap/overlap-mtu-1500 "
    "results/reference/gate-timer",
    SESSION,
    least=2,
)
base, new = book.sessions[:2]
names = [facts["session"] for facts in book.records.sessions]
BASE, NEW = names[:2]

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
# ## Which engine?
#
# A gate holds an engine against another one by turns, in one allocation, and `./bench bisect` makes one for each commit
# that it has to look at. Where the sessions named above have gates, this is what they told: a candidate is slower where
# the verdict is `commit`. It is judged here once more, from the gate's records.

# %%
gates = book.gates()
gates

# %%
judged = {
    name: judge(read(path)) for name, path in zip(names, book.sessions, strict=True) if name in set(gates["session"])
}
first = next(iter(judged.values()), None)
slowest = max(first.points, key=lambda it: it.ratio) if first and first.points else None
book.states(
    "A gate of [12] rounds told [commit]: the candidate takes [1.88 (1.85 to 1.89)] times as long as the baseline, the "
    "baseline's own copy [1.00] times.",
    first and first.rounds,
    first and first.verdict.value,
    slowest and Interval(slowest.ratio, slowest.low, slowest.high, "", True),
    slowest and slowest.control,
    holds=slowest and slowest.slower,
)

# %%
slower = sorted(set(gates.loc[gates["verdict"] == "commit", "candidate"]))
for candidate in slower:
    show(Sentence(f"Shown to be slower: `{candidate}`."))

# %% [markdown]
# ## What made it slow?
#
# Each launch of a gate has the engine's own report, with every setting and what the engine did, and the program's own
# times. So the two engines can be compared, and the two programs.

# %%
launches = book.records.launches
launches = launches[launches["session"] == (first.session if first else None)]


def engines(side):
    return list(launches.loc[launches["side"] == side, "engine"].dropna())


def did(side, what):
    return statistics.median(counts) if (counts := [it[what] for it in engines(side)]) else None


def seconds(side, quantity):
    mine = book.records.samples[book.records.samples["launch"].isin(launches.loc[launches["side"] == side, "launch"])]
    return mine.loc[mine["quantity"] == quantity, "value"].median()


parts = [seconds(side, part) for part in ("comp_in_s", "wait_s") for side in ("base", "new")]
computing, waiting = parts[1] - parts[0], parts[3] - parts[2]
book.states(
    "The program computes for [34.7 ms] with the baseline and for [32.8 ms] with the candidate, and then waits for its "
    "message for [629 µs] and [32.9 ms]: what grew is mostly [the wait].",
    *parts,
    "the wait" if waiting > computing else "the computation",
)

# %%
counts = [did(side, what) for what in ("wakes", "productive_polls") for side in ("base", "new")]
book.states(
    "In a launch the engine woke [222] times with the baseline and [0] times with the candidate, and [21] and [0] of "
    "its polls moved something.",
    *counts,
)

# %%
before, after = ((engines(side) or [{"settings": {}}])[0]["settings"] for side in ("base", "new"))
other = [f"{name}={text} and not {before[name]}" for name, text in after.items() if before.get(name, text) != text]
book.states(
    "Among the candidate's settings is different: [timer_us=1000000 and not 2000].",
    (", ".join(other) or "none") if after else None,
)

# %% [markdown]
# ## What then
#
# A difference below MPI is mended there: set the nodes' packet size as it was, and measure once more with
# `./bench run --like BASE`, which does the work of BASE. Where the engine's commit had changed instead, `./bench gate`
# compares two commits by turns on the same nodes, which no change of the machine can disturb.
