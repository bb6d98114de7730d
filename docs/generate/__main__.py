# SPDX-License-Identifier: BSD-3-Clause
"""`python -m docs.generate [--check]`: writes the generated pages of docs/reference, or says which are old.

`python -m docs.generate --commands FOLDER` writes the pages of the commands there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from docs.generate import FOLDER, commands, differing, everything


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            return write(everything(), FOLDER)
        case ["--commands", folder]:
            return write(commands.pages(), Path(folder))
        case ["--check"]:
            return check()
    known = "nothing, --check, or --commands FOLDER"
    print(f"docs.generate: {' '.join(arguments)} is not known: {known}.", file=sys.stderr)
    return 2


def write(pages: dict[str, str], folder: Path) -> int:
    for name, text in pages.items():
        (folder / name).write_text(text)
    return 0


def check() -> int:
    for name in (old := differing()):
        print(f"docs/reference/{name} is not up to date: python -m docs.generate writes it.", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
