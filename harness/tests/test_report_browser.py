# SPDX-License-Identifier: BSD-3-Clause
"""The report in a real Chromium: with the keyboard, with axe-core, and its command against its own state."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from analysis.report.browser import OF_WHERE, PICTURES, chromium, main, pictures
from analysis.report.paper import write_paper
from analysis.report.report import build_report
from analysis.tests.synthetic import USUAL, Synthetic
from harness.base import paths
from harness.base.paths import ROOT
from harness.cli import main as bench

pytest.importorskip("selenium", reason="the group `browser` is not installed")
pytest.importorskip("axe_core_python", reason="the group `browser` is not installed")

pytestmark = [pytest.mark.full, pytest.mark.slow, pytest.mark.timeout(1200)]

DEMO = paths.folder_of(ROOT / "results" / "reference" / "demo")
TAB, ENTER, SPACE, RIGHT, END = "\ue004", "\ue007", " ", "\ue014", "\ue010"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    mpis = dict.fromkeys(("mpich", "openmpi", "intel-mpi"), USUAL)
    made = Synthetic(mpis=mpis, launches=3, samples=8, sizes=(1 << 16, 4 << 20)).write(folder / "made")
    return build_report([made], folder / "out").path


@pytest.fixture(scope="module")
def shared() -> Iterator[Any]:
    with chromium() as driver:
        yield driver


@pytest.fixture
def browser(shared: Any, page: Path) -> Any:
    """On the page as it comes."""
    shared.get("about:blank")
    shared.get(page.as_uri())
    return shared


def one(browser: Any, query: str) -> Any:
    return browser.find_element("css selector", query)


def shown(browser: Any) -> Counter[tuple[str, str, str, float]]:
    """(figure, MPI, variant, value) of the rows of figures that are not filtered away; 9 digits."""
    rows = browser.execute_script(
        """return [...document.querySelectorAll("figure.plot tr[id^=r]:not([hidden])")].map((row) => {
             const heads = [...row.closest("table").querySelectorAll("th")].map((head) => head.textContent);
             const of = (name) => row.cells[heads.indexOf(name)];
             return [row.closest("figure").dataset.name, of("MPI").textContent, of("variant").textContent,
                     of("value").dataset.v || ""]; })"""
    )
    return Counter((figure, mpi, variant, value) for figure, mpi, variant, value in rows)


def drawn(folder: Path) -> Counter[tuple[str, str, str, str]]:
    """The same of the CSV files."""
    titles = {"mpich": "MPICH", "openmpi": "Open MPI", "intel-mpi": "Intel MPI"}
    found: Counter[tuple[str, str, str, str]] = Counter()
    for file in folder.glob("*.csv"):
        for row in pd.read_csv(file).to_dict("records"):
            value = f"{row['value']:.9g}" if pd.notna(row["value"]) else ""
            found[file.stem, titles[row["mpi"]], row["variant"], value] += 1
    return found


@pytest.mark.parametrize(("kind", "dark"), [("report", False), ("report", True), ("paper-pioman", True)])
def test_axe_finds_nothing(page: Path, kind: str, dark: bool) -> None:
    from axe_core_python.selenium import Axe  # noqa: PLC0415

    if kind != "report":
        page = write_paper("pioman", [DEMO], page.parent / kind)
    with chromium(dark=dark) as driver:
        driver.get(page.as_uri())
        driver.execute_script("for (const it of document.querySelectorAll('details')) it.open = true")
        found = Axe().run(driver)
        assert [(it["id"], it["nodes"][0]["html"][:200], len(it["nodes"])) for it in found["violations"]] == []
        assert len(found["passes"]) > 20


@pytest.mark.parametrize(
    ("ticked", "options", "address"),
    [
        (("mpi=mpich", "variant=bare", "variant=adaptive"), "--mpi mpich --variant bare,adaptive",
         "#mpi=mpich&variant=bare,adaptive"),
        (("size=4194304", "size=65536", "mpi=openmpi"), "--mpi openmpi --size 65536,4194304",
         "#mpi=openmpi&size=65536,4194304"),
    ],
)  # fmt: skip
def test_the_filtered_pages_command_draws_the_same_points(
    ticked: tuple[str, ...], options: str, address: str, browser: Any, page: Path, tmp_path: Path
) -> None:
    everything = shown(browser)
    assert everything == drawn(page.parent / "figures")
    for name, _, value in (words.partition("=") for words in ticked):
        one(browser, f"input[name={name}][value='{value}']").send_keys(SPACE)
    command = one(browser, "#command").text
    assert command.endswith(options)
    assert address in browser.current_url
    assert 0 < sum(shown(browser).values()) < sum(everything.values())
    words = shlex.split(command)
    assert words[0] == "./bench"
    assert bench([*words[1:], "--out", str(tmp_path)]) == 0
    assert drawn(tmp_path / "figures") == shown(browser)


def test_the_address_holds_the_state(browser: Any) -> None:
    one(browser, "input[name=size][value='4194304']").click()
    one(browser, "#fig-overlap_ratio-4mb summary").click()
    one(browser, "#fig-overlap_ratio-4mb th:nth-child(4) button").send_keys(ENTER)
    cells = browser.find_elements("css selector", "#fig-overlap_ratio-4mb td:nth-child(4)[data-v]")
    values = [float(cell.get_attribute("data-v")) for cell in cells]
    assert values == sorted(values), "by number"
    address, rows = browser.current_url, shown(browser)
    browser.get("about:blank")
    browser.get(address)
    assert shown(browser) == rows
    assert one(browser, "input[name=size][value='4194304']").is_selected()
    assert one(browser, "#fig-overlap_ratio-4mb th:nth-child(4)").get_attribute("aria-sort") == "ascending"
    assert not one(browser, "#fig-overlap_ratio-64kb").is_displayed()
    assert "points are shown" in one(browser, "#count").text


def test_a_mark_leads_to_its_row_and_that_to_its_records_by_keyboard(browser: Any, page: Path) -> None:
    marks = browser.find_elements("css selector", "#fig-overlap_ratio-4mb .chart a")
    assert [mark.get_attribute("tabindex") for mark in marks].count("0") == 1
    browser.execute_script("arguments[0].focus()", marks[0])
    browser.switch_to.active_element.send_keys(RIGHT)
    browser.switch_to.active_element.send_keys(RIGHT)
    here = browser.switch_to.active_element
    assert here == marks[2]
    target = here.get_dom_attribute("href")
    here.send_keys(ENTER)
    row = browser.switch_to.active_element
    assert row.tag_name == "tr"
    assert row.get_attribute("id") == target.lstrip("#")
    assert row.is_displayed()
    assert "at" in row.get_attribute("class")
    row.find_element("css selector", "a").send_keys(ENTER)
    files = browser.switch_to.active_element
    assert files.get_attribute("open")
    link = files.find_element("css selector", "a").get_dom_attribute("href")
    assert (page.parent / link).resolve().read_text().startswith('{"header"')
    assert "at=f" in browser.current_url


def test_every_control_is_reached_with_tab(browser: Any) -> None:
    reached = set()
    browser.execute_script("document.body.focus()")
    for _ in range(60):
        browser.switch_to.active_element.send_keys(TAB)
        here = browser.switch_to.active_element
        reached.add(here.get_attribute("id") or here.get_attribute("name") or here.tag_name)
    assert {"theme", "mpi", "variant", "size", "everything", "copy", "a", "summary"} <= reached


def test_without_javascript_and_on_a_narrow_page_everything_is_there(page: Path) -> None:
    with chromium(script=False) as driver:
        driver.get(page.as_uri())
        assert not one(driver, "#filters").is_displayed()
        assert not one(driver, "#theme").is_displayed()
        assert one(driver, "#command").text.startswith("./bench report")
        figures = driver.find_elements("css selector", "figure.plot")
        assert all(figure.is_displayed() for figure in figures)
        mark = one(driver, "#fig-overlap_ratio-4mb .chart a")
        assert mark.get_dom_attribute("href").startswith("#r")
    with chromium((420, 900)) as driver:
        driver.get(page.as_uri())
        root = "document.documentElement"
        assert driver.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth"), "a narrow page"


def test_pictures_of_the_documentation_can_be_made_again(
    page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(page), "--pictures", str(tmp_path), "--load", "1"]) == 0
    assert {file.stem for file in tmp_path.glob("*.webp")} == set(PICTURES)
    assert all(file.stat().st_size < 150_000 for file in tmp_path.glob("*.webp"))
    assert "loaded in" in capsys.readouterr().out
    assert pictures(page, tmp_path)


def test_a_page_of_where_has_a_picture_of_its_own(tmp_path: Path) -> None:
    page = tmp_path / "where.html"
    page.write_text('<html><body><div id="answer">At most 3 s of 10 s.</div></body></html>')
    assert [file.stem for file in pictures(page, tmp_path)] == list(OF_WHERE)
