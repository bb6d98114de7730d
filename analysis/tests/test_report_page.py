# SPDX-License-Identifier: BSD-3-Clause
"""The page by its structure: what a reader without JavaScript, and a program that reads it aloud, find in it."""

from __future__ import annotations

import html.parser
import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from analysis.errors import UsageError
from analysis.evidence import Choice, Evidence, bytes_of
from analysis.figures.toolkit import Drawn
from analysis.records.load import load
from analysis.report import paper, report
from analysis.report.chart import Scale
from analysis.report.paper import write_paper
from analysis.report.report import build_report
from analysis.subject import of_paper
from analysis.tests.synthetic import MB, USUAL, Behaviour, Synthetic
from harness.base import paths

ROOT = Path(__file__).resolve().parents[2]
VOID = {"meta", "br", "input", "img", "link", "path", "use"}


class Element:
    """A node of the page's tree."""

    def __init__(self, tag: str, attributes: dict[str, str], parent: Element | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Element] = []
        self.own_text = ""

    def all(self, tag: str, **wanted: str) -> list[Element]:
        found = [self] if self.tag == tag and wanted.items() <= self.attributes.items() else []
        return found + [element for child in self.children for element in child.all(tag, **wanted)]

    @property
    def text(self) -> str:
        return " ".join(" ".join([self.own_text, *(child.text for child in self.children)]).split())


class Tree(html.parser.HTMLParser):
    """Builds the tree; a tag that does not close what is open fails."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.root = self.here = Element("root", {}, None)
        self.feed(page)
        assert self.here is self.root, f"<{self.here.tag}> is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, self.here)
        self.here.children.append(element)
        if tag not in VOID:
            self.here = element

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.children.append(Element(tag, {name: value or "" for name, value in attrs}, self.here))

    def handle_endtag(self, tag: str) -> None:
        assert self.here.tag == tag, f"</{tag}> closes <{self.here.tag}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.own_text += data


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sessions")
    few = {name: USUAL[name] for name in ("bare", "adaptive")}
    mpis = {"mpich": few, "openmpi": {**few, "mpi-async": Behaviour(0.1, fails="skipped")}}
    made = [
        Synthetic(mpis=mpis, launches=1, samples=2, sizes=(MB // 16, 4 * MB), comp_over_comm=(0.5, 1.0), seed=seed)
        for seed in (1, 2)
    ]
    return [session.write(folder / f"s{number}") for number, session in enumerate(made, 1)]


def only_csv(drawn: Drawn, folder: Path) -> dict[str, Path]:
    """What render.save does, without the pictures, which take most of the time and are no part of the page."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {suffix: folder / f"{drawn.name}.{suffix}" for suffix in ("png", "csv")}
    drawn.points.to_csv(paths["csv"], index=False)
    return paths


@pytest.fixture(scope="module", autouse=True)
def no_pictures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (report, paper):
            patch.setattr(module, "save", only_csv)
        yield


@pytest.fixture(scope="module")
def page(sessions: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_report(sessions[:1], tmp_path_factory.mktemp("page")).path


@pytest.fixture(scope="module")
def tree(page: Path) -> Element:
    return Tree(page.read_text()).root


def test_nothing_comes_from_outside_of_the_file(page: Path) -> None:
    text = page.read_text()
    assert not re.findall(r"""(?:src|@import|url\()\s*=?\s*["']?(?!data:)[a-z/.]""", text)
    assert not re.findall(r'href="[a-z]+:', text)
    assert page.stat().st_size < 5e6


@pytest.mark.full
@pytest.mark.timeout(900)
def test_a_page_of_everything_that_is_kept_stays_small(tmp_path: Path) -> None:
    archives = sorted((ROOT / "results" / "reference").glob(f"*{paths.SUFFIX}"))
    folders = [folder for kept in archives for folder in paths.sessions_of(kept)]
    kept = [folder for folder in folders if (folder / paths.FACTS).exists()]
    made = build_report(kept, tmp_path)
    assert not made.problems
    assert len(set(Tree(made.path.read_text()).root.all("figure"))) > 15
    assert made.path.stat().st_size < 2e5 * len(kept), "200 kB a session"


def test_every_figure_has_title_description_legend_and_its_points_as_a_table(tree: Element, page: Path) -> None:
    figures = tree.all("figure")
    assert len(figures) == len(list((page.parent / "figures").glob("*.csv"))) > 2
    for figure in figures:
        (chart,) = [one for one in figure.all("div") if one.attributes.get("class") == "chart"]
        description = chart.all("span")[0]
        assert chart.attributes["aria-describedby"] == description.attributes["id"]
        assert chart.attributes["aria-label"] and description.text
        panels = chart.all("svg")
        assert len({panel.attributes["viewbox"] for panel in panels}) == 1 <= len(panels), "as wide and high as others"
        assert figure.all("li"), "a legend"
        points = chart.all("a")
        rows = figure.all("tbody")[0].all("tr")
        assert {point.attributes["href"] for point in points} == {f"#{row.attributes['id']}" for row in rows}
        assert all(point.all("title")[0].text for point in points)
        drawn = pd.read_csv(page.parent / "figures" / f"{figure.attributes['data-name']}.csv")
        said = [cell.attributes["data-v"] for row in rows for cell in row.all("td") if "data-v" in cell.attributes]
        assert len(rows) == len(drawn)
        assert {f"{value:.9g}" for value in drawn["value"].dropna()} <= set(said)


def test_a_curve_differs_from_others_in_marker_or_dash(tree: Element) -> None:
    for figure in tree.all("figure"):
        looks = []
        for entry in figure.all("li"):
            (line,) = entry.all("path")
            marker = [use.attributes["href"] for use in entry.all("use")]
            looks.append((line.attributes.get("stroke-dasharray", ""), *marker))
        assert Counter(looks).most_common(1)[0][1] == 1, figure.attributes["data-name"]


def test_links_lead_to_what_is_there(tree: Element, page: Path) -> None:
    identifiers = [element.attributes["id"] for element in _every(tree) if "id" in element.attributes]
    assert len(identifiers) == len(set(identifiers))
    for link in tree.all("a"):
        target = link.attributes["href"]
        assert target[1:] in identifiers if target.startswith("#") else (page.parent / target).is_file(), target


def test_filters_have_labels_and_no_effect_without_a_script(tree: Element) -> None:
    (form,) = tree.all("form")
    assert {field.all("legend")[0].text for field in form.all("fieldset")} == {"MPI", "variant", "message size"}
    for box in form.all("input"):
        assert box.parent is not None
        assert (box.parent.tag, bool(box.parent.text)) == ("label", True)
    assert not [row for row in tree.all("tr") if "hidden" in row.attributes]
    (command,) = tree.all("code", id="command")
    assert command.text.startswith("./bench report ")


@pytest.mark.full
def test_studies_and_systems_can_be_chosen_where_there_are_several(sessions: list[Path], tmp_path: Path) -> None:
    few = {name: USUAL[name] for name in ("bare", "adaptive")}
    other = Synthetic(study="send-time", comp_s=(0.01,), mpis={"mpich": few}, launches=1, samples=2).write(
        tmp_path / "b"
    )
    for file in (other / "records").iterdir():
        file.write_text(file.read_text().replace("vcluster:compute", "site:batch"))
    root = Tree(build_report([sessions[0], other], tmp_path / "page").path.read_text()).root
    (form,) = root.all("form")
    boxes = [(box.attributes["name"], box.attributes["value"]) for box in form.all("input")]
    studies = [value for name, value in boxes if name == "study"]
    systems = [value for name, value in boxes if name == "system"]
    assert (studies, systems) == (["overlap-ratio", "send-time"], ["vcluster:compute", "site:batch"])
    rows = [row.attributes["data-f"].split() for row in root.all("tr") if row.attributes.get("id", "").startswith("r")]
    assert {(study, system) for study, system, *_ in rows} == {("0", "0"), ("1", "1")}
    choice = Choice.of_words(study="send-time", system="site:batch")
    narrow = Tree(build_report([sessions[0], other], tmp_path / "narrow", choice).path.read_text()).root
    assert {figure.attributes["data-name"].partition("-")[0] for figure in narrow.all("figure")} == {"send_time"}


def test_a_name_from_a_record_is_text_and_no_markup(tmp_path: Path) -> None:
    variants = {"bare": Behaviour(0.1), "adaptive:x=<img src=y>": Behaviour(0.9)}
    session = Synthetic(mpis={"mpich": variants}, launches=1, samples=2, comp_over_comm=(1.0,)).write(tmp_path / "s")
    page = build_report([session]).path.read_text()
    assert "<img" not in page
    assert "&lt;img src=y&gt;" in page


@pytest.mark.full
def test_several_sessions_stand_side_by_side(sessions: list[Path], tmp_path: Path) -> None:
    root = Tree(build_report(sessions, tmp_path).path.read_text()).root
    panels = list(zip(root.all("text", **{"class": "head"}), root.all("text", **{"class": "sub"}), strict=True))
    sides = [("MPICH", "s1"), ("MPICH", "s2"), ("Open MPI", "s1"), ("Open MPI", "s2")]
    columns = list(dict.fromkeys((mpi.text, session.text) for mpi, session in panels))  # each row has its titles
    assert columns[:4] == sides


def test_the_command_names_every_session_as_a_shell_takes_it(sessions: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "a session's folder"
    shutil.copytree(sessions[0], other)
    facts = json.loads((other / "session.json").read_text())
    (other / "session.json").write_text(json.dumps(facts | {"session": "other"}))
    (command,) = Tree(build_report([sessions[1], other], tmp_path / "out").path.read_text()).root.all(
        "code", id="command"
    )
    assert shlex.split(command.text) == ["./bench", "report", str(sessions[1]), str(other)]


def test_what_is_chosen_is_drawn_with_the_values_of_everything(
    sessions: list[Path], page: Path, tmp_path: Path
) -> None:
    choice = Choice.of_words(mpi="mpich", variant="bare,adaptive", size="4MB")
    assert choice.options() == "--mpi mpich --variant bare,adaptive --size 4194304"
    narrow = build_report(sessions[:1], tmp_path, choice).path
    assert {file.name for file in (tmp_path / "figures").glob("*.csv")} == {
        "overlap_efficiency-both.csv",
        "overlap_ratio-4mb.csv",
    }
    for file in (tmp_path / "figures").glob("*.csv"):
        wanted = choice.of(pd.read_csv(page.parent / "figures" / file.name))
        assert len(wanted) > 2
        pd.testing.assert_frame_equal(pd.read_csv(file), wanted.reset_index(drop=True), check_dtype=False)
    assert choice.options() in Tree(narrow.read_text()).root.all("code", id="command")[0].text


def test_claims_are_decided_on_everything_whatever_is_drawn(sessions: list[Path]) -> None:
    records = load(sessions[:1])
    whole, part = Evidence(records), Evidence(records, choice=Choice(mpi=("openmpi",)))
    assert part.metrics.equals(whole.metrics)
    assert set(part.shown["mpi"]) == {"openmpi"}


def test_what_was_not_recorded_cannot_be_chosen(sessions: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--mpi mpch: .* no such points\. Is mpich meant\? There are: mpich, "):
        build_report(sessions[:1], tmp_path / "out", Choice.of_words(mpi="mpch"))
    with pytest.raises(UsageError, match=r"--size 4Mb\?: not a size"):
        Choice.of_words(size="4Mb?")
    assert not (tmp_path / "out").exists()
    assert [bytes_of(words) for words in ("64KB", "64 kib", "0.5M", "65536", "65536B")] == [1 << 16] * 2 + [1 << 19] + [
        1 << 16
    ] * 2
    with pytest.raises(UsageError, match=r"--size 1\.5: not a size"):
        bytes_of("1.5")


@pytest.mark.full
def test_the_appendix_of_a_paper_has_its_numbers_beside_ours(sessions: list[Path], tmp_path: Path) -> None:
    page = write_paper("pioman", sessions[:1], tmp_path)
    assert page.name == "paper-pioman.html"
    root = Tree(page.read_text()).root
    assert "inconclusive" in root.text
    table = pd.read_csv(tmp_path / "paper-pioman.csv")
    assert {claim.statement for subject in of_paper("pioman") for claim in subject.claims} == set(table["claim"])
    ratio = table[table["claim"].str.startswith("With the engine the overlap ratio reaches 1")]
    assert ratio["who"].tolist() == ["the paper", "MPICH", "Open MPI"]
    assert ratio["value"].iloc[0] == 1.0
    assert (tmp_path / "figures" / "paper-p1-1.csv").exists()
    identifiers = {element.attributes["id"] for element in _every(root) if "id" in element.attributes}
    assert all(
        link.attributes["href"][1:] in identifiers for link in root.all("a") if link.attributes["href"][0] == "#"
    )
    with pytest.raises(UsageError, match="There are: pioman, miwa, ruhela, fukuoka, gemini"):
        write_paper("pionam", sessions[:1], tmp_path)


@pytest.mark.parametrize(
    ("values", "kind", "base", "ticks"),
    [
        ([0, 10], "linear", 10, [0, 2, 4, 6, 8, 10]),
        ([-1, 1], "linear", 10, [-1, -0.5, 0, 0.5, 1]),
        ([1, 1000], "log", 10, [1, 5, 20, 100, 500]),
        ([1, 64], "log", 2, [1, 4, 16, 64]),
        ([5, 5], "linear", 10, None),
        ([0, 1, 100], "log", 10, None),
        ([], "log", 10, None),
    ],
)
def test_axes_have_few_even_ticks(values: list[float], kind: str, base: int, ticks: list[float] | None) -> None:
    scale = Scale.over(values, kind, base)
    assert 1 < len(scale.ticks()) <= 9
    assert ticks is None or scale.ticks() == ticks
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert all(0 <= place <= 1 for place in places)


def _every(element: Element) -> list[Element]:
    return [element, *(below for child in element.children for below in _every(child))]
