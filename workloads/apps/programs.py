# SPDX-License-Identifier: BSD-3-Clause
"""The outputs of whole programs: one row, with the time that the program measures itself, and its own verification."""

from __future__ import annotations

import re

from workloads.apps.reading import Damaged, Output, Row, field, number

_NPB_TITLE = re.compile(r"^\s*NAS Parallel Benchmarks\s*(?:\(.*\)\s*)?[\d.]* *-- *(\S+) Benchmark", re.MULTILINE)
_LOOP_TIME = re.compile(r"^Loop time of (\S+) on (\d+) procs for (\d+) steps with (\d+) atoms", re.MULTILINE)
_THERMO_HEAD = re.compile(r"^\s*Step\s.*\bTotEng\b.*$", re.MULTILINE)


def npb(text: str) -> Output:
    """The NAS Parallel Benchmarks: their word is SUCCESSFUL, which is a part of the other one."""
    title = _NPB_TITLE.search(text)
    if title is None:
        raise Damaged("it has no title of the NAS Parallel Benchmarks")
    verdict = field("Verification", text)
    if verdict != "SUCCESSFUL":
        raise Damaged(f"its own verification says {verdict}")
    point = {"benchmark": title[1], "class": field("Class", text)}
    samples = {"time_s": number(field("Time in seconds", text), "Time in seconds")}
    samples["mops"] = number(field("Mop/s total", text), "Mop/s total")
    return Output([Row({**point, "processes": int(number(field("Total processes", text), "processes"))}, samples)])


def lammps(text: str) -> Output:
    """LAMMPS: the time of its last loop; the total energies that it printed are its result."""
    loops = _LOOP_TIME.findall(text)
    heads = list(_THERMO_HEAD.finditer(text))
    if not loops or not heads or "Total wall time" not in text:
        raise Damaged("it ends before its run did")
    if "ERROR" in text:
        raise Damaged("it says ERROR")
    columns = heads[-1][0].split()
    energies = []
    for line in text[heads[-1].end() :].splitlines()[1:]:
        words = line.split()
        if line.startswith("Loop time"):
            break
        if len(words) != len(columns):
            raise Damaged(f"a line has not the columns {', '.join(columns)}: '{line.strip()}'")
        energies.append(f"{words[columns.index('Step')]}: {words[columns.index('TotEng')]}")
    if len(energies) < 2:
        raise Damaged("it has no energies before and after its run")
    seconds, processes, steps, atoms = loops[-1]
    point = {"processes": int(processes), "steps": int(steps), "atoms": int(atoms)}
    return Output([Row(dict(point), {"time_s": number(seconds, "Loop time")})], ", ".join(energies))


def hpcc(text: str) -> Output:
    """The HPC Challenge's summary: its rates by name; a failed one is wrong."""
    summary = re.search(r"^Begin of Summary section\.$(.*)^End of Summary section\.$", text, re.DOTALL | re.MULTILINE)
    if summary is None:
        raise Damaged("it has no summary section")
    values = dict(re.findall(r"^(\w+)=(\S+)\s*$", summary[1], re.MULTILINE))
    if values.get("Success") != "1":
        raise Damaged(f"its summary says Success={values.get('Success', 'nothing')}")
    samples = {}
    for name, (quantity, factor) in HPCC_VALUES.items():
        if name not in values:
            raise Damaged(f"its summary lacks {name}")
        samples[quantity] = factor * number(values[name], name)
    return Output([Row({"processes": int(number(values.get("CommWorldProcs", ""), "CommWorldProcs"))}, samples)])


HPCC_VALUES = {
    "HPL_Tflops": ("hpl_flops", 1e12),
    "PTRANS_GBs": ("ptrans_bytes_per_s", 1e9),
    "MPIRandomAccess_GUPs": ("updates_per_s", 1e9),
    "MPIFFT_Gflops": ("fft_flops", 1e9),
    "MaxPingPongLatency_usec": ("latency_s", 1e-6),
    "MinPingPongBandwidth_GBytes": ("bytes_per_s", 1e9),
}
