# SPDX-License-Identifier: BSD-3-Clause
"""Did the MPI take a variable? It is set to another value than its default, and the MPI is asked or made to tell.

A job runs a probe as it runs a launch, on the same nodes and with the same launcher, and leaves its output in a log of
the session. What the output says is read afterwards. A variable of which nothing shows that it was taken may be
misspelt or of another release; whatever is measured with it would be the default by another name. One with which the
MPI hangs is given up soon: the time that the MPI takes as it is says what is long.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from harness.base import process, validate

PROGRAM = "mpi_variables"
LIMIT_S = 30.0  # of the MPI as it is
SHORTEST_S, LONGER = 5.0, 10.0  # with variables: this many times as long as without, and never less than that
LONGEST = 100  # characters of a file's name
NOTHING = "none"  # no MPI has a variable of this name: the program is run for what the libraries print
Run = Callable[[Sequence[str], Path, float], process.Exit]  # of a launch: what is launched, its log, its limit
ENDED = "ended with status 0"
_TOOK = re.compile(r"^took ([\d.]+) s$", re.MULTILINE)
# How a variable is read back -> what makes the libraries tell.
TELLING: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "mpi_t": {},
        "ucx": {"UCX_LOG_LEVEL": "info"},
        "ofi": {"FI_LOG_LEVEL": "info"},
        "intel": {"I_MPI_DEBUG": "10"},
        "cray": {"MPICH_ENV_DISPLAY": "1"},
        "mvapich2": {"MV2_SHOW_ENV_INFO": "2"},
        "psm2": {"PSM2_VERBOSE_ENV": "1"},
    }
)
_FACTORS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@dataclass(frozen=True)
class Probe:
    """`value`: one that is not the default. `how`: of TELLING, or "" where nothing tells. `key`: what the library
    itself calls the variable. `others`: values that are tried in place of the first where the MPI has that one anyway.
    """

    __pydantic_config__ = validate.MODEL

    name: str
    value: str
    how: str
    key: str
    others: list[str] = field(default_factory=list)


def log_of(logs: Path, mpi: str, probe: Probe | None) -> Path:
    """Where the output of a probe is; without one that of the MPI as it is."""
    return _log(logs, mpi, {probe.name: probe.value} if probe else {})


def _log(logs: Path, mpi: str, variables: Mapping[str, str]) -> Path:
    pairs = "+".join(f"{name}={value}" for name, value in variables.items()) or "default"
    name = re.sub(r"[^\w,+=-]", "_", pairs)
    if len(name) > LONGEST or name != pairs:  # "^tcp" and "_tcp" are two values
        name = f"{name[:LONGEST]}.{hashlib.sha256(pairs.encode()).hexdigest()[:8]}"
    return logs / f"read-back.{mpi}.{name}.log"


def run(probes: Sequence[Probe], launch: Run, programs: Path, logs: Path, mpi: str) -> None:
    """Run those probes that have not been run: the MPI as it is, then each variable alone. None where it does not run
    as it is."""
    told_by = [probe for probe in probes if probe.how]
    if not told_by:
        return
    keys = [probe.key for probe in told_by if probe.how == "mpi_t"] or [NOTHING]
    _probe(launch, {}, [str(programs / PROGRAM), *keys], _log(logs, mpi, {}), LIMIT_S)
    if not (limit := limit_s(logs, mpi)):
        return
    for probe in (_as_tried(probe, logs, mpi) for probe in told_by):
        variables = {**TELLING[probe.how], probe.name: probe.value}
        asked = {"mpi_t": probe.key, "ofi": probe.name}.get(probe.how, NOTHING)
        _probe(launch, variables, [str(programs / PROGRAM), asked], log_of(logs, mpi, probe), limit)


def against(variables: Mapping[str, str], launch: Run, programs: Path, logs: Path, mpi: str) -> str:
    """Why this MPI does not run with these variables together, by a trial that is made once; empty if it does, or did
    not run as it is, or was not asked.

    The trial does not make the libraries tell what they took, so its log is none of a probe: the same variable may be
    read back later, as the winner's are.
    """
    limit = limit_s(logs, mpi)
    if not (variables and limit):
        return ""
    asked = _log(logs, mpi, variables)
    log = asked if asked.exists() else asked.with_name(f"trial.{asked.name}")
    _probe(launch, variables, [str(programs / PROGRAM), NOTHING], log, limit)
    end = _end(_text(log))
    pairs = " and ".join(f"{name}={value}" for name, value in variables.items())
    return "" if end == ENDED else f"the MPI does not run with {pairs}: in a short trial it {end}"


def limit_s(logs: Path, mpi: str) -> float:
    """How long a launch with variables may take, by what one took without; 0 where none did, or failed."""
    before = _text(_log(logs, mpi, {}))
    took = _TOOK.search(before)
    if _end(before) != ENDED:
        return 0.0
    return min(LIMIT_S, max(SHORTEST_S, LONGER * float(took[1]))) if took else LIMIT_S


def _probe(launch: Run, variables: Mapping[str, str], program: Sequence[str], log: Path, limit: float) -> None:
    if log.exists():
        return
    partial = log.with_suffix(".part")
    partial.unlink(missing_ok=True)
    set_on_ranks = ["env", *(f"{name}={value}" for name, value in variables.items())]
    ended = launch([*set_on_ranks, *program], partial, limit)
    how = f"did not end within {limit:.0f} s" if ended.status is None else f"ended with status {ended.status}"
    with partial.open("a") as stream:
        stream.write(f"\ntook {ended.seconds:.2f} s\nread-back: {how}\n")
    partial.replace(log)


def told(probe: Probe, logs: Path, mpi: str) -> tuple[bool, str]:
    """Whether the variable was taken, and what shows that it was, or why nothing does."""
    if not probe.how:
        return False, "nothing that this MPI prints shows it"
    probe = _as_tried(probe, logs, mpi)
    before, output = _text(_log(logs, mpi, {})), _text(log_of(logs, mpi, probe))
    if before and _end(before) != ENDED:
        return False, f"the MPI does not run as it is: it {_end(before)}"
    if not output:
        return False, "it was not asked"
    if (end := _end(output)) != ENDED:
        return False, f"the MPI does not run with {probe.name}={probe.value}: it {end}"
    return READERS[probe.how](probe, output, before)


def unasked(probes: Sequence[Probe], logs: Path, mpi: str) -> list[str]:
    """The variables of which the MPI was to be asked and was not, since the job ended before: whether it takes them is
    not known. None where the MPI does not run as it is, which is an answer."""
    wanted = [probe for probe in probes if probe.how]
    if _log(logs, mpi, {}).exists() and not limit_s(logs, mpi):
        return []
    return [probe.name for probe in wanted if not log_of(logs, mpi, _as_tried(probe, logs, mpi)).exists()]


def doubts(probes: Sequence[Probe], logs: Path, mpi: str) -> list[str]:
    """Of each variable that is not shown to have been taken, why. Of one with the value that the MPI has anyway there
    is no doubt: it runs with it."""
    answers = ((probe, *told(probe, logs, mpi)) for probe in probes if not _ran_as_it_is(probe, logs, mpi))
    return [f"{probe.name}={probe.value}: {why}" for probe, taken, why in answers if not taken]


def _as_tried(probe: Probe, logs: Path, mpi: str) -> Probe:
    """With the first of its values that the MPI has not anyway: of that one nothing could be seen."""
    here = _value(probe, _text(_log(logs, mpi, {})))
    values = (value for value in (probe.value, *probe.others) if here is None or not _same(here, value))
    return replace(probe, value=next(values, probe.value))


def _ran_as_it_is(probe: Probe, logs: Path, mpi: str) -> bool:
    """Whether the MPI ran with the value that was asked for, and has the same without."""
    outputs = (_text(log) for log in (_log(logs, mpi, {}), log_of(logs, mpi, probe)))
    return all(_end(text) == ENDED and _same(_value(probe, text) or "", probe.value) for text in outputs)


def _value(probe: Probe, output: str) -> str | None:
    """What MPI_T said that the variable is; None where it was not asked."""
    return _line(rf"^{re.escape(probe.key)} = (.*)$", output) if probe.how == "mpi_t" else None


def _text(log: Path) -> str:
    try:
        return log.read_text(errors="replace")
    except OSError:
        return ""


def _end(output: str) -> str:
    """How a launch ended, as its log says last."""
    return output.rstrip().rpartition("read-back: ")[2]


def _by_mpi_t(probe: Probe, output: str, before: str) -> tuple[bool, str]:
    """A word may be told as a number, which cannot be held against it: there the change shows that it was taken."""
    now, default = _value(probe, output), _value(probe, before)
    if now is None:
        return False, f"the MPI has no control variable {probe.key}"
    if now == default:
        return False, f"MPI_T: {probe.key} is {now} with it and without"
    numbers = None not in (_number(now), _number(probe.value))
    if not _same(now, probe.value) and (numbers or default is None):
        return False, f"MPI_T: {probe.key} is {now}, and {probe.value} was asked for"
    return True, f"MPI_T: {probe.key} is {now}{f' with it and {default} without' if default is not None else ''}"


def _by_ucx(probe: Probe, output: str, _before: str) -> tuple[bool, str]:
    if _line(rf"(unused environment variables?:.*\b{re.escape(probe.name)}\b)", output):
        return False, "UCX calls it unused"
    pair = f"{probe.name}={probe.value}"
    if _line(rf"(UCX_\* env(?:ironment)? variables?:.*\b{re.escape(pair)}\b)", output):
        return True, f"UCX prints it among what it uses: {pair}"
    return False, "UCX does not name it among what it uses"


def _by_ofi(probe: Probe, output: str, _before: str) -> tuple[bool, str]:
    """libfabric is asked; where it cannot be, it tells what its providers look up (not all that are built do)."""
    said = _line(rf"^{re.escape(probe.name)} = (.*)$", output)
    found = said or _line(rf"read \w+ var {re.escape(probe.key)}=(.*)$", output)
    if found is None:
        return False, "no provider of libfabric has it"
    return _same(found, probe.value), f"libfabric: {probe.name}={found.strip()}"


# What a library prints at its start, where it prints every variable that it knows: NAME is what the variable is called.
PRINTED = {
    "intel": r"MPI startup\(\):\s*NAME=(.*)$",
    "cray": r"PE 0:\s*NAME\s*=\s*(.*)$",
    "mvapich2": r"^\s*NAME\s*:\s*(.*)$",
    "psm2": r"\bNAME\b.*=>\s*(\S+)",
}


def _printed(probe: Probe, output: str, _before: str) -> tuple[bool, str]:
    found = _line(PRINTED[probe.how].replace("NAME", re.escape(probe.name)), output)
    if found is None:
        return False, "the library does not print it at its start"
    return _same(found, probe.value), f"the library prints at its start: {probe.name}={found.strip()}"


READERS = {"mpi_t": _by_mpi_t, "ucx": _by_ucx, "ofi": _by_ofi, **dict.fromkeys(PRINTED, _printed)}


def _line(pattern: str, output: str) -> str | None:
    found = re.search(pattern, output, re.MULTILINE)
    return found[1] if found else None


def _same(said: str, wanted: str) -> bool:
    """64k and 65536 are the same, and so are 0x10 and 16."""
    numbers = _number(said), _number(wanted)
    return said.strip() == wanted or (None not in numbers and numbers[0] == numbers[1])


def _number(text: str) -> float | None:
    text = text.strip().lower()
    if re.fullmatch(r"0x[0-9a-f]+", text):  # PSM2's flags
        return float(int(text, 16))
    found = re.fullmatch(r"(-?(?:\d+\.?\d*|\.\d+))\s*([kmg]?)b?", text)
    return float(found[1]) * _FACTORS.get(found[2], 1) if found else None
