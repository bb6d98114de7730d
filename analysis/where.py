# SPDX-License-Identifier: BSD-3-Clause
"""Where a program loses time with MPI: the profiles of its processes (progress_engine/src/profile), by call site.

What a request's wait could lose by progress is at most the smaller of two times: what was computed meanwhile and what
was waited, see analysis/partner_waits.py. A call that completes several requests waits once for all: the wait is shared
by their bytes. In an epoch of one-sided operations all that was waited counts: the target's progress could win it. The
bound of a program is that of the rank that has the largest one.

Parallel efficiency = load balance x communication efficiency: POP's metrics, of the time outside of MPI (Rosas,
Gimenez, Labarta, "Scalability prediction for fundamental performance factors", Supercomputing Frontiers and
Innovations 1, 2014).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis import own_settings
from analysis.errors import UsageError
from analysis.partner_waits import Found, partner_waits
from analysis.text_table import markdown
from analysis.words import bytes_text, seconds_text

PATTERN = "profile.*.json"
VERSION = 4
KEYS = {
    *("rank", "world_size", "host", "elapsed_s", "inside_s", "began_ns", "pace", "clock_error_ns", "operations"),
    *("numbers_receives", "streams", "waits"),
}
SHOWN = 20  # rows of a table
WORTH = 0.01  # of the run: less is not worth a look
MOSTLY = 0.5  # of a wait
NEARLY_ALL = 0.95
AT_ONCE = 0.02  # of a wait: who computes less before it has started the operation too late, or waits too early

Address = tuple[str, int]  # a file and an offset in it
# What each address is, the function and "file:line", as far as it is known; of each what the process called it itself.
Resolve = Callable[[Mapping[Address, str | None]], Mapping[Address, str]]


@dataclass(frozen=True)
class Site:
    """A call in the program's code."""

    call: str
    place: str  # of several frames all, from the innermost on
    region: str = ""  # of the program's own

    def __str__(self) -> str:
        return f"{self.call} {self.place}" + (f" in {self.region}" if self.region else "")


@dataclass(frozen=True)
class Row:
    """An operation by its call sites, on the rank that could win most (or, of a blocking call, lost most)."""

    start: Site | None  # None: of more sites than a profile holds
    completion: Site | None  # None: it blocks
    rank: int
    count: int
    bytes: int
    inside_s: float
    computed_s: float
    waited_s: float
    winnable_s: float
    then_computed_s: float
    late_s: float = 0.0  # of what was waited, before the partner's call had begun, as far as that is known

    @property
    def each(self) -> str:
        """ "480 x 4 MB", on average."""
        size = round(self.bytes / self.count) if self.count else 0
        return f"{self.count} x {bytes_text(size)}" if size else str(self.count)

    @property
    def blocks(self) -> bool:
        """Whether next to nothing can be won by progress: the call itself blocks, and its partner is in MPI, too."""
        return self.completion is None and self.winnable_s <= AT_ONCE * self.inside_s

    @property
    def cure(self) -> str:
        """What could make it shorter."""
        waited = self.inside_s if self.completion is None else self.waited_s
        if self.late_s > MOSTLY * waited:
            return "its partner is late: balance the load"
        if self.winnable_s > AT_ONCE * waited:
            return "progress" if self.computed_s > AT_ONCE * waited else "progress of its partner"
        return "a nonblocking call" if self.completion is None else "start it earlier, or wait later"


@dataclass(frozen=True)
class Rank:
    """One process."""

    rank: int
    elapsed_s: float  # from the end of MPI_Init to the beginning of MPI_Finalize
    inside_s: float  # in MPI, all threads
    winnable_s: float
    late_s: float

    @property
    def computing_s(self) -> float:
        return max(0.0, self.elapsed_s - self.inside_s)


@dataclass(frozen=True)
class Where:
    """A run of a program."""

    ranks: list[Rank]
    rows: list[Row]  # nonblocking operations, what can be won most first
    blocking: list[Row]  # the longest first
    every: list[Row]  # of each rank
    known: float  # the share of what was waited for messages whose partner's call is known
    world_size: int
    profiles: list[dict[str, Any]]
    names: dict[tuple[int, int], str]  # of each operation, by rank and its number in the profile

    @property
    def worst(self) -> Rank:
        return max(self.ranks, key=lambda rank: rank.winnable_s)

    @property
    def elapsed_s(self) -> float:
        return max(rank.elapsed_s for rank in self.ranks)

    def efficiencies(self) -> dict[str, float]:
        """POP's three, from 0 to 1."""
        computing = [rank.computing_s for rank in self.ranks]
        mean, most = sum(computing) / len(computing), max(computing)
        if most <= 0 or self.elapsed_s <= 0:
            return {}
        return {
            "parallel efficiency": mean / self.elapsed_s,
            "load balance": mean / most,
            "communication efficiency": most / self.elapsed_s,
        }


def read(folder: Path, resolve: Resolve) -> Where:
    """The profiles in a folder. UsageError if there is none, or one is damaged."""
    files = sorted(folder.glob(PATTERN))
    if not files:
        raise UsageError(
            f"{folder} holds no profile ({PATTERN}), as progress-run --profile {folder} writes one: a program that "
            "never begins MPI has none."
        )
    profiles = sorted((_profile(file) for file in files), key=lambda profile: int(profile["rank"]))
    numbers = [profile["rank"] for profile in profiles]
    if len(set(numbers)) < len(numbers):
        raise UsageError(f"{folder} holds profiles of several runs (a rank twice): give each run a folder of its own.")
    sites = [
        site for profile in profiles for row in profile["operations"] for site in (row["start"], row["completion"])
    ]
    frames = [frame for site in sites if site for frame in _frames(site) if "file" in frame]
    places = resolve({_address(frame): frame.get("symbol") for frame in frames})
    partners = partner_waits(profiles)
    rows = [
        _row(row, profile["rank"], places, partners.by_operation.get((profile["rank"], at), Found()))
        for profile in profiles
        for at, row in enumerate(profile["operations"])
    ]
    ranks = [_rank(profile, rows) for profile in profiles]
    some = _worst([row for row in rows if not row.blocks], by=lambda row: (row.winnable_s, row.waited_s))
    told = {(row.start, row.completion) for row in some}
    others = [row for row in rows if row.blocks and (row.start, row.completion) not in told]
    blocking = _worst(others, by=lambda row: (row.inside_s, row.count))
    names = {
        (profile["rank"], at): str(_site(row["completion"] or row["start"], places) or "elsewhere")
        for profile in profiles
        for at, row in enumerate(profile["operations"])
    }
    return Where(ranks, some, blocking, rows, partners.known, profiles[0]["world_size"], profiles, names)


def _profile(file: Path) -> dict[str, Any]:
    try:
        profile: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if profile["version"] != VERSION:
            raise UsageError(f"{file} is of version {profile['version']}; this reads version {VERSION}.")
        if not profile.keys() >= KEYS:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is no profile, or a damaged one; run the program again.") from error
    return profile


def _rank(profile: Mapping[str, Any], rows: Sequence[Row]) -> Rank:
    rank = int(profile["rank"])
    mine = [row for row in rows if row.rank == rank]
    return Rank(
        rank,
        elapsed_s=float(profile["elapsed_s"]),
        inside_s=float(profile["inside_s"]),
        winnable_s=sum(row.winnable_s for row in mine),
        late_s=sum(row.late_s for row in mine),
    )


def _address(site: Mapping[str, Any]) -> Address:
    return str(site["file"]), int(site["offset"])


def _frames(site: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The call itself, and who called it, as far as that tells call sites apart."""
    yield site
    yield from site.get("callers", [])


def _site(site: Mapping[str, Any] | None, places: Mapping[Address, str]) -> Site | None:
    if not site:
        return None
    place = str(site["place"]) if "place" in site else " < ".join(_place(one, places) for one in _frames(site))
    return Site(str(site["call"]), place, str(site.get("region", "")))


def _place(frame: Mapping[str, Any], places: Mapping[Address, str]) -> str:
    if "file" not in frame:
        return "at an unknown address"
    file, offset = _address(frame)
    if found := places.get((file, offset)):
        return found
    name = Path(file).name
    return f"{frame.get('symbol') or name} ({name}+{offset:#x})"


def _row(row: Mapping[str, Any], rank: int, places: Mapping[Address, str], found: Found) -> Row:
    return Row(
        start=_site(row["start"], places),
        completion=_site(row["completion"], places),
        rank=rank,
        count=int(row["count"]),
        bytes=int(row["bytes"]),
        inside_s=float(row["inside_s"]),
        computed_s=float(row["computed_s"]),
        waited_s=float(row["waited_s"]),
        winnable_s=max(0.0, float(row["winnable_s"]) + found.more_s),
        then_computed_s=float(row["then_computed_s"]),
        late_s=found.late_s,
    )


def _worst(rows: Iterable[Row], by: Callable[[Row], Any]) -> list[Row]:
    """Of each pair of call sites the rank that stands first by `by`; those pairs in this order."""
    most: dict[tuple[Site | None, Site | None], Row] = {}
    for row in rows:
        key = (row.start, row.completion)
        if key not in most or by(row) > by(most[key]):
            most[key] = row
    return sorted(most.values(), key=by, reverse=True)


def sentence(where: Where, printed_s: float | None = None) -> str:
    """What can be won by progress at most, and where; of the whole run, or of the time that the program prints."""
    worst = where.worst
    whole_s = printed_s or worst.elapsed_s
    of = f"of {seconds_text(whole_s)}" + (" that it prints" if printed_s else "")
    if worst.winnable_s < WORTH * whole_s:
        return (
            f"At most {seconds_text(worst.winnable_s)} {of} can be won by progress: an engine is not worth having "
            f"here. {partners(where)}"
        )
    mine = [row for row in where.rows if row.winnable_s > 0]
    most, first = 0.0, 0
    for row in mine:
        most, first = most + row.winnable_s, first + 1
        if most >= 0.9 * worst.winnable_s:
            break
    first_site = mine[0].completion or mine[0].start or "calls elsewhere"
    sites = f"1 call site: {first_site}" if first == 1 else f"{first} pairs of call sites, first {first_site}"
    share = 100 * worst.winnable_s / whole_s
    return (
        f"At most {seconds_text(worst.winnable_s)} {of} ({share:.0f} %, rank {worst.rank}) can be won by progress, "
        f"nine tenths of it at {sites}. {partners(where)} {_setting(where)}"
    ).rstrip()


def _setting(where: Where) -> str:
    """A setting of the MPI's own that is to be tried first; empty where none is known."""
    winnable_s: dict[int, float] = {}
    for row in where.rows:
        size = round(row.bytes / max(row.count, 1))
        winnable_s[size] = winnable_s.get(size, 0.0) + row.winnable_s
    return own_settings.sentence(where.profiles, winnable_s)


def partners(where: Where) -> str:
    """What is said of waits for partners that began late."""
    if where.known <= 1 - NEARLY_ALL:
        unknown = "It is not known what the partners did meanwhile: all that was waited is in the bound."
        return " ".join([unknown, *clocks(where)])
    late = max(rank.late_s for rank in where.ranks)
    said = (
        f"Up to {seconds_text(late)} on a rank were waits for partners that began late: no progress engine wins that."
        if late >= WORTH * where.elapsed_s
        else "Next to nothing was waited for partners that began late."
    )
    if where.known < NEARLY_ALL:
        said = (
            f"{said} Of {100 * (1 - where.known):.0f} % of what was waited it is not known what the partners did "
            "meanwhile: all of that is in the bound."
        )
    return " ".join([said, *clocks(where)])


def clocks(where: Where) -> list[str]:
    """What is said of the clocks of several machines, on which it depends who began late."""
    hosts = {profile["host"] for profile in where.profiles}
    errors = [profile["clock_error_ns"] for profile in where.profiles]
    if len(hosts) == 1:
        return []
    if None in errors:
        return [f"The clocks of {len(hosts)} machines were not compared: they are taken as they are set."]
    return [f"The clocks of {len(hosts)} machines were compared, to {seconds_text(1e-9 * max(errors))}."]


def document(where: Where) -> str:
    """The sentence, the efficiencies and the tables, in Markdown."""
    lines = [sentence(where), ""]
    if said := efficiencies(where):
        lines += [said, ""]
    for table in tables(where):
        lines += [f"## {table.title}", "", *markdown(table.columns, table.rows), *table.more, ""]
    return "\n".join(lines).rstrip("\n")


def efficiencies(where: Where) -> str:
    """How many ranks, how long, and POP's metrics; empty where nothing was computed."""
    said = ", ".join(f"{name} {value:.2f}" for name, value in where.efficiencies().items())
    ranks = f"{len(where.ranks)} of {where.world_size} ranks"
    return said and f"{ranks}, {seconds_text(where.elapsed_s)}: {said}."


@dataclass(frozen=True)
class Table:
    """Rows as people read them, the worst first; `more`: a sentence about those that are left out, or none."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    more: list[str]


def tables(where: Where) -> list[Table]:
    """Those of operations and of blocking calls that have rows."""
    told = (
        ("Operations that the program computed beside, or could", where.rows, _NONBLOCKING),
        ("Blocking calls: nothing is pending while the program computes", where.blocking, _BLOCKING),
    )
    return [_table(*one) for one in told if one[1]]


def as_json(where: Where) -> dict[str, Any]:
    """The same for a program, times in seconds: all ranks, and every row with its numbers on its rank."""
    return {
        "sentence": sentence(where),
        "efficiencies": where.efficiencies(),
        "ranks": [asdict(rank) for rank in where.ranks],
        "nonblocking": [asdict(row) | {"cure": row.cure} for row in where.rows],
        "blocking": [asdict(row) for row in where.blocking],
    }


_NONBLOCKING: dict[str, Callable[[Row], str]] = {
    "at most to win": lambda row: seconds_text(row.winnable_s),
    "started": lambda row: str(row.start or "elsewhere"),
    "completed": lambda row: str(row.completion or "the same call"),
    "operations": lambda row: row.each,
    "computed meanwhile": lambda row: seconds_text(row.computed_s),
    "waited": lambda row: seconds_text(row.waited_s if row.completion else row.inside_s),
    "of it late partner": lambda row: seconds_text(row.late_s),
    "what could help": lambda row: row.cure,
    "rank": lambda row: str(row.rank),
}
_BLOCKING: dict[str, Callable[[Row], str]] = {
    "inside": lambda row: seconds_text(row.inside_s),
    "of it late partner": lambda row: seconds_text(row.late_s),
    "call": lambda row: str(row.start or "elsewhere"),
    "calls": lambda row: row.each,
    "a guess: a nonblocking call hides at most": lambda row: seconds_text(min(row.inside_s, row.then_computed_s)),
    "rank": lambda row: str(row.rank),
}


def _table(title: str, rows: Sequence[Row], columns: Mapping[str, Callable[[Row], str]]) -> Table:
    more = [f"{len(rows) - SHOWN} more."] if len(rows) > SHOWN else []
    return Table(title, list(columns), [[cell(row) for cell in columns.values()] for row in rows[:SHOWN]], more)
