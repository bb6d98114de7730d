# SPDX-License-Identifier: BSD-3-Clause
"""Why a program failed, as the end of its output tells: what it said last itself, and the signal that ended it.

When a rank dies, the launcher ends the output with words of its own, a banner and advice that are the same each time.
What it knows of the rank is kept, the rest is passed over: what the program said stands above. Standard library.
"""

from __future__ import annotations

import re
import signal

LONGEST = 300  # of a sentence, in characters
LOOKED_AT = 100_000  # of an output that may be long, the last so many characters
# Open MPI frames each of its messages with lines of so many dashes.
FRAMED = re.compile(r"^-{74}\s*\n(.*?)\n-{74}\s*$", re.MULTILINE | re.DOTALL)
# What tells how a rank ended, by what the number in it is. A message that was framed is one line here.
ENDS = (
    r"^= +KILLED BY SIGNAL: (?P<signal>\d+)",  # Intel MPI
    r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal (?P<string>\d+)\)",  # Hydra
    r"^= +EXIT CODE: (?P<code>\d+)",  # Hydra
    r" noticed that process rank .* exited on signal (?P<signal>\d+)",  # Open MPI
    r" exited with non-zero status, thus causing the job to be terminated.* Exit code: +(?P<code>\d+)",  # Open MPI
    r"^\[[^\]]+:\d+\] Signal: .*\((?P<signal>\d+)\)$",  # Open MPI, in the rank
    r"\bapplication called MPI_Abort\([^,]+, (?P<abort>-?\d+)\)",  # MPICH, Intel MPI
    r"^MPI_ABORT was invoked on rank .* [Ee]rrorcode:? (?P<abort>-?\d+)",  # Open MPI
)
# What else launchers and MPIs say of it.
ADVICE = (
    r"^[-=*#_~+ ]{8,}$",
    r"^= +(BAD TERMINATION OF ONE OF|RANK \d+ PID \d+|PID \d+ RUNNING|CLEANING UP REMAINING|YOU CAN IGNORE THE BELOW)",
    r"^This typically refers to a problem with your application",
    r"^Please see the FAQ page for debugging suggestions",
    r"^(Intel\(R\) MPI Library troubleshooting guide:|https://software\.intel\.com/)",
    r"^Primary job +terminated normally, but \d+ process",
    r"^a non-zero exit code\. Per user-direction, the job has been aborted",
    r" has exited due to process rank \d+ with PID \d+ ",
    r"^\[[^\]]+:\d+\] +(\*\*\* (Process received signal|End of error message) \*\*\*|Signal|Failing at|\[ *\d+\])",
    r"^\[[^\]]+:\d+\] +\*\*\* +(reported by process|on (a NULL )?communicator|Unknown error|MPI_ERRORS_ARE_FATAL|and )",
    r"^\[[^\]]+:\d+\] +(\d+ more process(es)? ha(s|ve) sent help message|Set MCA parameter .* to see all help)",
    r"^\[(mpiexec|proxy:[\d:]+)@[^\]]+\] .*(assert \(!closed\)|returned error|waiting for|terminated badly|Ctrl-C)",
)
BY_LAUNCHER = re.compile("|".join(re.sub(r"\?P<[a-z]+>", "", one) for one in (*ENDS, *ADVICE)))
# What is sent to a rank because another died or the time was up.
SENT = (signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
FROM_SHELL = 128  # a shell's status of a program that a signal ended: this and the signal's number


def failure_reason(text: str) -> str:
    """The last words of an output; empty if it has none."""
    text = text[-LOOKED_AT:].replace("\0", "")  # PRRTE ends a message with one
    whole = FRAMED.sub(lambda framed: " ".join(framed[1].split()), text)
    lines = [line.strip() for line in whole.splitlines() if line.strip()]
    own = (one for one in reversed(lines) if not BY_LAUNCHER.search(one))
    said, found = next(own, "")[:LONGEST], _numbers(lines)
    if any("srun: Job step creation temporarily disabled" in line for line in lines):
        said = "srun waited for CPUs that a step around it holds: give it --overlap, or call it outside of that step"
    if ended := _ended(found):
        return f"{said}; {ended}" if said else ended
    if said:
        return said
    codes = (code for code in found["code"] if not found["string"])
    return next((f"ended with exit code {code}" for code in codes), "")


def _numbers(lines: list[str]) -> dict[str, list[int]]:
    """The numbers that are told, in their order, by the names that they have in ENDS."""
    found: dict[str, list[int]] = {"signal": [], "string": [], "code": [], "abort": []}
    for line in lines:
        for pattern in ENDS:
            if told := re.search(pattern, line):
                kind, number = told.groupdict().popitem()
                found[kind].append(int(number))
    return found


def _ended(found: dict[str, list[int]]) -> str:
    """How the rank ended with which it began: others are ended for its sake."""
    # Beside its exit string Hydra's exit codes are signals. The string has all ranks' in one, by OR: it comes last.
    codes = [code if found["string"] and code < FROM_SHELL else code - FROM_SHELL for code in found["code"]]
    signals = [one for one in (*found["signal"], *codes, *found["string"]) if one in signal.valid_signals()]
    first = next((one for one in signals if one not in SENT), None)
    if first is None and signals and set(signals) == {signal.SIGKILL}:  # also from a kernel without memory
        first = signal.SIGKILL
    if first is not None:
        return f"ended by signal {int(first)} ({signal.strsignal(first)})"
    if signal.SIGKILL in signals:
        return "ended by a signal"
    return f"ended by MPI_Abort with error code {found['abort'][0]}" if found["abort"] else ""
