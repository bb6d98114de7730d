# SPDX-License-Identifier: BSD-3-Clause
"""A real browser on a report: for its tests, for the pictures of the documentation, and for how long it takes to load.

.venv/bin/python -m analysis.report.browser REPORT.html --pictures docs/pictures
.venv/bin/python -m analysis.report.browser REPORT.html --load 10

It needs Debian's chromium and chromium-driver, and the group `browser` of pyproject.toml: ./bench test --full installs
both.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from analysis.errors import Failure

PROGRAMS = ("chromium", "chromedriver")
INSTALL = ".venv/bin/uv sync --frozen --inexact --no-install-project --group browser"
PATIENCE_S = 900  # until a page is loaded or a script has ended: several browsers may share the CPU
WIDE = (1200, 900)
PICTURES = {  # name -> size, dark, the part of the page's address behind #, what is scrolled to
    "report-top": ((1200, 540), False, "", "short"),
    "report-filters": ((1200, 700), False, "variant=bare,adaptive", "filters"),
    "report-dark": (WIDE, True, "", "fig-overlap_efficiency-both"),
}
OF_WHERE = {"where": ((1200, 560), False, "", "answer")}  # of a page of ./bench where --html
COLOURS = 160  # of a picture: what is drawn has few


@contextlib.contextmanager
def chromium(size: tuple[int, int] = WIDE, dark: bool = False, script: bool = True) -> Iterator[Any]:
    """A headless Chromium that prefers light or dark pages, with JavaScript or without."""
    try:
        from selenium import webdriver  # noqa: PLC0415 - of a group of its own
    except ImportError as error:
        raise Failure(f"the group `browser` is not installed: {INSTALL}") from error
    found = [shutil.which(program) for program in PROGRAMS]
    if None in found:
        raise Failure(f"{' and '.join(PROGRAMS)} are needed: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = str(found[0])
    flags = ["--headless=new", "--disable-dev-shm-usage", "--hide-scrollbars", f"--window-size={size[0]},{size[1]}"]
    for flag in [*flags, *(["--no-sandbox"] if os.geteuid() == 0 else [])]:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=str(found[1])))
    try:
        driver.command_executor.client_config.timeout = PATIENCE_S + 60  # else Selenium gives up first, after 120 s
        driver.set_page_load_timeout(PATIENCE_S)
        driver.set_script_timeout(PATIENCE_S)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})
        yield driver
    finally:
        driver.quit()


def pictures(page: Path, folder: Path) -> list[Path]:
    """Small pictures of a report: its beginning, its filters, a figure on a dark page; of another page the answer."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    wanted = PICTURES if 'id="filters"' in page.read_text(encoding="utf-8") else OF_WHERE
    for name, (size, dark, state, target) in wanted.items():
        with chromium(size, dark) as driver:
            driver.get(f"{page.resolve().as_uri()}#{state}")
            driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", target)
            image = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
        fresh = folder / f".{name}.webp"
        image.quantize(COLOURS).convert("RGB").save(fresh, lossless=True, quality=100, method=6)
        made.append(fresh.replace(folder / f"{name}.webp"))
    return made


def load_ms(page: Path, times: int) -> list[float]:
    """Milliseconds until the page is loaded and its script has run, each in a browser of its own."""
    found = []
    for _ in range(times):
        with chromium() as driver:
            driver.get(page.resolve().as_uri())
            found.append(driver.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="analysis.report.browser", description="A real browser on a report.")
    parser.add_argument("page", type=Path, help="report.html, or a page of ./bench where --html")
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="write the pictures of docs/pictures")
    parser.add_argument("--load", type=int, metavar="N", default=0, help="load it N times and say how long it takes")
    asked = parser.parse_args(arguments)
    if not asked.page.is_file():
        parser.error(f"{asked.page}: no such page; ./bench report writes one")
    if asked.pictures:
        for picture in pictures(asked.page, asked.pictures):
            print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")
    if asked.load:
        times = load_ms(asked.page, asked.load)
        print(f"{asked.page}: {asked.page.stat().st_size / 1e6:.2f} MB, loaded in {statistics.median(times):.0f} ms "
              f"({min(times):.0f} to {max(times):.0f}, {len(times)} times)")  # fmt: skip
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"browser: {failure}")
