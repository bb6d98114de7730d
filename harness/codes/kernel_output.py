# SPDX-License-Identifier: BSD-3-Clause
"""The outputs of kernels: one row, with the time that the program measures itself, and its own verification."""

from __future__ import annotations

import re

from harness.codes.output import MB, Damaged, Output, Row, count, field, number, only, positive, processes, whole_lines

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
    samples = {"time_s": positive(field("Time in seconds", text), "Time in seconds")}
    samples["mops"] = positive(field("Mop/s total", text), "Mop/s total")
    ran = count(field("Total processes", text), "Total processes")
    return Output([Row({**point, "processes": ran}, samples)], processes=ran)


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
        step, energy = words[columns.index("Step")], words[columns.index("TotEng")]
        count(step, "Step")
        number(energy, f"TotEng of step {step}")
        energies.append(f"{step}: {energy}")
    if len(energies) < 2:
        raise Damaged("it has no energies before and after its run")
    seconds, ran, steps, atoms = loops[-1]
    point = {"processes": count(ran, "procs"), "steps": count(steps, "steps"), "atoms": count(atoms, "atoms")}
    samples = {"time_s": positive(seconds, "Loop time")}
    return Output([Row(dict(point), samples)], ", ".join(energies), point["processes"])


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
        samples[quantity] = factor * positive(values[name], name)
    ran = count(values.get("CommWorldProcs", ""), "CommWorldProcs")
    return Output([Row({"processes": ran}, samples)], processes=ran)


HPCC_VALUES = {
    "HPL_Tflops": ("hpl_flops", 1e12),
    "PTRANS_GBs": ("ptrans_bytes_per_s", 1e9),
    "MPIRandomAccess_GUPs": ("updates_per_s", 1e9),
    "MPIFFT_Gflops": ("fft_flops", 1e9),
    "MaxPingPongLatency_usec": ("latency_s", 1e-6),
    "MinPingPongBandwidth_GBytes": ("bytes_per_s", 1e9),
}


def _transformed_back(text: str) -> None:
    if "Results are incorrect" in text:
        raise Damaged("it says that its results are incorrect")
    _says(text, r"^\s*Results are correct\s*$", "that its results are correct")


def p3dfft(text: str) -> Output:
    """P3DFFT's test programs: a transform and back, whose largest difference they judge themselves."""
    _transformed_back(text)
    seconds = only(r"cpu time per loop[ \t]+\d+[ \t]+(\S+)", text, "the time of a loop")
    whole_lines(text)
    samples = {"time_s": positive(seconds, "cpu time per loop")}
    return Output([Row({}, samples)], processes=processes(r"^\s*procs=\s*(\d+)\s", text))


def p3dfft3(text: str) -> Output:
    """P3DFFT++'s test programs: the longest time of a transform and back over the ranks."""
    _transformed_back(text)
    seconds = only(r"^Transform time \(avg/min/max\): \S+ \S+ (\S+)", text, "the time of a transform")
    whole_lines(text)
    ran = processes(r"^P3DFFT\+\+ .* Running on (\d+) cores", text)
    return Output([Row({}, {"time_s": positive(seconds, "Transform time")})], processes=ran)


def minife(text: str) -> Output:
    """miniFE's YAML: the time of its CG; iterations and residual are its result."""
    _says(text, r"^\s*solution matches analytic solution", "that its solution is the analytic one")
    samples = {"time_s": positive(field("Total CG Time", text), "Total CG Time")}
    samples["flops"] = 1e6 * positive(field("Total CG Mflops", text), "Total CG Mflops")
    iterations, residual = count(field("Iterations", text), "Iterations"), field("Final Resid Norm", text)
    if not number(residual, "Final Resid Norm") < MINIFE_RESIDUAL:
        raise Damaged(f"its final residual is {residual}")
    if "Total Program Time" not in text:
        raise Damaged("it ends before its run did")
    ran = processes(r"^\s*number of processors:\s*(\d+)\s*$", text)
    return Output([Row({}, samples)], f"{iterations} iterations, residual {residual}", ran)


MINIFE_RESIDUAL = 1e-3  # it stops at 200 iterations, whatever the residual


def minighost(text: str) -> Output:
    """miniGhost: it checks the sums of all its grids; its whole time counts."""
    _says(text, r"^\s*Computation within error tolerance\.\s*$", "that its computation is within its tolerance")
    return Output([])


def hpcg(text: str) -> Output:
    """HPCG's result file: valid, or its rate counts for nothing."""
    verdict = re.search(r"^Final Summary::HPCG result is (\w+)", text, re.MULTILINE)
    if verdict is None or verdict[1] != "VALID":
        raise Damaged(f"its final summary says {verdict[1] if verdict else 'nothing'}")
    rate = only(r"with a GFLOP/s rating of=(\S+)", text, "its rate")
    seconds = only(r"^Benchmark Time Summary::Total=(\S+)", text, "its time")
    whole_lines(text)
    samples = {"flops": 1e9 * positive(rate, "GFLOP/s rating"), "time_s": positive(seconds, "Total")}
    return Output([Row({}, samples)], processes=processes(r"^Machine Summary::Distributed Processes=(\d+)\s*$", text))


def scalapack(text: str) -> Output:
    """ScaLAPACK's test programs: how many of their checks of residuals passed, and the residuals where it prints them.

    A skipped test is one that it could not run with the sizes that it was given.
    """
    counts = {
        word: count(only(rf"^\s*(\d+) tests {what}\.$", text, f"how many tests it {word}"), f"tests {word}")
        for word, what in _SCALAPACK_COUNTS.items()
    }
    if "END OF TESTS." not in text:
        raise Damaged("it ends before its tests did")
    if counts["failed"] or counts["skipped"] or not counts["passed"]:
        raise Damaged("its tests: " + ", ".join(f"{many} {word}" for word, many in counts.items()))
    residuals = re.findall(r"^WALL .* PASSED +(\S+)\s*$", text, re.MULTILINE)
    for residual in residuals:
        number(residual, "residual")
    said = f"{counts['passed']} tests passed"
    return Output([], f"{said}, residuals {' '.join(residuals)}" if residuals else said)


_SCALAPACK_COUNTS = {
    "passed": "completed and passed residual checks",
    "failed": "completed and failed residual checks",
    "skipped": "skipped because of illegal input values",
}


def himeno(text: str) -> Output:
    """Himeno's original, in C or Fortran: it loops for about a minute, so only the residual of its first three loops is
    a result."""
    rehearsal = only(r"^\s*MFLOPS:\s+\S+\s+time\(s\):\s+\S+\s+(\S+)\s*$", text, "the residual of its rehearsal")
    number(rehearsal, "Gosa")
    _, _, measured = text.partition("Loop executed for")
    if not measured:
        raise Damaged("it ends before its run did")
    whole_lines(text)
    rate = only(r"^\s*MFLOPS(?: measured )?:\s*(\S+)", measured, "its rate")
    seconds = only(r"^\s*(?:cpu :|MFLOPS:\s*\S+\s+time\(s\):)\s*(\S+)", _after_rehearsal(text), "its time")
    samples = {"flops": MB * positive(rate, "MFLOPS"), "time_s": positive(seconds, "cpu")}
    return Output([Row({}, samples)], f"Gosa {rehearsal}")


def _after_rehearsal(text: str) -> str:
    return text.partition("start the actual measurement")[2]


def _says(text: str, pattern: str, what: str) -> None:
    if not re.search(pattern, text, re.MULTILINE):
        raise Damaged(f"it does not say {what}")
