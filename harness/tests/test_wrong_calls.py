# SPDX-License-Identifier: BSD-3-Clause
"""Every wrong call: one sentence that says what, status 2, no traceback, nothing left behind.

A row is what follows ./bench, as it is typed, and words of the sentence. What needs a session, a site's file or a
folder of its own stands beside the tests of that.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.cli import main
from harness.commands import program_options, programs
from harness.sites import systems

RUN = "run overlap-ratio"
PROGRAM = "compare-program --mpi mpich"
GATE = "gate --system local --base bare"
OFF = f"{GATE} --new off"
OWN = f"{GATE} --new adaptive"  # of a program of one's own
TUNE = "tune --system local"
BOUNDED = "--subject-to inflation<=1.05"
BISECT = "bisect --good HEAD~1 --bad HEAD"
GOES_ON = "--resume goes on with what its session was asked for: leave {} out."
ONLY_TABLE = "--table measures nothing: leave {} out."
WRONG = {
    "measure": "No such command",
    "lst": "Did you mean 'list'?",
    "site nwe x.py": "Did you mean 'new'?",
    "site check absent.py": "absent.py is not there: ./bench site new absent.py writes one",
    "site new site.yaml": "so its name ends in .py",
    "vcluster up --rate 5XB": "a rate is like 100mbit, 1gbit or 2.5gbit, not '5XB'",
    "rdma-lab up --build mpich": "have no MPI 'mpich'. They have: debian-mpich, debian-openmpi.",
    "notebook absent": "no notebook 'absent'",
    "completion bsh": "Is bash or zsh meant? There are: bash, zsh, fish.",
    "test --fast --full": "--fast and --full exclude each other",
    "test --full --long": "--full and --long exclude each other",
    "test --fast --sanitizers": "--fast and --sanitizers exclude each other",
    f"wheel --to {shlex.quote(__file__)}": "it is a file; name a folder",
    # what is run, and on what
    "run": "Which study?",
    "run overlap-rati": "called 'overlap-rati'. Is overlap-ratio or",
    "run own-program --mpi mpich": "runs a program of yours: ./bench compare-program takes it",
    f"{RUN} --mpi MPCH": "no MPI called 'MPCH'. Is mpich meant? There are",
    f"{RUN} --variant fast": "no variant called 'fast'",
    f"{RUN} --variant adaptve:burst=2": "no variant called 'adaptve'. Is adaptive meant?",
    f"{RUN} --variant bare:x=1": "has no settings",
    f"{RUN} --variant adaptive:burst=5,slice_us=2": "settings are separated by ':', as in",
    f"{RUN} --system summit": "no system called 'summit'",
    f"{RUN} --system vclustr": "Is vcluster or vcluster-s",
    f"{RUN},send-time": "called 'overlap-ratio,send-time'. Is overlap-ratio meant?",
    f"{RUN} --system ''": "Nothing stands behind --system: has a variable of the shell no value?",
    f"{RUN} --mpi=": "Nothing stands behind --mpi=: has",
    "report ''": "Nothing stands behind report: has",
    "claims ''": "Nothing stands behind claims: has",
    "site new x.py --name '' --scheduler slurm": "Nothing stands behind --name: has",
    f"{PROGRAM} --variant '' -- true": "Nothing stands behind --variant: has",
    f"{RUN} --variant adaptive:@absent": "The settings file absent cannot be read: No such file",
    f"{RUN} --mpi-env absent": "The settings file absent cannot be read: No such file",
    f"{RUN} --system absent.py": "no system called 'absent.py'",
    f"{RUN} --system {shlex.quote(__file__)}": "no dictionary site_configuration",
    f"{RUN} --scale quik": "has no scale 'quik'. Is quick meant? There are:",
    f"{RUN} --set color=red": "no parameter 'color'",
    f"{RUN} --set size_byts=4": "no parameter 'size_byts'. Is size_bytes",
    f"{RUN} --set size_bytes": "name=value is wanted",
    f"{RUN} --set size_bytes=-4": "whole number that is not negative",
    f"{RUN} --set size_bytes=4XB": "whole number that is not negative, as in 65536, 64KB or 4MB",
    f"{RUN} --set pattern=sendr": "Is sender meant?",
    "list overlap-rati": "called 'overlap-rati'. Is overlap-ratio or",
    "list gemini --json": "leave 'gemini' out",
    f"{RUN} --set pattern=all": "one of both, sender, receiver",
    f"{RUN} --set launches=0": "more than 0",
    f"{RUN} --set launches=six": "a whole number that is not negative is wanted",
    f"{RUN} --set comp_over_comm=nan": "a number that is not negative is wanted",
    f"{RUN} --colour": "No such option",
    f"{RUN} --nodes zero": "Invalid value for '--nodes': a whole number is wanted",
    f"{RUN} --nodes 0": "Invalid value for '--nodes': at least 1 is wanted",
    f"{RUN} --nodes 5000": "Invalid value for '--nodes': at most 4096 is wanted",
    f"{RUN} --launches 10001": "--set launches=10001: 10000 at most are wanted",
    "demo --minutes soon": "Invalid value for '--minutes': a number is wanted",
    f"{RUN} --resume latest": "leave the studies out",
    "run --resume latest --mpi openmpi": "leave --mpi out",
    "run --like latest --set launches=2": "leave --set out",
    "harm --variant fast": "no variant called 'fast'",
    "harm --only cooking": "No workload's name holds 'cooking'. There are: himeno solve,",
    "harm --scale paper": "has no scale 'paper'",
    "harm --launches 0 --mpi mpich": "Invalid value for '--launches'",
    "engine-costs --part cache": "no part 'cache'",
    "engine-costs --system vcluster-slurm": "runs on vcluster or local",
    "where": "Name the MPI that the program is linked to",
    "where nowhere": "nowhere holds no profile",
    "where --mpi mpich": "No program is named",
    "where --mpi mpich --variant bare -- true": "name one with the engine's library in it",
    "where --depth 2 /profiles": "--depth and --regions are of a run",
    "where --mpi mpich --regions all -- true": "--regions all: there are names and levels.",
    "where --mpi mpich,openmpi -- true": "a program is linked to one MPI, name that",
    "nodes --system=local --nodes=1": "Invalid value for '--nodes'",
    "nodes --launches=0": "Invalid value for '--launches'",
    "nodes --system=local --mpi=quick": "quick",
    "scaling --ranks 1": "--ranks 1: numbers from 2 to 4096 are wanted",
    "scaling --ranks 2,many": "--ranks 2,many: numbers",
    "scaling --ranks 8192": "--ranks 8192: numbers",
    "scaling --ranks ,": "--ranks ,: numbers",
    "scaling cooking": "no study or group called 'cooking'",
    "scaling serial-fft": "Study serial-fft has its own number of ranks",
    "scaling --mpi none": "has no MPI 'none'",
    "validate-model --measure --out page.md": "--out is for the comparison",
    # sessions
    "report 19990101-000000-x": "no session '19990101-000000-x'",
    "claims absent": "no session 'absent'",
    "compare absent latest": "no session 'absent'",
    "compare absent": "Missing argument 'NEW'",
    "run --like absent": "no session 'absent'",
    "run --resume latest": "no session in",
    "keep absent": "no session 'absent'",
    "report latest --size 4XB": "--size 4XB: not a size",
    "report results/reference/demo --paper pionam": "There is no paper 'pionam'. Is pioman meant? There are:",
    "report results/reference/demo --mpi mpch": "--mpi mpch: the session has no such points. Is mpich meant?",
    "compare a b --format xls": "xls",
    "harm --table nowhere": "nowhere",
    "harm --resume nowhere": "nowhere",
    "engine-costs --table nowhere": "nowhere",
    "nodes --table=none": "no session 'none'",
    "nodes --resume nothing --force --json": "no session 'nothing'",
    "scaling --table nowhere": "nowhere",
    "gate --resume nothing --store=x --out=x": "no session 'nothing'",
    "tune --resume nothing": "no session 'nothing'",
    # beside --table and --resume
    **{f"nodes --table x {more}=8": ONLY_TABLE.format(more) for more in ("--nodes", "--launches", "--system")},
    **{f"harm --table x {more}=8": ONLY_TABLE.format(more) for more in ("--mpi", "--variant", "--only", "--scale")},
    **{f"engine-costs --table x {more}=8": ONLY_TABLE.format(more) for more in ("--part", "--mpi", "--launches")},
    **{f"scaling --table x {more}=8": ONLY_TABLE.format(more) for more in ("--ranks", "--mpi", "--set", "--launches")},
    **{f"{name} --table x --list": ONLY_TABLE.format("--list") for name in ("harm", "scaling")},
    **{f"{name} --table x --force": ONLY_TABLE.format("--force") for name in ("nodes", "harm", "engine-costs")},
    **{f"{name} --table x --resume=y": ONLY_TABLE.format("--resume") for name in ("nodes", "harm", "engine-costs")},
    "engine-costs --table x --seed=2": ONLY_TABLE.format("--seed"),
    "scaling --table x scaling-halo": ONLY_TABLE.format("the studies"),
    "harm --resume nothing --variant=idle": GOES_ON.format("--variant"),
    "engine-costs --resume nothing --part=calls": GOES_ON.format("--part"),
    **{f"nodes --resume nothing {more}=4": GOES_ON.format(more) for more in ("--nodes", "--launches")},
    **{f"gate --resume nothing {more}=4": GOES_ON.format(more) for more in ("--minutes", "--new", "--set")},
    **{
        # 20 minutes are the default, which the search perhaps has not
        f"tune --resume nothing {more}": GOES_ON.format(more.partition(" ")[0])
        for more in ("--minutes 40", "--minutes 20", "--system local --places 2", "--set size_bytes=8", "-n 4")
    },
    "tune --resume nothing -- true": GOES_ON.format("the program"),
    # programs
    "mpirun --mpi mpich --variant adaptive:report=1,foo=2 -- true": "settings are separated by ':', as in",
    "mpirun --mpi mpich --report -- true": "bare runs without the engine",
    "mpirun --mpi mpich -- /absent/program": "no program called",
    "mpirun --mpi mpich --system vcluster-slurm -- true": "runs on vcluster or local",
    f"{PROGRAM} -n 2 --launcher 'srun -n 64' -- true": "the launcher says how many ranks there are",
    f'{PROGRAM} --launcher "\'" -- true': "--launcher ''': No closing quotation",
    f"{PROGRAM} --launcher 'no-such-launcher -n 2' -- true": "no program called 'no-such-launcher' on PATH",
    f"{PROGRAM} --time-from '(' -- true": "--time-from '(' is no regular expression",
    f"{PROGRAM} --time-from 'time: .* s' -- true": "has no group: put the number in ( ), as in 'time: (.*) s'",
    f"{PROGRAM} --check '*' -- true": "--check '*' is no regular expression",
    f"{PROGRAM} -- ./no-such-program": "no program called './no-such-program'",
    f"{PROGRAM} -- /etc/passwd": "no program called '/etc/passwd'",
    f"{PROGRAM} --set launches=4 -- true": "There is no option --set here",
    f"{PROGRAM} --system simulated -- true": "predict what workloads of ours take, and no other program",
    f"{PROGRAM} --timeout never -- true": "Invalid value for '--timeout': a number is wanted",
    f"{PROGRAM} --launches 0 -- true": "Invalid value for '--launches': at least 1 is wanted",
    PROGRAM: "Missing argument '-- CMD...'",
    "compare-program -- true": "Missing option '--mpi'",
    f"{PROGRAM} --variant fast -- true": "no variant called 'fast'",
    f"{PROGRAM} --variant bare -- true": "bare alone is compared with nothing",
    f"{PROGRAM},openmpi -- true": "a program is linked to one MPI",
    f"{PROGRAM} -n 0 -- true": "Invalid value for '-n'",
    "smpi -- pencil_fft transform": "pencil_fft: microbench or minighost is wanted",
    "smpi -- minighost exchange --point 'a=1 2'": "'a=1 2': smpirun takes no word with a blank",
    "spack concretize mpch --site x": "no environment 'mpch'. Is mpich or",
    "spack site x --template infinband": "no template 'infinband'. Is infiniband meant?",
    "apps remove": "leave it out to list, or say install",
    "apps install cooking": "There is no code 'cooking'. There are: intel-mpi-benchmarks,",
    "apps install minife": "miniFE is not in the distribution: spack install minife build=ref",
    # decisions
    GATE: "give --base and --new",
    f"{GATE} --new limit": "limit is no engine",
    f"{GATE} --new prefix:/opt/\udcff": "is not UTF-8",
    f"{OFF} --margin much": "per cent are wanted",
    f"{OFF} --margin nan%": "per cent are wanted",
    f"{OFF} --margin inf": "per cent are wanted",
    f"{OFF} --margin 0.02": "Write 0.02% or 2%.",
    f"{OFF} --minutes 0.2": "give more --minutes, or fewer points",
    f"{OFF} --minutes nan": "Invalid value for '--minutes'",
    f"{OFF} --timeout inf -- true": "--timeout inf: a number is wanted",
    f"{OFF} --on-off": "--on-off compares engines that poll",
    f"{OFF} --nodes 3": "would have 3 ranks, and each",
    f"{OFF} --nodes 1": "would have 1 rank, and each",
    f"{OFF} --study timer-period": "sweeps settings of the engine",
    f"{OFF} --mpi mpich,openmpi": "of one MPI",
    f"{OFF} -- ./app \udcff": "is not UTF-8",
    f"{TUNE} --search effect": "no search 'effect'. Is effects meant?",
    f"{TUNE} --subject-to 'inflation<1'": "METRIC<=NUMBER is wanted",
    f"{TUNE} --subject-to 'inflaton<=1'": "no such metric. Is inflation meant?",
    f"{TUNE} --objective eficiency {BOUNDED}": "time or a metric of overlap. Is efficiency meant? There are:",
    f"{TUNE} --objective total_s {BOUNDED}": "--objective total_s: beside --subject-to it is time",
    f"{TUNE} --study latency-flavours --objective efficiency": "does not measure",
    f"{TUNE} --mpi mpich,openmpi": "a search is of one MPI",
    f"{TUNE} --study overlap-ratio -- true": "one of the two is tuned",
    f"{TUNE} --variant quick": "no variant called 'quick'",
    f"{TUNE} --seats 1": "Invalid value for '--seats'",  # who leads would leave none for anybody else
    "bisect": "give --good and --bad",
    "bisect --good HEAD --bad HEAD": "there is nothing between them",
    f"{BISECT} --base bare": "leave --base out",
    f"{BISECT} --out=x": "leave --out=x out",
    "bisect --good none --bad HEAD": "no such commit: 'none'",
}
WITH_AN_MPI = {
    f"{OWN} --study overlap-ratio -- true": "--study overlap-ratio and a program of one's own",
    f"{OWN} --check energy": "--check is of a program of one's own: name it behind --",
    f"{OWN} -n 4": "-n is of a program of one's own",
    f"{OWN} --timeout 10": "--timeout is of a program of one's own",
    f"{OWN} -n 2 --launcher 'srun -n 64' -- true": "the launcher says how many ranks there are",
    f"{OWN} --time-from '(' -- true": "--time-from '(' is no regular expression",
    f"{OWN} --inject-slowdown 2 -- true": "is an option of our workloads",
    f"{OWN} --on-off -- true": "is done by our workloads",
    f"{OWN} --new mpi:openmpi -- true": "is linked to one MPI",
    f"{OWN} -- ./no-such-program": "no program called './no-such-program'",
}
ROWS = [
    *(pytest.param(call, words, id=ascii(call)) for call, words in WRONG.items()),
    *(pytest.param(call, words, id=ascii(call), marks=pytest.mark.mpi) for call, words in WITH_AN_MPI.items()),
]


@pytest.mark.parametrize(("call", "words"), ROWS)
def test_a_wrong_call_gets_a_sentence_and_status_2(
    call: str, words: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(call)) == 2
    captured = capsys.readouterr()
    assert words in " ".join(captured.err.split())
    assert "Traceback" not in captured.err
    assert not captured.err.startswith("bench: ") or captured.err.count("\n") == 1
    assert captured.out == ""
    assert not results.exists(), "nothing may be left behind"


@pytest.mark.parametrize(
    "call",
    [
        *(f"{PROGRAM} {more} -- true" for more in ("", "--launches 2", "-n 2 --check x")),
        "where --mpi mpich -- true",
        f"{OWN} --mpi mpich -- true",
        f"{TUNE} --mpi mpich -- true",
        "mpirun --system local --mpi mpich -- true",
    ],
)
def test_a_program_of_another_mpi_is_refused_before_anything_is_made(
    call: str, results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program_options, "another_mpi", lambda *_: "it links another MPI: libmpi.so.40")
    monkeypatch.setattr(program_options, "ensure_mpis", lambda *_: None)
    monkeypatch.setattr(programs, "_ready", lambda *_: None)
    monkeypatch.setattr(systems, "set_up", lambda _: pytest.fail("it goes on"))
    assert main(shlex.split(call)) == 2
    assert "/true is no program of MPICH (PyPI): it links another MPI: libmpi.so.40.\n" in capsys.readouterr().err
    assert not results.exists()


CALLS = [
    *(
        [command, *more]
        for command in ("nodes", "harm", "engine-costs")
        for more in (["--system=local"], ["--resume", "nothing"])
    ),
    ["scaling"],
    ["compare-program", "--mpi=mpich", "--system=local", "--", "true"],
]


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_a_table_that_cannot_be_written_is_known_before_anything_is_measured(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(systems, "set_up", lambda _: pytest.fail("it goes on"))
    (tmp_path / "file").write_text("")
    for out, why in {"file/table": "Not a directory", "none/table": "No such file", "": "Is a directory"}.items():
        given = f"--out={tmp_path / out}"
        assert main([call[0], given, *call[1:]]) == 2
        assert f"cannot be written ({why}" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "and nothing is made"


WORDS = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
OPTIONS = st.sampled_from(
    ["--mpi", "--variant", "--system", "--scale", "--set", "--seed", "--nodes", "--resume", "--", "-x"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rest=st.lists(st.one_of(WORDS, OPTIONS), max_size=6))
def test_malformed_calls_end_in_a_sentence(rest: list[str], results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # --dry-run: by chance a call may be good, and must not start anything then
    status = main(["run", "overlap-ratio", "--dry-run", "--scale", "test", *rest])
    captured = capsys.readouterr()
    assert status in (0, 2)
    assert (status == 0) == bool(captured.out.strip()), captured.err
    assert status == 0 or captured.err.strip()
    assert not results.exists()
