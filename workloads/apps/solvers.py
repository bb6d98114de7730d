# SPDX-License-Identifier: BSD-3-Clause
"""The outputs of applications: the time that each prints of itself, and numbers that must be the same every time."""

from __future__ import annotations

import re

from workloads.apps.reading import Damaged, Output, Row, number, only, whole_lines


def dolfinx(text: str) -> Output:
    """FEniCSx's scaling test: the wall time of its solver; iterations and the solution's norm are its result."""
    iterations = only(r"Number of Krylov iterations:\s*(\d+)", text, "the number of iterations")
    norm = only(r"Solution norm:\s*(\S+)", text, "the solution's norm")
    if not number(norm, "Solution norm") > 0:
        raise Damaged(f"its solution's norm is {norm}")
    lines = [line.split("|") for line in text.splitlines() if line.startswith("ZZZ Solve")]
    words = lines[-1][-1].split() if lines else []
    if len(words) < 3:
        raise Damaged("it lacks the time of its solver")
    whole_lines(text)
    return Output([Row({}, {"time_s": number(words[-1], "ZZZ Solve")})], f"{iterations} iterations, norm {norm}")


def openfoam(text: str) -> Output:
    """OpenFOAM's solvers: the residuals of the last step are the result. The time that it prints is that of the CPU, so
    the whole time is the one that counts."""
    if "FOAM FATAL" in text:
        raise Damaged("it says FOAM FATAL")
    if not re.search(r"^End\s*$", text, re.MULTILINE):
        raise Damaged("it ends before its run did")
    seconds = only(r"^ExecutionTime = (\S+) s", text, "its time")
    step = text.rpartition("\nTime = ")[2]
    residuals = re.findall(r"Solving for (\w+), Initial residual = (\S+), Final residual = (\S+),", step)
    if not residuals:
        raise Damaged("its last step has no residuals")
    for name, *values in residuals:
        for value in values:
            number(value, f"residual of {name}")
    said = ", ".join(f"{name} {first} {last}" for name, first, last in residuals)
    return Output([Row({}, {"cpu_s": number(seconds, "ExecutionTime")})], f"{step.split()[0]} s: {said}")


def quantum_espresso(text: str) -> Output:
    """pw.x: its wall time; the converged total energy and its accuracy are its result."""
    if "convergence has been achieved" not in text or "JOB DONE." not in text:
        raise Damaged("it did not converge, or ends before its run did")
    energy = only(r"^!\s+total energy\s+=\s+(\S+) Ry", text, "the total energy")
    number(energy, "total energy")
    accuracy = only(r"^\s+estimated scf accuracy\s+<\s+(\S+) Ry", text, "the accuracy of its energy")
    wall = only(r"^\s+PWSCF\s+:.*?CPU\s+(.*?)\s*WALL", text, "its time")
    cpu = only(r"^\s+PWSCF\s+:\s+(.*?)\s*CPU", text, "its time")
    decade = f"1e-{_decade(number(accuracy, 'accuracy')):02d}"
    samples = {"time_s": _clock(wall), "cpu_s": _clock(cpu)}
    return Output([Row({}, samples)], f"{energy} Ry, accuracy below {decade}")


def _decade(value: float) -> int:
    """d of the smallest 1e-d that is not less than `value`."""
    decade = 0
    while decade < 99 and value <= 10.0 ** -(decade + 1):
        decade += 1
    return decade


def _clock(text: str) -> float:
    """Seconds of "1h 2m 3.45s", as pw.x writes a time."""
    found = re.fullmatch(r"(?:(\d+)h)?\s*(?:(\d+)m)?\s*(?:(\d+(?:\.\d*)?)s)?", text.strip())
    if found is None or not any(found.groups()):
        raise Damaged(f"its time: '{text}' is none")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def meep(text: str) -> Output:
    """Meep: its own time; the fields that the script prints are its result."""
    seconds = only(r"^Elapsed run time = (\S+) s", text, "its time")
    if not re.search(r"^run 0 finished at t = ", text, re.MULTILINE):
        raise Damaged("it ends before its run did")
    fields = re.findall(r"^field:\s+(\S+)\s+(\S+)\s*$", text, re.MULTILINE)
    if not fields:
        raise Damaged("it lacks the fields")
    for at, value in fields:
        number(value, f"field at {at}")
    return Output([Row({}, {"time_s": number(seconds, "Elapsed run time")})], ", ".join(f"{t}: {v}" for t, v in fields))


def nwchem(text: str) -> Output:
    """NWChem: its wall time; the energy is the result, without its last digits: integrals go to whichever rank asks
    first, so that the order in which they are added is another in every run."""
    energy = number(only(r"^\s*Total SCF energy =\s+(\S+)", text, "the total energy"), "total energy")
    seconds = only(r"^ Total times\s+cpu:.*wall:\s+(\S+)s", text, "its time")
    return Output([Row({}, {"time_s": number(seconds, "Total times")})], f"{energy:.8f} hartree")
