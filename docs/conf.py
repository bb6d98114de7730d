# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx's configuration: the pages as an offline site, by `./bench docs`."""

from typing import Any

from pygments.lexers.special import TextLexer

project = "Overlap Bench"
author = "the authors of Overlap Bench"
extensions = ["myst_parser"]
html_theme = "alabaster"  # comes with Sphinx, and asks no other host for anything
html_theme_options = {"page_width": "1100px", "sidebar_width": "260px", "fixed_sidebar": True}
html_show_sphinx = False
html_copy_source = False
myst_heading_anchors = 4  # the anchors that GitHub makes, too


def setup(app: Any) -> None:  # Sphinx is installed on demand, so that nothing here is imported from it
    app.add_lexer("mermaid", TextLexer)  # drawn by GitHub; here it is text
