# SPDX-License-Identifier: BSD-3-Clause
"""What an address in a program is called: its function, file and line, as addr2line of the binutils reads them from
what the compiler left there (-g). A return address belongs to the call before it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path

from harness.base import process

LIMIT_S = 120.0
UNKNOWN = "??"
_FIRST = re.compile(r"^0x[0-9a-f]+\n(.*)\n(.*)$", re.MULTILINE)


def source_lines(addresses: Mapping[tuple[str, int], str | None]) -> dict[tuple[str, int], str]:
    """(file, offset of a return address in it) -> "exchange() halo.c:83", or "exchange() app" without debug
    information; what is not found is left out. `addresses`: with the function there, if the file exports it. Of a
    stripped file addr2line names the nearest of those otherwise, whose code it is not."""
    by_file: dict[str, list[int]] = {}
    for file, offset in addresses:
        by_file.setdefault(file, []).append(offset)
    found: dict[tuple[str, int], str] = {}
    for file, offsets in by_file.items():
        told = "\n".join(f"{offset - 1:#x}" for offset in offsets) + "\n"
        said = process.answer(["addr2line", "-a", "-i", "-f", "-C", "-e", file], LIMIT_S, told=told).out
        # behind each address the function there, then those that it was inlined into
        for offset, (function, line) in zip(offsets, _FIRST.findall(said), strict=False):
            name = _name(file, function, line)
            if name and (_LINE.search(name) or addresses[file, offset] or _names_all(file)):
                found[file, offset] = name
    return found


@functools.cache
def _names_all(file: str) -> bool:
    return ".symtab" in process.answer(["readelf", "-SW", file], LIMIT_S).out


def _name(file: str, function: str, line: str) -> str:
    """ "main() app.c:12"; empty where neither is known."""
    path, _, number = line.partition(" ")[0].rpartition(":")  # behind it may stand "(discriminator 3)"
    if function == UNKNOWN:
        return ""
    known = path not in ("", UNKNOWN) and number.isdecimal() and int(number) > 0
    where = f"{Path(path).name}:{number}" if known else Path(file).name
    return f"{without_parameters(_MODULE.sub('', function))}() {where}"


_LINE = re.compile(r":\d+$")
_MODULE = re.compile(r"^__\w+_MOD_(?=\w)")  # before a procedure's name, as gfortran has it
_BEHIND = re.compile(r"( const)?( volatile)?( ?&&?)?( \[clone [^]]*\])*$")


def without_parameters(function: str) -> str:
    """Of a function as it is demangled; other parentheses stay: "(anonymous namespace)::run"."""
    name = _BEHIND.sub("", function)
    depth = 0
    for at in range(len(name) - 1, -1, -1) if name.endswith(")") else ():
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return name[:at]
    return name
