# SPDX-License-Identifier: BSD-3-Clause
"""Times over the number of ranks, which is another one in each session, as a model predicts them; and what the engine
and its settings save. Nothing is claimed of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.evidence import SETTING, Evidence
from analysis.figures import toolkit
from analysis.figures.summary import summary
from analysis.figures.toolkit import Drawn, Plot, plain_words
from analysis.metrics.evaluate import REFERENCE
from analysis.records import frames
from analysis.subject import Subject
from analysis.words import MPI_ORDER, in_order, mpi_title, plain, seconds_text

QUANTITIES = ("total_s", "elapsed_s")  # of the benchmarks of overlap, of the applications
DEFAULTS = "defaults"
INTENTIONS = ("comp_s", "comp_over_comm")


def by_ranks(evidence: Evidence, studies: Sequence[str]) -> pd.DataFrame:
    """The summary of these studies' times: `ranks`; `what`, the study with what tells its points apart; `setting`,
    what was swept of the engine; `saved`, the share of bare's time in the same session. Empty where there is none."""
    parts = [part for study in studies if len(part := _times(evidence, study))]
    if not parts:
        return pd.DataFrame()
    rows = [row for part in parts for row in frames.rows(part)]  # concat would guess the type of an empty column
    return pd.DataFrame(rows).sort_values("ranks", kind="stable").reset_index(drop=True)


def _times(evidence: Evidence, study: str) -> pd.DataFrame:
    for quantity in QUANTITIES:
        frame = summary(evidence, study, quantity)
        if len(frame) and frame["value"].notna().any():
            return _with_saved(_described(frame, evidence, study))
    return pd.DataFrame()


def _described(frame: pd.DataFrame, evidence: Evidence, study: str) -> pd.DataFrame:
    parameters = [name for name in evidence.records.parameters if name in frame]
    swept = _swept(frame, parameters)
    apart = [
        name for name in parameters
        if name not in swept and name not in INTENTIONS
        and (frame.groupby("session")[name].nunique(dropna=False) > 1).any()
    ]  # fmt: skip
    launches = evidence.records.launches
    ranks = launches[launches["study"] == study].groupby("session")["world_size"].max()
    return frame.assign(
        ranks=frame["session"].map(ranks).astype(int),
        what=[" ".join([study, *_words(row, apart)]) for row in frames.rows(frame)],
        setting=[", ".join(_settings(row, swept)) or DEFAULTS for row in frames.rows(frame)],
    )


def _swept(frame: pd.DataFrame, parameters: Sequence[str]) -> list[str]:
    """What bare's points have not: no engine takes it there."""
    bare, others = frame[frame["variant"] == REFERENCE], frame[frame["variant"] != REFERENCE]
    return [name for name in parameters if not bare[name].notna().any() and others[name].notna().any()]


def _words(row: dict[str, Any], names: Sequence[str]) -> list[str]:
    return [f"{row[name]:g}" if isinstance(row[name], float) else str(row[name]) for name in names]


def _settings(row: dict[str, Any], swept: Sequence[str]) -> list[str]:
    return [f"{name} {row[name]:g}" for name in swept if pd.notna(row[name])]


def _with_saved(frame: pd.DataFrame) -> pd.DataFrame:
    keys = [*SETTING, "what"]
    bare = frame[frame["variant"] == REFERENCE].drop_duplicates(keys).set_index(keys)["value"]
    base = [bare.get(key, np.nan) for key in frame[keys].itertuples(index=False, name=None)]
    return frame.assign(saved=1 - frame["value"] / np.array(base, float))


NO_INTERVAL = "none: a share of two medians"
GUIDE = "strong: as many times faster as there are more ranks"


@dataclass(frozen=True)
class Scaling:
    """The figure of these studies, one an MPI; `strong`: of one problem, whatever the ranks. None of a single session:
    nothing scales there."""

    name: str
    studies: tuple[str, ...]
    strong: tuple[str, ...]
    title: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = by_ranks(evidence, self.studies)
        if not len(frame) or frame["ranks"].nunique() < 2:
            return []
        mpis = in_order(frame["mpi"], MPI_ORDER)
        return [
            drawn for mpi in mpis for drawn in self._drawn(frame[frame["mpi"] == mpi], mpi, len(mpis) > 1, provenance)
        ]

    def _drawn(self, part: pd.DataFrame, mpi: str, several: bool, provenance: str) -> list[Drawn]:
        shown = list(dict.fromkeys(sorted(part["what"], key=lambda what: self.studies.index(what.split(" ")[0]))))
        caption = (
            f"{self.title}, {mpi_title(mpi)}: until the slowest rank is done, over the number of ranks; each rank has "
            f"the same work (weak), or its share of one problem (strong). What is saved is of medians, "
            f"without an interval. {toolkit.interval_words(part)} {provenance}"
        )
        found = _found(part, shown)
        strong = any(map(self._is_strong, shown))
        plot = Plot(
            x="ranks", x_label="ranks", y_label="time", log_y=True, row="what", say=seconds_text, order=tuple(shown),
            words=self._words, references={GUIDE: "as_many_times_faster"} if strong else {},
        )  # fmt: skip
        name = toolkit.slug(self.name, mpi if several else None)
        saved = part[part["variant"] != REFERENCE]
        saved = saved.assign(value=saved["saved"], low=np.nan, high=np.nan, interval=NO_INTERVAL)
        of_saved = Plot(
            x="ranks", x_label="ranks", y_label="time saved, of bare's", series="what", row="variant",
            say=lambda value: f"{100 * value:.0f} %", order=tuple(shown),
            look=lambda what, index: toolkit.curve(index, _short(what)),
        )  # fmt: skip
        return [
            Drawn(name, self.title, caption, self._with_strong(part), plot, found),
            Drawn(f"{name}-saved", "What the engine saves", f"{caption}", saved, of_saved),
        ]

    def _is_strong(self, what: str) -> bool:
        return what.split(" ", maxsplit=1)[0] in self.strong

    def _words(self, value: Any, parameter: str) -> str:
        if parameter == "what":
            return f"{_short(value)} ({'strong' if self._is_strong(value) else 'weak'})"
        return plain_words(value, parameter)

    def _with_strong(self, part: pd.DataFrame) -> pd.DataFrame:
        """With what bare's time would be if as many times faster as there are more ranks; of strong scaling alone."""
        bare = part[(part["variant"] == REFERENCE) & part["value"].notna()].drop_duplicates("what").set_index("what")
        work = part["what"].map(bare["value"] * bare["ranks"]) / part["ranks"]
        return part.assign(as_many_times_faster=work.where(part["what"].map(self._is_strong)))


def _short(what: str) -> str:
    """The study without its group's name."""
    return what.partition("-")[2] or what


def _found(part: pd.DataFrame, shown: Sequence[str]) -> str:
    """What is saved at the fewest and the most ranks, study by study."""
    said = []
    for what in shown:
        mine = part[(part["what"] == what) & (part["variant"] != REFERENCE) & part["saved"].notna()]
        if len(mine):
            ends: Any = mine.iloc[[0, -1]]
            words = [f"{plain(100 * row['saved'], 0)} % at {row['ranks']} ranks" for row in frames.rows(ends)]
            said.append(f"{_short(what)}: {', '.join(dict.fromkeys(words))}")
    return f"Saved of bare's time, of medians and without an interval: {'; '.join(said)}." if said else ""


PERFECT = 0.5  # of equal parts; the colours end there
LABEL = "time saved, of bare's"


@dataclass(frozen=True)
class SettingsMap:
    """One figure an MPI, a panel a workload, which is the last word of a study's name; a row a variant and setting, a
    column a number of ranks."""

    name: str
    studies: tuple[str, ...]
    title: str

    def __call__(self, evidence: Evidence, provenance: str) -> list[Drawn]:
        frame = by_ranks(evidence, self.studies)
        frame = frame[frame["variant"] != REFERENCE] if len(frame) else frame
        if not len(frame) or not frame["saved"].notna().any() or frame["setting"].nunique() < 2:
            return []
        mpis = in_order(frame["mpi"], MPI_ORDER)
        return [self._drawn(frame[frame["mpi"] == mpi], mpi, len(mpis) > 1, provenance) for mpi in mpis]

    def _drawn(self, part: pd.DataFrame, mpi: str, several: bool, provenance: str) -> Drawn:
        part = part.assign(row=part["variant"] + ", " + part["setting"], what=[_workload(x) for x in part["what"]])
        caption = (
            f"{self.title}, {mpi_title(mpi)}: 1 - time / bare's time in the same session, each setting changed alone, "
            f"of medians and without an interval. {provenance}"
        )
        plot = Plot(
            x="ranks", x_label="ranks", y_label=LABEL, series="row", row="what", cells=PERFECT,
            say=lambda value: f"{100 * value:.0f} %", order=tuple(table_of(part).index),
            look=lambda value, index: toolkit.curve(index, str(value)),
            words=lambda value, name: mpi_title(str(value)) if name == "mpi" else str(value),
        )  # fmt: skip
        drawn = part.assign(value=part["saved"], low=np.nan, high=np.nan, interval=NO_INTERVAL)
        name = toolkit.slug(self.name, mpi if several else None)
        return Drawn(name, self.title, caption, drawn, plot, _found_of_settings(part))


def _workload(what: str) -> str:
    return what.rpartition("-")[2]


def table_of(part: pd.DataFrame) -> pd.DataFrame:
    """What was saved: a row a variant and setting, in their order, a column a number of ranks."""
    table = part.pivot_table(index="row", columns="ranks", values="saved", aggfunc="median", dropna=False)
    return table.reindex(in_order(sorted(part["row"], key=_order), ()))


def _order(row: str) -> tuple[Any, ...]:
    """The defaults before the settings, and a setting's values by size."""
    variant, _, setting = row.partition(", ")
    name, _, value = setting.rpartition(" ")
    return variant, name, float(value) if name else 0.0


def _found_of_settings(part: pd.DataFrame) -> str:
    """By how much each setting moves what is saved, at most: the largest first."""
    moved: dict[str, float] = {}
    for _, here in part.groupby(["what", "variant", "ranks"]):
        plain = here.loc[here["row"].str.endswith("defaults"), "saved"]
        for setting, saved in zip(here["setting"], here["saved"], strict=True):
            if len(plain) and np.isfinite(saved) and " " in setting:
                name = setting.rpartition(" ")[0]
                moved[name] = max(moved.get(name, 0.0), abs(saved - plain.iloc[0]))
    words = [f"{name} {100 * by:.0f}" for name, by in sorted(moved.items(), key=lambda item: -item[1])]
    said = "Percentage points by which a setting moves what is saved, at most, of medians and without an interval"
    return f"{said}: {', '.join(words)}." if words else ""


STUDIES = ("scaling-overlap", "scaling-halo", "scaling-iallreduce", "scaling-grid", "scaling-fft")
STRONG = ("scaling-grid", "scaling-fft")

FIGURE = Scaling("scaling", STUDIES, STRONG, "Time over the number of ranks")

SUBJECT = Subject(
    "scaling",
    ("scaling-*",),
    "",
    "over the number of ranks",
    figures=(FIGURE,),
    note="./bench scaling prints what a model predicts",
)


WAKES = ("wakes-timer-halo", "wakes-timer-iallreduce", "wakes-adaptive-halo", "wakes-adaptive-iallreduce")

WAKES_FIGURE = SettingsMap("wakes", WAKES, "What the engine saves by its settings and the number of ranks")

WAKES_SUBJECT = Subject(
    "wakes",
    ("wakes-*",),
    "",
    "the engine's settings over the number of ranks",
    figures=(WAKES_FIGURE,),
    note="./bench scaling wakes prints what a model predicts",
)

SUBJECTS = (SUBJECT, WAKES_SUBJECT)
