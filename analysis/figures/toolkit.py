# SPDX-License-Identifier: BSD-3-Clause
"""What every figure has: points, their description, a caption, files; and the words of captions that several share.

A figure is called with the evidence and its provenance and returns what there is to draw (subject.Figure). It is drawn
when somebody looks at it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from analysis.figures import style
from analysis.figures.style import Plot
from analysis.records import node_facts
from analysis.records.disturbance import DISTURBED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class Drawn:
    """A figure: `points` are exactly what is drawn, `caption` names formula, intervals and provenance."""

    name: str
    title: str
    caption: str
    points: pd.DataFrame
    plot: Plot
    found: str = ""  # what it shows, in a sentence with numbers
    subject: str = ""  # under whose heading in the report it stands, see catalogue.draw_all
    simulated: bool = False  # some of it was predicted by a model
    paint: Callable[[], Figure] | None = None  # draws for paper what no `plot` can describe

    @cached_property
    def figure(self) -> Figure:
        """As papers print it."""
        from analysis.figures import render  # noqa: PLC0415 - matplotlib, which only those need who look

        if self.paint:
            return render.finished(self.paint, self.caption, self.simulated)
        return render.draw(self.points, self.plot, self.caption, self.simulated)


def save(drawn: Drawn, folder: Path) -> dict[str, Path]:
    """Writes NAME.png, NAME.svg, NAME.pdf, NAME.csv (the drawn points) into `folder`; returns them by suffix."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second, which only those wait who look

    folder.mkdir(parents=True, exist_ok=True)
    paths = {suffix: folder / f"{drawn.name}.{suffix}" for suffix in ("png", "svg", "pdf", "csv")}
    with mpl.rc_context(style.RC):
        drawn.figure.draw_without_rendering()
        drawn.figure.set_layout_engine("none")  # laid out once: that is most of the time of a save
        drawn.figure.savefig(paths["png"], dpi=200, metadata={"Software": None})
        drawn.figure.savefig(paths["svg"], metadata={"Date": None, "Description": drawn.caption, "Creator": None})
        drawn.figure.savefig(paths["pdf"], metadata={"CreationDate": None, "Subject": drawn.caption, "Creator": None})
    drawn.points.to_csv(paths["csv"], index=False)
    return paths


def mark_simulated(drawn: Drawn) -> Drawn:
    """The figure as one of which nothing was measured."""
    return replace(drawn, title=f"{drawn.title} (simulated)", simulated=True)


def hidden_words(part: pd.DataFrame, by: Sequence[str]) -> str:
    """How many points are not drawn because another of the same place is: nothing where every one is."""
    hidden = int(part.duplicated(list(by)).sum())
    return f"{hidden} points of other sessions or settings are in the table alone. " if hidden else ""


def provenance(records: Any) -> str:
    """Where the data came from, in a sentence: sessions, machine, network. Predictions of one model are many sessions,
    a number of ranks each, and share these words."""
    alike: dict[tuple[str, str], list[str]] = {}
    for session in records.sessions:
        name, simulated = str(session["session"]), records.simulated(session["session"])
        said = ["predicted by a model, not measured"] if simulated else []
        known = said + [str(x) for x in (*node_facts.values(session, "cpu_model"), session.get("network")) if x]
        words = f" ({'; '.join(known)})" if known else ""
        alike.setdefault((words, "" if simulated else name), []).append(name)
    parts = [f"session{'s' if len(names) > 1 else ''} {', '.join(names)}{words}" for (words, _), names in alike.items()]
    return "Data: " + ", ".join(parts) + "."


def interval_words(frame: pd.DataFrame) -> str:
    """What the bands are, from the points that are drawn."""
    kinds = frame.loc[frame["value"].notna(), "interval"].unique()
    return "Bands: " + "; ".join(sorted(map(str, kinds))) + "." if len(kinds) else ""


def doubt_words(frame: pd.DataFrame) -> str:
    """How many of the drawn values show nothing yet, behind a sentence that names some of them; empty where all do."""
    valued = frame[frame["value"].notna()]
    few = int(valued["defensible"].eq(False).sum()) if "defensible" in valued else 0
    stolen = int((valued["disturbance"].astype(float) > DISTURBED).sum()) if "disturbance" in valued else 0
    said = [f"{few} have no 95 % interval"] if few else []
    said += [f"{stolen} were disturbed"] if stolen else []
    return f" Of {len(valued)} values {' and '.join(said)}." if said else ""


def work_words(frame: pd.DataFrame) -> str:
    """A warning where MPIs did different work at the same point, so that their times cannot be compared."""
    if "work_units" not in frame or not frame["work_units"].notna().any():
        return ""
    done = frame.groupby(["session", "system", "point"])["work_units"].nunique()
    if not (done > 1).any():
        return ""
    return "The MPIs did different work (each its own calibration): times compare within one MPI, not between them. "


def slug(*parts: Any) -> str:
    """A file name of lower-case words."""
    text = "-".join(str(part) for part in parts if part not in (None, ""))
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in text.lower().replace(" ", ""))
