# SPDX-License-Identifier: BSD-3-Clause
"""What damage does to the outputs of other people's codes: each line is lost or cut, each number spoiled, in turn.

What is left is a sentence or what the whole output says, and never another number. Of tables single lines may be lost:
which are lacking, the points that were asked for say.
"""

from __future__ import annotations

import re

import pytest

from harness.codes.output import Damaged, Output, cleaned, count, number
from harness.codes.tests.outputs import SAMPLES
from harness.codes.tests.test_parsers import WITHOUT_END, parser_of

TABLES = ("async-", "imb-", "osu-", "progress-")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.]*(?:[eEdD][-+]?\d+)?(?![\w.])")


def read(name: str, text: str) -> Output | None:
    """None of what is damaged."""
    try:
        return parser_of(name)(text)
    except Damaged:
        return None


@pytest.mark.parametrize("name", sorted({*SAMPLES} - WITHOUT_END))
def test_a_line_that_is_cut_is_no_other_number(name: str) -> None:
    text = SAMPLES[name]
    whole = parser_of(name)(text)
    place = 0
    for line in text.splitlines(keepends=True):
        place += len(line)
        for end in (place, place - 1, place - 2):
            found = read(name, text[:end])
            assert found in (None, whole), f"cut at {end}, in '{line}'"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_number_that_is_none_is_damage_or_is_not_read(name: str) -> None:
    text = SAMPLES[name]
    whole = parser_of(name)(text)
    for place in _NUMBER.finditer(text):
        found = read(name, text[: place.start()] + "nan" + text[place.end() :])
        if found is None:
            continue
        assert found.result == whole.result, text[: place.end()].splitlines()[-1]
        assert [row.samples for row in found.rows] == [row.samples for row in whole.rows]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_time_or_rate_that_cannot_be_is_damage(name: str) -> None:
    least = 0.0 if name.startswith(TABLES) else 1e-30  # a table's parts of a time may be rounded to 0
    text = SAMPLES[name]
    for place in _NUMBER.finditer(text):
        for put in ("-1.00", "0.00"):
            found = read(name, text[: place.start()] + put + text[place.end() :])
            low = min((value for row in found.rows for value in row.samples.values()), default=1.0) if found else 1.0
            assert low >= least, text[: place.end()].splitlines()[-1]


WARNINGS = {
    "UCX": "[1795806192.436654] [vm:13923:0]     ucp_context.c:1381 UCX  WARN  transport 'tcp' is not available\n",
    "Open MPI": "[vm:01234] 1 more process has sent help message help-mpi-btl.txt / no device\n",
    "Slurm": "slurmstepd: error: task_g_set_affinity: Operation not permitted\n",
    "Darshan": "darshan_library_warning: unable to create log file /logs/x: Permission denied.\n",
}
LABELS = {
    "srun --label": "0: ",
    "--tag-output": "[1,0]<stdout>:",
    "--output tag": "[prterun-vm-17@1,0]<stdout>: ",
    "hydra -l": "[0] ",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_others_put_into_an_output_changes_nothing(name: str) -> None:
    text = SAMPLES[name]
    whole, lines = parser_of(name)(cleaned(text)), text.splitlines(keepends=True)
    assert whole == parser_of(name)(text)
    middle = len(lines) // 2
    spoilt = {f"{who} {where}": given for who, line in WARNINGS.items() for where, given in (
        ("before", line + text), ("behind", text + line), ("within", "".join([*lines[:middle], line, *lines[middle:]])),
    )}  # fmt: skip
    spoilt |= {how: "".join(label + line for line in lines) for how, label in LABELS.items()}
    spoilt |= {"behind a line": text.replace("\n", WARNINGS["UCX"], 1), "mark": "\ufeff" + text}
    spoilt |= {"CRLF": text.replace("\n", "\r\n"), "colour": f"\x1b[32m{text}"}
    wrong = [how for how, given in spoilt.items() if read(name, cleaned(given)) != whole]
    assert not wrong, wrong


def test_a_label_that_not_every_line_has_is_the_programs_own() -> None:
    assert cleaned("0: a\nb\n") == "0: a\nb\n"
    assert cleaned("0: a\n\n1: b\n") == "a\n\nb\n"


@pytest.mark.parametrize("name", [name for name in SAMPLES if not name.startswith(TABLES)])
def test_a_time_that_is_lost_is_not_another_one(name: str) -> None:
    """Programs print several: of a rehearsal, of each step, of each part."""
    lines = SAMPLES[name].splitlines(keepends=True)
    samples = [row.samples for row in parser_of(name)("".join(lines)).rows]
    for index in range(len(lines)):
        found = read(name, "".join(lines[:index] + lines[index + 1 :]))
        assert found is None or [row.samples for row in found.rows] == samples, lines[index]


def test_a_word_of_the_next_line_is_no_value() -> None:
    text = SAMPLES["minife-2.0"].replace("Iterations: 134", "Iterations:")
    with pytest.raises(Damaged, match="it lacks 'Iterations'"):
        parser_of("minife-2.0")(text.replace("  Iterations: \n", "  Iterations:\n"))


def test_an_energy_that_is_no_number_is_said() -> None:
    text = SAMPLES["lammps-20210929-melt"].replace("-4.6223613", "nan")
    with pytest.raises(Damaged, match="TotEng of step 100: 'nan' is no number"):
        parser_of("lammps")(text)


@pytest.mark.parametrize(("text", "value"), [("1.5D-01", 0.15), ("-.5", -0.5), ("+3.", 3.0), ("1e3", 1000.0)])
def test_numbers_as_programs_write_them(text: str, value: float) -> None:
    assert number(text, "here") == pytest.approx(value)


@pytest.mark.parametrize("text", ["1_0", "²", "٣", "1,5", "0x10", "1e999", "Infinity", "*****", "", "1.5.2"])
def test_what_python_alone_takes_for_a_number_is_none(text: str) -> None:
    with pytest.raises(Damaged, match=r"here: .* is no number"):
        number(text, "here")


@pytest.mark.parametrize("text", ["²", "1.5", "-1", "", "9" * 5000])
def test_how_many_is_digits(text: str) -> None:
    with pytest.raises(Damaged, match="does not say how many") as error:
        count(text, "here")
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("digit", ["²", "9" * 5000])
def test_a_size_that_is_none_is_damage(digit: str) -> None:
    with pytest.raises(Damaged):
        parser_of("osu")(SAMPLES["osu-7.4-latency"].replace("\n1  ", f"\n{digit}  ", 1))


# Those that say it; OSU's programs refuse to run on any other number than two.
SAY_PROCESSES = {
    name
    for name in SAMPLES
    if not name.startswith(("async-", "osu-", "progress-", "himeno-", "minighost-", "scalapack-"))
}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_output_says_on_how_many_processes_it_ran(name: str) -> None:
    assert parser_of(name)(SAMPLES[name]).processes == (2 if name in SAY_PROCESSES else 0)


def test_processes_that_imb_lets_wait_are_processes() -> None:
    waiting = "# #processes = 2 \n# ( 2 additional processes waiting in MPI_Barrier)"
    assert parser_of("imb")(SAMPLES["imb-2021-mpi1"].replace("# #processes = 2 ", waiting, 1)).processes == 4


@pytest.mark.parametrize(
    ("line", "processes"),
    [
        ("Serial version", 1),
        ("Serial multi-threaded version, running on    4 processor cores", 1),
        ("Parallel version (MPI & OpenMP), running on    4 processor cores\n     Number of MPI processes:    2", 2),
    ],
)
def test_quantum_espresso_says_it_in_other_words_with_threads(line: str, processes: int) -> None:
    text = SAMPLES["espresso-6.7-silicon"]
    said = "Parallel version (MPI), running on     2 processors"
    assert said in text
    assert parser_of("espresso")(text.replace(said, line)).processes == processes


def test_a_meep_without_mpi_is_one_process() -> None:
    text = SAMPLES["meep-1.25-bend"].replace("Using MPI version 3.1, 2 processes\n", "")
    assert parser_of("meep")(text).processes == 1
