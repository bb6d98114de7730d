# SPDX-License-Identifier: BSD-3-Clause
"""Put sessions, with every sample, into one compressed file that everything reads as it reads their folders.

Kept are a session's facts, nodes and records, the results of calibrations (what other sessions take, not their
launches), and what a gate, a search of ./bench tune or ./bench engine-costs left there. Figures and the report are not:
they are drawn again. Paths in this checkout become relative, so that nothing tells where it was. Times lose the digits
that arithmetic has left behind the clock's: they mean nothing and are half of some files. The same sessions make the
same bytes.
"""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError
from harness.base.paths import FACTS, ROOT, SUFFIX

KEPT = (FACTS, "calibration/*.json", *(f"{name}/**/*" for name in ("nodes", "records", "gate", "tuning", "costs")))
RECORD = ".jsonl"
OF_LAUNCHES = ("records", "calibration")  # their files' names begin with the study's
DECIMALS = 14  # of a second: a clock's differences have nine, halved and averaged a few more


def keep(sessions: Sequence[Path], file: Path, studies: Sequence[str] = (), failed: bool = False) -> None:
    """Write the sessions to `file`, a new one; more than one become folders in it, by their names.

    `studies`: these alone. `failed`: also a session with points that failed. UsageError where a session is not whole,
    or the file's name is taken or ends differently.
    """
    if not file.name.endswith(SUFFIX):
        raise UsageError(f"{file}: a name is wanted that ends in {SUFFIX}.")
    if file.exists():
        raise UsageError(f"{file} exists: remove it first, or name another file.")
    name = file.name.removesuffix(SUFFIX)
    content: dict[str, bytes] = {}
    for session in sessions:
        inside = name if len(sessions) == 1 else f"{name}/{session.name}"
        found = _only(_read(session, failed), studies, session)
        content |= {f"{inside}/{path}": text for path, text in found.items()}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{name}-", delete=False) as partial:
            try:
                _write(content, partial.name)
                Path(partial.name).chmod(0o644)
                Path(partial.name).rename(file)
            finally:
                Path(partial.name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}): name another file by --out.") from error


def _read(session: Path, failed: bool) -> dict[str, bytes]:
    """What is kept of a session: path in it -> content."""
    if not (session / FACTS).is_file():
        raise UsageError(f"{session} is no session: it has no {FACTS}.")
    state = json.loads((session / FACTS).read_text())["state"]
    if state not in (("complete", "incomplete") if failed else ("complete",)):
        but = "; with points that failed, --failed keeps it" if state == "incomplete" else ""
        raise UsageError(f"{session} is {state}: only a complete session is kept{but}.")
    files = [path for pattern in KEPT for path in session.glob(pattern) if path.is_file()]
    return {str(path.relative_to(session)): _short(path.suffix, _without_root(path.read_bytes())) for path in files}


def _without_root(content: bytes) -> bytes:
    return content.replace(f"{ROOT}/".encode(), b"").replace(str(ROOT).encode(), b".")


def _short(suffix: str, content: bytes) -> bytes:
    """A record's lines with their times to DECIMALS; everything else as it is."""
    if suffix != RECORD:
        return content
    lines = [json.loads(line) for line in content.splitlines()]
    for line in lines:
        for part in ("samples", "noise"):
            if part in line:
                line[part] = {name: _rounded(name, found) for name, found in line[part].items()}
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def _rounded(name: str, found: Any) -> Any:
    if isinstance(found, list):
        return [_rounded(name, one) for one in found]
    return round(found, DECIMALS) if isinstance(found, float) and name.endswith("_s") else found


def _only(content: Mapping[str, bytes], studies: Sequence[str], session: Path) -> Mapping[str, bytes]:
    """Leave these studies' launches and calibrations alone."""
    if not studies:
        return content
    facts = json.loads(content[FACTS])
    if unknown := set(studies) - set(facts["studies"]):
        has = ", ".join(facts["studies"])
        raise UsageError(f"{session} has no study {', '.join(sorted(unknown))}: it has {has}.")
    facts["studies"] = [name for name in facts["studies"] if name in studies]
    facts["expected"] = [name for name in facts["expected"] if name.partition(".")[0] in studies]
    left = {
        path: text
        for path, text in content.items()
        if path.partition("/")[0] not in OF_LAUNCHES or Path(path).name.partition(".")[0] in studies
    }
    return left | {FACTS: json.dumps(facts, indent=1).encode() + b"\n"}


def _write(content: Mapping[str, bytes], file: str) -> None:
    small = 9 | lzma.PRESET_EXTREME
    with lzma.open(file, "wb", preset=small) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(content):
            member = tarfile.TarInfo(path)  # of nobody, and of no time
            member.size = len(content[path])
            tar.addfile(member, io.BytesIO(content[path]))
