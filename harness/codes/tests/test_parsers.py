# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of other people's codes: what they hold is read, what is damaged or wrong is a sentence, never a number.
Those of SPEC MPI2007 are synthetic and say that they are, since the suite is licensed."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codes import applications, kernel_output
from harness.codes import spec_mpi2007 as spec
from harness.codes.benchmark_output import imb, imb_async, mpi_progress, osu
from harness.codes.kernel_output import lammps
from harness.codes.known import CASES
from harness.codes.output import Damaged, Parser
from harness.codes.tests.outputs import SAMPLES, SYNTHETIC

PARSERS: dict[str, Parser] = {
    "async": imb_async,
    "imb": imb,
    "osu": osu,
    "progress": mpi_progress,
    "npb": kernel_output.npb,
    "lammps": lammps,
    "hpcc": kernel_output.hpcc,
    "minife": kernel_output.minife,
    "minighost": kernel_output.minighost,
    "hpcg": kernel_output.hpcg,
    "himeno": kernel_output.himeno,
    "p3dfft": kernel_output.p3dfft,
    "p3dfft3": kernel_output.p3dfft3,
    "dolfinx": applications.dolfinx,
    "openfoam": applications.openfoam,
    "espresso": applications.quantum_espresso,
    "meep": applications.meep,
    "nwchem": applications.nwchem,
    "scalapack": kernel_output.scalapack,
}
WITHOUT_TIME = {"minighost-1.0", "scalapack-2.2-lu", "scalapack-2.2-qr"}


def parser_of(name: str) -> Parser:
    return PARSERS[name.partition("-")[0]]


# output -> rows, a row by its place, one of its quantities, and the value
EXPECTED = {
    "async-imb-2023": (9, 8, {"benchmark": "allreduce", "size_bytes": 1048576}, "exposed_s", 0.0135917),
    "dolfinx-0.5-poisson": (1, 0, {}, "time_s", 2.358151),
    "espresso-6.7-silicon": (1, 0, {}, "cpu_s", 0.5),
    "hpcc-1.5": (1, 0, {"processes": 2}, "ptrans_bytes_per_s", 0.122777e9),
    "meep-1.25-bend": (1, 0, {}, "time_s", 21.1792),
    "nwchem-7.0-water": (1, 0, {}, "time_s", 2.2),
    "openfoam-1912-cavity": (1, 0, {}, "cpu_s", 7.11),
    "himeno-3.0": (1, 0, {}, "time_s", 52.18353),
    "hpcg-3.1": (1, 0, {}, "flops", 0.580688e9),
    "minife-2.0": (1, 0, {}, "time_s", 0.263533),
    "p3dfft-2.7-sine": (1, 0, {}, "time_s", 0.020099694),
    "p3dfft3-sine": (1, 0, {}, "time_s", 0.034838),
    "imb-2021-mpi1": (32, 15, {"benchmark": "PingPong", "processes": 2, "size_bytes": 65536}, "latency_s", 759.88e-6),
    "imb-2021-mt": (2, 1, {"benchmark": "PingPongMT", "processes": 2, "size_bytes": 131072}, "bytes_per_s", 79.43e6),
    "imb-2021-rma": (8, 2,
                     {"benchmark": "Unidir_put", "processes": 2, "mode": "AGGREGATE", "size_bytes": 1024},
                     "latency_s", 7.87e-6),
    "imb-2021-nbc": (37, 36, {"benchmark": "Ibarrier", "processes": 2}, "pure_s", 12.26e-6),
    "imb-2021-p2p": (15, 0, {"benchmark": "PingPong", "processes": 2, "size_bytes": 4}, "messages_per_s", 108125.0),
    "lammps-20210929-melt": (1, 0, {"processes": 2, "steps": 100, "atoms": 32000}, "time_s", 7.38794),
    "npb-3.4-cg.S": (1, 0, {"benchmark": "CG", "class": "S", "processes": 2}, "mops", 308.52),
    "npb-3.4-ft.S": (1, 0, {"benchmark": "FT", "class": "S", "processes": 2}, "time_s", None),
    "npb-3.4-is.S": (1, 0, {"benchmark": "IS", "class": "S", "processes": 2}, "time_s", None),
    "progress-few": (26, 12, {"benchmark": "get_accumulate_sleep", "lock": "shared"}, "latency_s", 1009.513858e-6),
    "osu-7.4-bw": (11, 10, {"benchmark": "Bandwidth", "size_bytes": 1048576}, "bytes_per_s", 122.71e6),
    "osu-7.4-iallreduce": (11, 10, {"benchmark": "Non-blocking Allreduce Latency", "size_bytes": 1048576},
                           "overlap", 0.1153),
    "osu-7.4-ialltoall-full": (11, 0, {"benchmark": "Non-blocking All-to-All Latency", "size_bytes": 1024},
                               "wait_s", 6.32e-6),
    "osu-7.4-ibcast-validate": (7, 6, {"benchmark": "Non-Blocking Broadcast Latency", "size_bytes": 65536},
                                "pure_s", 447.22e-6),
    "osu-7.4-latency": (17, 0, {"benchmark": "Latency", "size_bytes": 1}, "latency_s", 78.1e-6),
    "osu-7.4-latency-validate-percentiles": (13, 0, {"benchmark": "Latency", "size_bytes": 1},
                                             "p99_latency_s", 1758.67e-6),
    "osu-7.4-latency_mt": (11, 0, {"benchmark": "Multi-threaded Latency", "size_bytes": 1}, "latency_s", 32.9e-6),
}  # fmt: skip


def test_every_output_is_expected_to_hold_something() -> None:
    assert set(SAMPLES) == {*EXPECTED, *WITHOUT_TIME}


def test_minighost_says_that_it_is_right_and_prints_no_time() -> None:
    text = SAMPLES["minighost-1.0"]
    assert kernel_output.minighost(text).rows == []
    with pytest.raises(Damaged, match="it does not say that its computation is within its tolerance"):
        kernel_output.minighost(text.replace("within error", "outside of error"))


@pytest.mark.parametrize("name", EXPECTED)
def test_an_output_as_it_came(name: str) -> None:
    count, place, point, quantity, value = EXPECTED[name]
    rows = parser_of(name)(SAMPLES[name]).rows
    assert len(rows) == count
    assert rows[place].point == point
    assert not any(row.wrong for row in rows)
    assert all(math.isfinite(sample) for row in rows for sample in row.samples.values())
    if value is not None:
        assert rows[place].samples[quantity] == pytest.approx(value)
    assert rows[place].samples[quantity] > 0


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("async-imb-2023", "overhead: [ 0.0135917", "overhead: [ 0.9", "overhead of allreduce is longer than its time"),
        ("async-imb-2023", "len: 1024, n", "len: 1k, n", "len: '1k' does not say how many"),
        ("progress-few", "times sendrecv_twoway on", "times sendrecv_oneway on", "it ends before its last benchmark"),
        ("progress-few", "lock: 25287.507000us", "lock: -1us", "time of fetch_op: '-1' is not above 0"),
        ("progress-few", "1000 times rget_wait on", "0 times rget_wait on", "how often rget_wait: '0' is not above 0"),
        ("osu-7.4-ibcast-validate", "Pass\n2048", "Fail\n2048", "its own validation says Fail of messages of 1024"),
        (
            "osu-7.4-ibcast-validate",
            "# Size",
            "DATA VALIDATION ERROR: x\n# Size",
            "its own validation found wrong data",
        ),
        ("osu-7.4-latency", "78.10", "", "a line has not the columns Size, Avg Latency"),
        ("osu-7.4-latency", "78.10", "nan", "Avg Latency(us): 'nan' is no number"),
        ("osu-7.4-latency", "# OSU MPI", "# SOME", "no title of the OSU Micro-Benchmarks"),
        ("osu-7.4-latency", "Avg Latency(us)", "Avg Lateness(us)", "no column of Size, Avg Lateness(us) is known"),
        ("imb-2021-mpi1", "# All processes entering MPI_Finalize", "", "it ends before its last line"),
        ("imb-2021-mpi1", "        9.23  ", "", "a line has not the columns #bytes"),
        ("imb-2021-p2p", "108125", "1081x25", "Msg/sec: '1081x25' is no number"),
        ("npb-3.4-cg.S", "=               SUCCESSFUL", "=             UNSUCCESSFUL", "verification says UNSUCCESSFUL"),
        ("lammps-20210929-melt", "Total wall time", "", "it ends before its run did"),
        ("lammps-20210929-melt", "-4.6223613", "", "a line has not the columns Step, Temp"),
        ("lammps-20210929-melt", "Loop time of 7.38794", "Loop time of ever", "'ever' is no number"),
        ("npb-3.4-cg.S", " Time in seconds =", " Time", "it lacks 'Time in seconds'"),
        ("dolfinx-0.5-poisson", "*** Solution norm:  82", "*** Solution", "it lacks the solution's norm"),
        ("dolfinx-0.5-poisson", "*** Solution norm:  82.6251", "*** Solution norm:  nan", "'nan' is no number"),
        ("dolfinx-0.5-poisson", "ZZZ Solve", "Solve", "it lacks the time of its solver"),
        ("espresso-6.7-silicon", "convergence has been achieved", "convergence NOT achieved", "it did not converge"),
        ("espresso-6.7-silicon", "JOB DONE.", "", "it did not converge, or ends before its run did"),
        ("espresso-6.7-silicon", "1.60s WALL", "often WALL", "its time: 'often' is none"),
        ("espresso-6.7-silicon", "-15.85081793 Ry", "NaN Ry", "total energy: 'NaN' is no number"),
        ("hpcg-3.1", "HPCG result is VALID", "HPCG result is INVALID", "its final summary says INVALID"),
        ("hpcg-3.1", "rating of=0.580688", "rating of=", "it lacks its rate"),
        ("minife-2.0", "solution matches", "solution is not near", "does not say that its solution is the analytic"),
        ("minife-2.0", "Final Resid Norm: 1.61903e-16\n  WAXPY", "Final Resid Norm: 0.5\n  WAXPY", "residual is 0.5"),
        ("minife-2.0", "Total Program Time", "Time", "it ends before its run did"),
        ("p3dfft-2.7-sine", "Results are correct", "Results are incorrect", "it says that its results are incorrect"),
        ("p3dfft-2.7-sine", "Results are correct", "Results", "it does not say that its results are correct"),
        ("p3dfft3-sine", "Results are correct", "Results are incorrect", "it says that its results are incorrect"),
        ("p3dfft-2.7-sine", "cpu time per loop", "time", "it lacks the time of a loop"),
        ("p3dfft3-sine", "Transform time", "Time", "it lacks the time of a transform"),
        ("openfoam-1912-cavity", "\nEnd\n", "\n", "it ends before its run did"),
        ("openfoam-1912-cavity", "Starting time", "FOAM FATAL ERROR: Starting time", "it says FOAM FATAL"),
        ("openfoam-1912-cavity", "Final residual = 9.10592e-07", "Final residual = nan", "of p: 'nan' is no number"),
        ("hpcc-1.5", "Success=1", "Success=0", "its summary says Success=0"),
        ("hpcc-1.5", "MPIFFT_Gflops=", "FFT=", "its summary lacks MPIFFT_Gflops"),
        (
            "scalapack-2.2-lu",
            "    8 tests completed and p",
            "    0 tests completed and p",
            "0 passed, 0 failed, 0 skipped",
        ),
        ("scalapack-2.2-qr", "    0 tests completed and f", "    1 tests completed and f", "12 passed, 1 failed"),
        ("scalapack-2.2-qr", "    0 tests skipped", "    2 tests skipped", "12 passed, 0 failed, 2 skipped"),
        ("scalapack-2.2-qr", "END OF TESTS.", "", "it ends before its tests did"),
        ("nwchem-7.0-water", "Total SCF energy =", "Energy =", "it lacks the total energy"),
        ("nwchem-7.0-water", "=    -76.0", "=    NaN-76.0", "is no number"),
        ("nwchem-7.0-water", " Total times", " Times", "it lacks its time"),
        ("meep-1.25-bend", "run 0 finished", "run 0 went on", "it ends before its run did"),
        ("meep-1.25-bend", "field: 25.0 1.2712885711768007e-5", "field: 25.0 nan", "field at 25.0: 'nan' is no number"),
        ("npb-3.4-cg.S", "0.22\n", "**********\n", "'**********' is no number"),
    ],
)
def test_what_is_damaged_or_wrong_is_a_sentence(name: str, old: str, new: str, said: str) -> None:
    text = SAMPLES[name]
    assert old in text
    with pytest.raises(Damaged) as error:
        parser_of(name)(text.replace(old, new, 1))
    assert said in str(error.value)


def test_an_osu_that_was_told_to_validate_and_did_not_has_no_numbers() -> None:
    parser = CASES["osu-ibcast"][1].parser
    text = SAMPLES["osu-7.4-ibcast-validate"]
    assert parser(text) == osu(text)
    for without in (SAMPLES["osu-7.4-iallreduce"], text + SAMPLES["osu-7.4-iallreduce"]):
        with pytest.raises(Damaged, match="it has not validated its data"):
            parser(without)


def test_the_energies_of_lammps_are_its_result() -> None:
    found = lammps(SAMPLES["lammps-20210929-melt"])
    assert found.result == "0: -4.6134356, 100: -4.6223613"
    assert re.fullmatch(CASES["lammps-melt"][1].result, found.result)


def test_what_scalapack_and_nwchem_are_compared_by() -> None:
    assert kernel_output.scalapack(SAMPLES["scalapack-2.2-lu"]).result == "8 tests passed"
    found = kernel_output.scalapack(SAMPLES["scalapack-2.2-qr"]).result
    assert found.startswith("12 tests passed, residuals 0.2 0.")
    assert len(found.split()) == 4 + 12
    energy = applications.nwchem(SAMPLES["nwchem-7.0-water"]).result
    assert energy == "-76.02710701 hartree"
    assert re.fullmatch(CASES["nwchem-water"][1].result, energy)


def test_himenos_loops_are_as_many_as_a_minute_takes_so_its_rehearsal_is_the_result() -> None:
    text = SAMPLES["himeno-3.0"]
    found = kernel_output.himeno(text)
    assert found.result == "Gosa 1.667103e-03"
    last = text.index("cpu :")
    fortran = (
        f"{text[:last]} Loop executed for  2917  times\n Gosa : 3.4E-04\n MFLOPS:  7664.021166   time(s):  52.18353\n"
    )
    assert kernel_output.himeno(fortran).rows == found.rows
    with pytest.raises(Damaged, match="it ends before its run did"):
        kernel_output.himeno(text[:last])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("out-of-mem.", "it says 'out-of-mem.'"),
        # as 2021.18 puts it
        ('time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use "-time X"', "it says 'time-out.'"),
    ],
)
def test_rows_that_imb_gave_up_say_so(words: str, said: str) -> None:
    text = SAMPLES["imb-2021-nbc"].replace("20       270.29        12.74         5.87         0.00", words)
    (row,) = [row for row in imb(text).rows if row.wrong]
    assert (row.point["benchmark"], row.samples, row.wrong) == ("Iallreduce", {}, said)


def test_imb_finds_defects_itself() -> None:
    text = SAMPLES["imb-2021-p2p"].replace("Msg/sec", "Msg/sec defects").replace("108125\n", "108125 1.00\n")
    with pytest.raises(Damaged, match=r"its own check found 1.00 defects in PingPong"):
        imb(text)


# What has no last line by which a cut could be told: whole lines of it are read, and of the sizes that are lacking the
# study's points say so (test_program_output: "its output has no line of this point").
WITHOUT_END = {"async-imb-2023", "imb-2021-mt", *(name for name in SAMPLES if name.startswith("osu-"))}


@pytest.mark.parametrize("name", SAMPLES)
def test_an_output_that_is_cut_off_is_damaged_or_lacks_nothing(name: str) -> None:
    """Cut anywhere, and at every character of its end."""
    text = SAMPLES[name]
    whole = parser_of(name)(text)
    places = {share * len(text) // 40 for share in range(1, 40)} | set(range(max(0, len(text) - 400), len(text)))
    damaged = 0
    for place in sorted(places):
        try:
            found = parser_of(name)(text[:place])
        except Damaged:
            damaged += 1
            continue
        if name in WITHOUT_END:
            assert found.rows == whole.rows[: len(found.rows)]
        else:
            assert found == whole, f"cut at {place} of {len(text)}"
    assert damaged >= 39 / 2


@pytest.mark.parametrize("parser", PARSERS.values(), ids=PARSERS)
@given(text=st.text())
def test_any_text_is_read_or_damaged(parser: Parser, text: str) -> None:
    with pytest.raises(Damaged):
        parser(text)


@given(name=st.sampled_from(list(EXPECTED)), start=st.floats(0, 1), length=st.integers(0, 60), text=st.text(max_size=9))
def test_outputs_with_anything_in_them_are_read_or_damaged(name: str, start: float, length: int, text: str) -> None:
    whole = SAMPLES[name]
    place = int(start * len(whole))
    try:
        found = parser_of(name)(whole[:place] + text + whole[place + length :])
    except Damaged as error:
        assert "\n" not in str(error)
    else:
        assert all(math.isfinite(value) for row in found.rows for value in row.samples.values())


def printed(name: str, size: str = "mtest") -> str:
    """As the driver prints a result file, after runspec's own words."""
    return f"runspec v1234\n\noverlap-bench: SPEC MPI2007 {size}, an estimate: {name}\n{SYNTHETIC[name]}"


@pytest.mark.parametrize("name", ["mpi2007.rsf", "mpi2007.csv"])
def test_both_kinds_of_result_file_say_the_same(name: str) -> None:
    rows = {str(row.point["benchmark"]): row for row in spec.results(printed(name)).rows}
    assert set(rows) == {"104.milc", "113.GemsFDTD", "126.lammps", "137.lu"}
    assert {row.point["size"] for row in rows.values()} == {"mtest"}
    assert rows["104.milc"].samples == {"time_s": pytest.approx(12.345678)}
    assert rows["126.lammps"].samples == {"time_s": 7.5}, "of several iterations the last"
    assert rows["113.GemsFDTD"].wrong.startswith("its own verification says that its results are wrong")
    assert (rows["137.lu"].wrong, rows["137.lu"].samples) == ("it was not built", {})


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("mpi2007.rsf", "overlap-bench: SPEC", "overlap: SPEC", "its runspec left no result file"),
        ("mpi2007.rsf", "spec.mpi2007.results", "spec.cpu2006.results", "its result file mpi2007.rsf has no results"),
        ("mpi2007.rsf", "12.345678", "soon", "reported time of 104.milc: 'soon' is no number"),
        ("mpi2007.csv", "Full Results Table", "Table", "its result file has no Full Results Table"),
        ("mpi2007.csv", "Benchmark,", "Code,", "its Full Results Table has no head"),
    ],
)
def test_what_is_damaged_is_a_sentence(name: str, old: str, new: str, said: str) -> None:
    text = printed(name)
    assert old in text
    with pytest.raises(Damaged, match=said):
        spec.results(text.replace(old, new))


def test_columns_that_call_themselves_estimates_are_the_same() -> None:
    text = printed("mpi2007.csv")
    estimated = text.replace(
        '"Base Run Time","Base Ratio","Base Sel', '"Est. Base Run Time","Est. Base Ratio","Base Sel'
    )
    assert estimated != text
    assert spec.results(estimated) == spec.results(text)


def test_where_there_is_no_licence_the_reason_says_so() -> None:
    assert spec.SPEC_MPI2007.absent().startswith("not found: licensed: SPEC_MPI2007, or apps in the site's file")


def test_the_suites_are_those_of_its_documents() -> None:
    assert len(spec.MEDIUM) == 13
    assert len(spec.LARGE) == 12
    for case in spec.SPEC_MPI2007.cases:
        points = [{"benchmark": "126.lammps", "size": "mtest"}, {"benchmark": "137.lu", "size": "mtest"}]
        assert case.words(points) == ["--size=mtest", "--ranks=2", "126.lammps", "137.lu"]
