# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a model, from records of the real system: two ranks, a message or a collective, with and without work.

What each number is made of stands beside it in the model's file (`from`). What no record says is an error: nothing is
assumed silently. docs/explanation/simulation.md explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import UsageError
from analysis.records.load import Records
from simulator.medians import Number, launch_medians, networks, of_launches
from simulator.rates import rates

LARGE = 1 << 20  # bytes: from here on a message's time is the network's
MEASURED = ("total_s", "comm_s", "comp_s", "comp_in_s", "post_s", "ack_s")  # of the benchmarks of overlap
STUDIES = ("overlap-ratio", "collective-overlap")
OWN = "mpi-async"
COMPUTES = 0.01  # seconds: a computation that many slices interrupt
HIDES = 0.5  # of a message beside a computation: then nobody had to be asked first


@dataclass(frozen=True)
class Fit:
    """The model of one network, and the models of its MPIs as their files have them."""

    bandwidth: Number
    latency: Number
    mpis: dict[str, dict[str, Any]]


def fit(records: Records) -> Fit:
    """Of sessions with `overlap-ratio` and `collective-overlap` of two ranks. UsageError where they lack something.

    Sessions of `fft` and `minife-packets` give the rates of these applications' computation, too, on whatever network.
    """
    _one_network(records.launches)
    table = launch_medians(records, MEASURED)
    of_applications = {name: number.entry() for name, number in rates(records).items()}
    table = table[table["total_s"].notna()] if "total_s" in table else table.iloc[:0]
    overlap = _messages(table)
    peers = _messages(launch_medians(records, MEASURED, rank=1))
    bare = overlap[overlap["variant"] == "bare"]
    large = _need(bare[bare["size_bytes"] >= LARGE], "a bare message of 1 MiB or more (study overlap-ratio)")
    buffers = _buffers(large)
    latency = of_launches(bare["ack_s"].to_numpy(float), "half of a round trip, bare")
    mpis = {}
    threads = busy_threads(overlap, peers)
    for mpi in sorted(map(str, large["mpi"].unique())):
        pair = (overlap[overlap["mpi"] == mpi], peers[peers["mpi"] == mpi])
        one = _mpi(mpi, records, table, pair, buffers)
        one["computation"] |= of_applications
        mpis[mpi] = one | {"async": threads[mpi]}
    return Fit(bandwidth(bare), latency, mpis)


def _one_network(launches: pd.DataFrame) -> None:
    """UsageError where the messages and collectives are not of one line, or of one that the model does not have."""
    found = networks(launches, STUDIES)
    if len(found) > 1:
        told = "; ".join(f"{network} in session {session}" for network, session in found.items())
        raise UsageError(f"A model is of one network, and the sessions are of {len(found)}: {told}.")


def _messages(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["study"] == "overlap-ratio") & (table["pattern"] == "both")]


def bandwidth(bare: pd.DataFrame) -> Number:
    """Bytes a second, from how much longer the longest message takes than the shortest: what every message takes,
    whatever its size, is not the line's."""
    sizes = bare["size_bytes"].astype(float)
    longest, shortest = sizes.max(), sizes.min()
    if longest == shortest:
        return of_launches((sizes / (bare["comm_s"] - bare["ack_s"])).to_numpy(float), "size / comm_s, bare")
    above = bare["comm_s"][sizes == longest].to_numpy(float)
    below = bare["comm_s"][sizes == shortest].median()
    words = f"comm_s of {longest:.0f} and {shortest:.0f} bytes, bare"
    return of_launches((longest - shortest) / (above - below), words)


def _need(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    if rows.empty:
        raise UsageError(f"The sessions have no record of {what}, from which the model takes a number.")
    return rows


def _hidden(rows: pd.DataFrame) -> pd.Series[float]:
    """How much of the communication a computation hid, as a share: 1 is all that could be. The computation's time is
    that beside the message: by itself it was measured some seconds later, when the machine may have been faster."""
    spared = rows["comm_s"] + rows["comp_in_s"] - rows["total_s"]
    return spared / rows[["comm_s", "comp_in_s"]].min(axis=1)


def _buffers(large: pd.DataFrame) -> Number:
    """Bytes that travel though nobody progresses them: of the MPI that asks nobody, in messages that are longer."""
    asks = [mpi for mpi in large["mpi"].unique() if not asks_nobody(large[large["mpi"] == mpi])]
    rest = large[~large["mpi"].isin(asks)]
    rest = rest[_hidden(rest) < 1 - HIDES / 2]
    _need(rest, "an MPI that sends without asking, and a message that its buffers do not hold")
    whole = large[~large["mpi"].isin(asks) & (_hidden(large) >= 1 - HIDES / 2)]["size_bytes"].max()  # nan: none
    held = np.fmax((_hidden(rest).clip(0, 1) * rest["size_bytes"]).to_numpy(float), whole)
    return of_launches(held, f"hidden bytes of {', '.join(sorted(map(str, rest['mpi'].unique())))}, bare")


def asks_nobody(large: pd.DataFrame) -> bool:
    """Long messages hide, and of the next longer one as many bytes as of those. (Of an MPI that asks first, only from a
    long size on, that one hides nothing.)"""
    hidden = _hidden(large).groupby(large["size_bytes"], observed=True).median().sort_index()
    whole = max(map(float, hidden.index[hidden > HIDES]), default=0.0)
    longer = hidden[hidden.index > whole]
    return whole > 0 and (longer.empty or float(longer.iloc[0] * longer.index[0]) > HIDES * whole)


def _mpi(
    mpi: str, records: Records, table: pd.DataFrame, sides: tuple[pd.DataFrame, pd.DataFrame], buffers: Number
) -> dict[str, Any]:
    """`sides`: the messages on the sender and on the receiver."""
    overlap, receiver = sides
    bare = overlap[overlap["variant"] == "bare"]
    large = bare[bare["size_bytes"] >= LARGE]
    family = "openmpi" if "openmpi" in mpi else "mpich"
    each = buffers.entry()  # what the sender's kernel took in one call, and the receiver's had room for
    return {
        "schema": 1,
        "mpi": mpi,
        "schedules": family,
        "protocol": {
            "eager_bytes": eager_limit(bare).entry() if not asks_nobody(large) else 0,
            "handshake": not asks_nobody(large),
            "zero_copy": False,
            "send_buffer_bytes": each,
            "receive_buffer_bytes": each,
        },
        "costs": {
            "call_s": _call(receiver[receiver["variant"] == "bare"]).entry(),
            "wake_s": _wake(records, mpi).entry(),
            "managed_s": _managed(overlap).entry(),
            "copy_s_per_byte": _copy(overlap).entry(),
            "reduce_s_per_byte": _reduction(table[table["mpi"] == mpi], family).entry(),
        },
        "computation": {"unit_s": _unit(large).entry()},
    }


def eager_limit(bare: pd.DataFrame) -> Number:
    """The longest message of which next to nothing is left when the computation beside it is over: nobody was asked.
    What the call itself takes cannot be hidden, so that it is left out."""
    left = (bare["total_s"] - bare["comp_in_s"] - bare["post_s"]) / bare["comm_s"]
    middle = left.groupby(bare["size_bytes"], observed=True).median()
    asked = middle > HIDES
    if not asked.any():
        raise UsageError("Every bare message of the sessions hides behind its computation: longer ones are wanted.")
    # one size may have been disturbed: that limit, against which the fewest speak
    limits = [0, *middle.index[:-1]]
    against = [int((asked == (middle.index <= limit)).sum()) for limit in limits]
    below = float(limits[int(np.argmin(against))])
    above = float(middle.index[middle.index > below].min())
    if below > 0:
        return Number(below, below, below, f"bare: the longest that hides; the next, of {above:.0f} bytes, does not")
    return Number(above / 2, 0, above - 1, "bare: the shortest does not hide")


def _call(receiver: pd.DataFrame) -> Number:
    """Of a receive: the call of a send may copy the message, and writes into the socket, which the latency has."""
    shortest = receiver[receiver["size_bytes"] == receiver["size_bytes"].min()]
    return of_launches(shortest["post_s"].to_numpy(float), "post_s of the receive of the shortest message, bare")


def _wake(records: Records, mpi: str) -> Number:
    """CPU time of a turn of the engine's timer thread."""
    launches = records.launches[(records.launches["mpi"] == mpi) & records.launches["study"].isin(STUDIES)]
    costs = []
    for report in launches["engine"].dropna():
        for thread in report.get("threads", []):
            if thread["role"] == "timer" and thread["voluntary_switches"] > 0:
                costs.append(thread["cpu_s"] / thread["voluntary_switches"])
    if not costs:
        raise UsageError(
            f"The sessions have no record of a timer thread on {mpi} (variant timer or idle): a wake's cost."
        )
    return of_launches(np.array(costs), "CPU time of the engine's timer thread / its turns")


def _managed(overlap: pd.DataFrame) -> Number:
    """How much later a program learns of an empty message that sleeps inside MPI until a thread has polled."""
    managed = _need(overlap[overlap["variant"] == "idle"], "a program that sleeps inside MPI (variant idle)")
    bare = overlap[overlap["variant"] == "bare"]["ack_s"].median()
    later = (managed["ack_s"] - bare).clip(lower=0)
    return of_launches(later.to_numpy(float), "half of a round trip, idle above bare")


def _per_byte(rows: pd.DataFrame, extra: Callable[[pd.DataFrame], pd.Series[float]], source: str) -> Number:
    return of_launches((extra(rows) / rows["size_bytes"]).clip(lower=0).to_numpy(float), source)


def _copy(overlap: pd.DataFrame) -> Number:
    """What the engine's polls take of the computation, a byte: its wakes are a small part of it."""
    rows = overlap[(overlap["variant"] == "adaptive") & (overlap["size_bytes"] >= LARGE)]
    _need(rows, "adaptive beside a message of 1 MiB or more (study overlap-ratio)")
    return _per_byte(rows, lambda x: x["comp_in_s"] - x["comp_s"], "(comp_in_s - comp_s) / size, adaptive")


def _reduction(table: pd.DataFrame, family: str) -> Number:
    """What a sum takes beside its messages: of half a vector in MPICH's Ireduce, of one in Open MPI's Iallreduce."""
    name, parts, messages = ("ireduce", 0.5, 1) if family == "mpich" else ("iallreduce", 1.0, 2)
    rows = table[(table["study"] == "collective-overlap") & (table["variant"] == "bare")]
    rows = _need(rows, "bare collectives of two ranks (study collective-overlap)")
    plain = _need(rows[rows["collective"] == "ibcast"], "a bare Ibcast")["comm_s"].median()
    sums = _need(rows[rows["collective"] == name], f"a bare {name}")
    source = f"comm_s of {name} above that of ibcast, bare"
    return _per_byte(sums, lambda x: (x["comm_s"] - messages * plain) / parts, source)


def _unit(large: pd.DataFrame) -> Number:
    rows = large[large["work_units"] > 0]
    return of_launches((rows["comp_s"] / rows["work_units"]).to_numpy(float), "comp_s / work_units, bare")


# An MPI's own progress thread: on whose core it polls, for how long at a time, and whether it alone moves messages. It
# polls all the time, and takes its part of a core even where nothing is to be moved: a computation there lasts longer
# by that part, and a program that waits has its core again only when the threads have had theirs.
def busy_threads(first: pd.DataFrame, second: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """The part `async` of each MPI's model, from the messages of two ranks, a table each: bare, and with its thread.

    The slice is the scheduler's, and so the same for all MPIs. It is 0 where none of them has a thread of its own.
    """
    sides = (first, second)
    mpis = [str(mpi) for mpi in first["mpi"].unique()]
    having = [mpi for mpi in mpis if not first[(first["mpi"] == mpi) & (first["variant"] == OWN)].empty]
    beside = {mpi: [_beside(side[side["mpi"] == mpi]) for side in sides] for mpi in having}
    alone = {mpi: _hands_over(first[first["mpi"] == mpi]) for mpi in having}
    turns = [_slices(mpi, sides, beside[mpi], hands_over=alone[mpi]) for mpi in having]
    source = f"half of a round trip, {OWN}, by the turns on the core that it waits for"
    whole = of_launches(np.concatenate(turns), source) if turns else Number(0, 0, 0, f"no MPI has {OWN}")
    return {
        mpi: {
            "exists": mpi in having,
            "slice_s": whole.entry(),
            "hands_over": alone.get(mpi, False),
            "beside": [number.entry() for number in beside.get(mpi, [])],
        }
        for mpi in mpis
    }


def _variant(rows: pd.DataFrame, variant: str) -> pd.DataFrame:
    return rows[rows["variant"] == variant]


def _beside(rows: pd.DataFrame) -> Number:
    """Busy threads on this rank's core: how many times as long its computation lasts, less one."""
    lasting = rows[rows["comp_s"] >= COMPUTES]
    bare = _variant(lasting, "bare").groupby("size_bytes", observed=True)["comp_s"].median()
    own = _variant(lasting, OWN)
    own = own[own["size_bytes"].isin(bare.index)]
    if own.empty:
        return Number(1, 1, 1, "no computation of some slices was recorded: its own thread")
    times = own["comp_s"].to_numpy(float) / bare.loc[own["size_bytes"]].to_numpy(float)
    return of_launches(np.maximum(0, np.round(times - 1)), f"comp_s, {OWN}, by comp_s, bare, less 1")


def _hands_over(rows: pd.DataFrame) -> bool:
    """Its calls of sends take less than half of what they take without the thread: they put nothing into the socket."""
    shortest = rows[rows["size_bytes"] == rows["size_bytes"].min()]
    own, bare = (_variant(shortest, name)["post_s"].median() for name in (OWN, "bare"))
    return bool(own < bare / 2)


def _slices(
    mpi: str, sides: tuple[pd.DataFrame, pd.DataFrame], beside: list[Number], *, hands_over: bool
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """From the empty messages behind the shortest, on the rank that waits for its core the longest.

    A program that may move messages itself finds the lock taken, and gives its turn away: it waits for the threads'
    turns. One that hands over keeps its turn, too.
    """
    shortest = [_variant(side[side["mpi"] == mpi], OWN) for side in sides]
    shortest = [rows[rows["size_bytes"] == rows["size_bytes"].min()] for rows in shortest]
    most = max(range(len(sides)), key=lambda rank: (beside[rank].value, shortest[rank]["ack_s"].median()))
    turns = max(1, beside[most].value) + (1 if hands_over else 0)
    return shortest[most]["ack_s"].to_numpy(float) / turns
