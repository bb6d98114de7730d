# SPDX-License-Identifier: BSD-3-Clause
"""The sides of a gate: what their words mean, that each runs as asked for, and what cannot be had is a sentence."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.gate import store
from harness.base import machine
from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.base.variants import Recipe
from harness.commands.gate import _asked
from harness.job.launch import Attempt, Outcome
from harness.job.plan import Gate, Launch, Plan, Side
from harness.job.read_back import PROGRAM
from harness.job.runner import Runner
from harness.sessions import gates, sides
from harness.sessions.sides import Source
from harness.sites import systems
from harness.sites.systems import BUILTIN, Request
from harness.tests.sessions import refused
from reframe_checks.catalogue import by_names

MPICH = MPIS["mpich"]
REQUEST = Request.of(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], [])
ASKED = ("2%", 20.0)  # --margin, --minutes


def test_a_commit_of_a_working_tree_with_changes_is_said_to_be_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for more in (["init", "-q"], *(["commit", "-q", "--allow-empty", "-m", text] for text in "ab")):
        subprocess.run([*words, *more], check=True, timeout=120)
    monkeypatch.setattr(sides, "ROOT", tmp_path)
    sides.named("commit:HEAD")
    assert capsys.readouterr().err == ""
    (tmp_path / "changed").touch()
    commit = machine.commit_of(tmp_path, "HEAD")
    assert sides.named("commit:HEAD,timer") == f"commit:{commit},timer"
    assert "Side 'commit:HEAD,timer': the working tree has changes" in capsys.readouterr().err
    sides.named("commit:HEAD~1")
    assert capsys.readouterr().err == ""


def test_sides_in_words() -> None:
    assert sides.parse("adaptive:burst=5") == sides.Source("", "", "adaptive:burst=5")
    assert sides.parse("commit:HEAD~2") == sides.Source("commit", "HEAD~2", "adaptive")
    assert sides.parse("prefix:/opt/x,timer:slice_us=50") == sides.Source("prefix", "/opt/x", "timer:slice_us=50")
    assert sides.parse("mpi:openmpi,bare") == sides.Source("mpi", "openmpi", "bare")
    assert sides.parse("mpi-async") == sides.Source("", "", "mpi-async")


def test_a_commit_is_named_whole_since_a_revision_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"HEAD": "a" * 40, "v1.0": "b" * 40}
    monkeypatch.setattr(machine, "commit_of", lambda _, revision: known[revision])
    assert sides.named("commit:HEAD") == f"commit:{'a' * 40}"
    assert sides.named("commit:v1.0,timer:slice_us=50") == f"commit:{'b' * 40},timer:slice_us=50"
    for words in ("adaptive:burst=5", "prefix:/opt/x,timer", "mpi:openmpi"):
        assert sides.named(words) == words
    monkeypatch.setattr(gates, "planned", lambda *_: 12)
    asked, plan = _asked(REQUEST, "commit:HEAD", "commit:v1.0", *ASKED)
    assert asked == (plan.base, plan.new) == (f"commit:{'a' * 40}", f"commit:{'b' * 40}")


def test_a_file_has_settings_of_the_engine_and_variables_of_the_mpi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also one of somebody's home: no shell reads the ~ behind settings:"""
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "site.conf"
    file.write_text("# ours\nvariant = timer\nslice_us = 50  # short\n\nUCX_TLS = tcp,self\n")
    found = sides.parse(f"settings:{file}")
    assert (found.variant, found.environment) == ("timer:slice_us=50", {"UCX_TLS": "tcp,self"})
    assert found == sides.parse("settings:~/site.conf")
    assert sides.parse(f"prefix:/opt/x,settings:{file}") == replace(found, kind="prefix", where="/opt/x")
    assert sides.ready(found, MPICH) == sides.Ready("", {"UCX_TLS": "tcp,self"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variant = quick\n", "no variant called 'quick'"),
        ("variant = bare\nburst = 5\n", "runs without the engine and has no settings"),
        ("variant = timer\nburst = 5:6\n", "line 2: burst = 5:6 cannot be part of a variant"),
        ("burst = 5,6\n", "line 1: burst = 5,6 cannot be part of a variant"),
        ("UCX_TLS = tcp,self\nburst-x = 5\n", "line 2: burst-x is neither a setting of the engine nor a variable"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "site.conf"
    file.write_text(text)
    with pytest.raises(UsageError, match=said):
        sides.parse(f"settings:{file}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quick", "no variant called 'quick'.*A side is a variant"),
        ("commit:", "what stands behind commit: is empty"),
        ("modules: ,bare", "what stands behind modules: is empty"),
        ("commit:HEAD,quick", "no variant called"),
    ],
)
def test_words_that_are_no_side(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        sides.parse(text)


def test_engines_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "progress-run").write_text("")
    with pytest.raises(UsageError, match="bin/progress-run cannot be run"):
        sides.ready(sides.parse(f"prefix:{tmp_path}"), MPICH)
    for revision in ("0000000", "--help"):
        with pytest.raises(UsageError, match=r"no such commit|is no git repository"):
            sides.ready(sides.parse(f"commit:{revision}"), MPICH)
    with pytest.raises(UsageError, match=r"give prefix:DIR"):
        sides.ready(sides.parse("commit:HEAD"), None)


OTHER = "uses libmpi.so.40, and this engine was built for mpich"


def installed(prefix: Path, says: str, status: int) -> str:
    """A side whose progress-run says this of every program."""
    tool = prefix / "bin" / "progress-run"
    tool.parent.mkdir(parents=True)
    tool.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {status}\n")
    tool.chmod(0o755)
    return f"prefix:{prefix}"


@pytest.mark.parametrize(
    ("says", "status", "why"),
    [
        (f"progress-run: microbench {OTHER}; it runs without the engine.", 0, OTHER),
        ("error while loading shared libraries: libfmt.so.9", 127, "libfmt.so.9"),
    ],
)
def test_an_engine_of_another_mpi_is_no_side(
    says: str, status: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would run the programs without the engine, and both sides would be the same."""
    monkeypatch.setattr(systems, "set_up", lambda _: None)
    side = installed(tmp_path / "theirs", says, status)
    call = ["gate", "--base", "bare", "--new", side, "--system", "local", "--store", str(tmp_path / "store")]
    said = refused(*call)
    assert f"Side '{side}' does not run with mpich: " in said and why in said
    assert not (tmp_path / "store").exists()


def test_modules_that_bring_another_mpi_are_no_side(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loader takes that one, also where no engine is asked for."""
    wrong = "it links another MPI: libmpi.so is 'Open MPI v5.0.8' and not MPICH Version"
    monkeypatch.setattr(systems, "set_up", lambda _: None)
    monkeypatch.setattr(
        gates, "another_mpi", lambda _program, _library, environment: wrong if "UCX_TLS" in environment else ""
    )
    call = ["gate", "--base", "bare", "--new", "modules:tuned,bare", "--system", "local", "--store", str(modules / "s")]
    assert f"Side 'modules:tuned,bare' does not run with mpich: {wrong}." in refused(*call)


def test_a_spack_environment_is_asked_for_its_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = tmp_path / "opt"
    installed(prefix, "", 0)
    spack = tmp_path / "spack"
    spack.write_text(
        f"""#!/bin/sh
            case "$*" in
              "-e mine location -i progress-engine") echo "==> Warning: a compiler is gone"; echo {prefix} ;;
              "-e two location -i progress-engine") echo "==> Error: progress-engine matches 2 packages" >&2; exit 1 ;;
              "-e empty location -i progress-engine") echo {tmp_path}/none ;;
              *) echo "==> Error: no such environment '$2'" >&2; exit 1 ;;
            esac
        """
    )
    spack.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert sides.ready(sides.parse("spack:mine"), MPICH).progress_run == str(prefix / "bin" / "progress-run")
    refused = {
        "two": "'spack:two': no progress-engine is installed there: .*matches 2 packages",
        "none": "'spack:none': no progress-engine is installed there: .*no such environment 'none'",
        "empty": "'spack:empty': there is no .*none/bin/progress-run",
    }
    for name, why in refused.items():
        with pytest.raises(UsageError, match=why):
            sides.ready(sides.parse(f"spack:{name}"), MPICH)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose login shell has a command `module` and two modules: `engine/1` brings a progress-run."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "progress-run").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "progress-run").chmod(0o755)
    (tmp_path / ".bash_profile").write_text(
        f"""unset BASH_ENV  # which brings the machine's own modules, where it has any
            module() {{
              case $1:$2 in
                unload:engine/1) PATH=${{PATH#$HOME/bin:}}; export PATH; unset LOADEDMODULES ;;
                unload:tuned) unset UCX_TLS ;;
                load:engine/1) export PATH={tmp_path}/bin:$PATH LOADEDMODULES=$2 ;;
                load:tuned) export UCX_TLS=tcp ;;
                *) echo "unknown module: $2" >&2; return 1 ;;
              esac
            }}
        """
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("UCX_TLS", raising=False)
    return tmp_path


def test_modules_bring_variables_and_an_engine(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sides.ready(sides.parse("modules:engine/1 tuned,timer"), MPICH)
    assert found.progress_run == str(modules / "bin" / "progress-run")
    assert found.environment["UCX_TLS"] == "tcp" and "LOADEDMODULES" not in found.environment
    assert found.environment["PATH"].startswith(f"{modules}/bin:")
    only = sides.ready(sides.parse("modules:tuned"), MPICH)
    assert (only.progress_run, only.environment) == ("", {"UCX_TLS": "tcp"})
    # as much where the caller has loaded them: else such a baseline would be this checkout's engine
    monkeypatch.setenv("PATH", f"{modules}/bin:/usr/bin:/bin")
    monkeypatch.setenv("UCX_TLS", "tcp")
    again = sides.ready(sides.parse("modules:engine/1 tuned"), MPICH)
    assert (again.progress_run, again.environment["UCX_TLS"]) == (found.progress_run, "tcp")


@pytest.mark.usefixtures("modules")
def test_it_is_said_where_modules_bring_no_engine(capsys: pytest.CaptureFixture[str]) -> None:
    """Else a module that lacks it would have this checkout's engine held against itself, and nobody would know."""
    for side, said in {"modules:tuned": True, "modules:tuned,bare": False, "modules:engine/1 tuned": False}.items():
        sides.ready(sides.parse(side), MPICH)
        assert ("Side 'modules:tuned': they bring no progress-run" in capsys.readouterr().err) is said, side


def test_an_engine_that_was_there_before_is_not_of_the_modules(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The login shell's own PATH may have one, which the caller's has not."""
    there = modules / "theirs" / "bin"
    there.mkdir(parents=True)
    (there / "progress-run").write_text("#!/bin/sh\n")
    (there / "progress-run").chmod(0o755)
    with (modules / ".bash_profile").open("a") as profile:
        profile.write(f"export PATH={there}:/usr/bin:/bin\nmodule() {{ [ $1 = unload ] || PATH=$PATH:/opt/more; }}\n")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = sides.ready(sides.parse("modules:more"), MPICH)
    assert found.progress_run == "" and found.environment["PATH"].endswith(":/opt/more")


def test_modules_that_are_not_there(modules: Path) -> None:
    with pytest.raises(UsageError, match="unknown module: none/2"):
        sides.modules(["tuned", "none/2"])
    (modules / ".bash_profile").write_text("unset BASH_ENV\nunset -f module ml\n")
    with pytest.raises(UsageError, match="no command `module`"):
        sides.modules(["tuned"])


def test_a_variable_reaches_every_rank_whatever_the_launcher_passes_on() -> None:
    how = Recipe(["progress-run", "--"], {"A": "1"}).within({"UCX_TLS": "tcp,self"})
    assert how == Recipe(["env", "UCX_TLS=tcp,self", "progress-run", "--"], {"A": "1", "UCX_TLS": "tcp,self"})
    ran = subprocess.run([*how.prefix[:2], "sh", "-c", "echo $UCX_TLS"], capture_output=True, text=True, check=True)
    assert ran.stdout == "tcp,self\n"
    assert Recipe(["x"]).within({}) == Recipe(["x"])


def test_a_side_on_another_mpi_runs_that_ones_launcher_and_programs(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is held against that one's library, not the job's."""
    seen: list[Attempt] = []

    def run(attempt: Attempt) -> Outcome:
        seen.append(attempt)
        return Outcome(attempt.launch, "ok", "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    other = replace(plan.platform, mpi="openmpi", library="Open MPI", launch_command=["mpirun", "-n", "2"])
    side = Side(
        "new", "bare", environment={"OMPI_MCA_btl": "tcp"}, mpi="openmpi", platform=other, workload=["/o/microbench"]
    )
    launches = [Launch("s.0", "bare", 0, 0, side=Side("base", "bare")), Launch("s.1", "bare", 0, 1, side=side)]
    Runner(replace(plan, points=[{"work_units": 5}], launches=launches), tmp_path).run()
    here, there = seen
    assert (here.plan.platform.library, here.plan.workload) == ("MPICH Version", ["microbench", "overlap"])
    assert (there.plan.platform.library, there.plan.workload) == ("Open MPI", ["/o/microbench"])
    assert there._arguments()[:5] == ["mpirun", "-n", "2", "env", "OMPI_MCA_btl=tcp"]
    assert there.recipe.environment == {"OMPI_MCA_btl": "tcp"} and not here.recipe.environment


def test_a_side_on_another_mpi_is_resolved_for_that_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its variables are asked of that MPI, and its programs are built for it; the job's own MPI is no other one."""
    file = tmp_path / "site.conf"
    file.write_text("variant = timer\nslice_us = 50\nOMPI_MCA_btl_tcp_links = 4\n")
    monkeypatch.setattr(gates, "planned", lambda *_: 12)
    asked, plan = _asked(REQUEST, "mpi:mpich,bare", f"mpi:openmpi,settings:{file}", *ASKED)
    base, new = (gates._ready(text, "new", REQUEST) for text in asked)
    assert (base.mpi, base.variant, base.probes) == ("", "bare", [])
    assert (new.mpi, new.variant, new.environment) == ("openmpi", "timer:slice_us=50", {"OMPI_MCA_btl_tcp_links": "4"})
    assert [(probe.how, probe.key) for probe in new.probes] == [("mpi_t", "btl_tcp_links")]
    assert REQUEST.but(gate=replace(plan, sides=[base, new])).programs() == {
        "mpich": ["microbench"], "openmpi": ["microbench", PROGRAM],
    }  # fmt: skip


REFUSED = {
    "mpi:nothing": "There is no MPI called 'nothing'",
    "mpi:openmpi,quick": "no variant called 'quick'",
    "modules:none/2": "A side with modules: unknown module: none/2",
    "spack:mine": "Side 'spack:mine': no progress-engine is installed there: there is no program spack",
    "settings:/none/site.conf": "The settings file /none/site.conf cannot be read: No such file or directory.",
    "prefix:/none": "Side 'prefix:/none': there is no /none/bin/progress-run.",
}


@pytest.mark.parametrize("side", REFUSED)
def test_a_side_that_cannot_be_had_ends_the_call_with_its_sentence(
    side: str, modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is built or measured, on either side, and no store is made."""
    monkeypatch.setattr(systems, "set_up", lambda _: None)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    for sides_of_call in (["--base", "bare", "--new", side], ["--base", side, "--new", "bare"]):
        assert REFUSED[side] in refused("gate", *sides_of_call, "--system", "local", "--store", str(modules / "store"))
    assert not (modules / "store").exists()


def test_a_commit_that_does_not_build_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it has instead of the engine; what another gate has built stays, and what the store has."""
    monkeypatch.setattr(sides, "STATE_DIR", tmp_path / "state")
    monkeypatch.setattr(sides, "_check_out", lambda _commit, folder, _revision: folder.mkdir(parents=True))
    monkeypatch.setattr(machine, "commit_of", lambda _repository, _revision: "0" * 40)
    kept = store.add(tmp_path / "store", store.Entry("g", "2026", "local, mpich", "bare", "off", "same", {}, {}))
    before = kept.read_bytes()
    call = ["gate", "--base", "bare", "--new", "commit:HEAD", "--system", "local", "--store", str(kept.parent)]
    assert re.search(r"'commit:0{40}' does not build for MPICH.*see .*log", refused(*call))
    assert list(kept.parent.iterdir()) == [kept] and kept.read_bytes() == before


def test_a_gate_one_of_whose_variables_the_mpi_does_not_take_measures_nothing(plan: Plan, tmp_path: Path) -> None:
    """Misspelt, say: it would compare the baseline with itself, and pass."""
    tool = tmp_path / "bin" / PROGRAM
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\necho "UCX WARN unused environment variable: UCX_TSL"\n')
    tool.chmod(0o755)
    probes = gates._probes(Source("", "", "bare", {"UCX_TSL": "tcp", "LARGER": "1"}))
    assert [(probe.name, probe.how) for probe in probes] == [("UCX_TSL", "ucx")]
    new = Side("new", "bare", environment={"UCX_TSL": "tcp"}, probes=probes)
    every = [Side("base", "bare"), Side("control", "bare"), new]
    asked = Gate(every, gates.CHECK_RUN, 12, 1.0, [12], ["false"], 0.02, "bare", "settings:x")
    here = replace(plan.platform, launch_command=[], progress_run=str(tool.parent / "progress-run"), reap=["true"])
    own = replace(plan, platform=here, rounds=asked.in_rounds(), launches=asked.in_rounds().last("s", 1))
    session = tmp_path / "session"
    assert Runner(own, session).run() == 0
    ends = [json.loads(path.read_text().splitlines()[-1])["end"] for path in (session / "records").glob("*.jsonl")]
    assert len(ends) == len(own.launches)
    assert {end["reason"] for end in ends} == {"the MPI is not shown to take UCX_TSL=tcp: UCX calls it unused"}
