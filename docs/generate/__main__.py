# SPDX-License-Identifier: BSD-3-Clause
"""`python -m docs.generate [--check]`: writes the generated pages of docs/reference, or says which are old."""

from __future__ import annotations

import sys

from docs.generate import FOLDER, differing, everything


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(f"docs.generate: {' '.join(arguments)} is not known: nothing, or --check.", file=sys.stderr)
        return 2
    if not arguments:
        for name, text in everything().items():
            (FOLDER / name).write_text(text)
        return 0
    for name in (old := differing()):
        print(f"docs/reference/{name} is not up to date: python -m docs.generate writes it.", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
