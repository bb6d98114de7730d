# SPDX-License-Identifier: BSD-3-Clause
"""The emulated machines without booting any: command lines, what a guest reads, bad input, who ends what."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from harness.base import debian
from harness.base.errors import Failure, UsageError
from harness.base.paths import ROOT
from harness.cli import main
from harness.rdma_lab import attend, build, fetch, image, keeper, lab, qemu, settings, shell
from harness.rdma_lab.settings import Settings
from harness.rdma_lab.state import State
from harness.tests.waiting import eventually

FAKE_QEMU = """#!/bin/sh
for last; do :; done
echo "$$" > "$1"
exec sleep 1000
"""


@pytest.fixture
def state(tmp_path: Path) -> State:
    made = State(tmp_path / "rdma-lab")
    (made.host / "usr/lib/modules/6.12-test").mkdir(parents=True)
    (made.host / "boot").mkdir()
    (made.guest / "usr/bin").mkdir(parents=True)
    for name in ("ssh", "busybox"):
        (made.guest / "usr/bin" / name).touch()
    made.keys.mkdir()
    (made.keys / "known_hosts").write_text("rdma-lab ssh-ed25519 AAAA\n")
    return made


def _settings(rate: str | None = None, **shares: bool) -> Settings:
    return Settings.make(rate, 1536, shares)


@pytest.mark.parametrize("rate", ["fast", "20", "20mbit; reboot", "-1mbit", "20 mbit", "0mbit", "0.0gbit"])
def test_a_rate_that_is_none_is_refused(rate: str) -> None:
    with pytest.raises(UsageError, match="a rate is like 20mbit"):
        Settings.make(rate, 1536, {})


def test_too_little_memory_and_paths_with_spaces_are_refused() -> None:
    with pytest.raises(UsageError, match="768 MB"):
        Settings.make(None, 100, {})
    with pytest.raises(UsageError, match="there is a space in it"):
        Settings.make(None, 1536, {"/a b": False})


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["up", "--rate", "fast"], "a rate is like 20mbit"),
        (["up", "--build", "mpich"], "have no MPI 'mpich'. They have: debian-mpich, debian-openmpi."),
        (["exec", "lab1", "--", "true"], "No emulated machines are up"),
        (["status"], "No emulated machines are up"),
    ],
)
def test_bad_input_is_one_sentence(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], state: State,
                                   monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setattr(lab, "state", lambda: state)
    assert main(["rdma-lab", *words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_what_cannot_be_had_is_refused_before_anything_is_built(state: State, monkeypatch: pytest.MonkeyPatch,
                                                               capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    built: list[str] = []
    monkeypatch.setattr(lab, "state", lambda: state)
    monkeypatch.setattr(build, "ensure", built.append)
    for words in (["--rate", "fast"], ["--memory", "100000000"]):
        assert main(["rdma-lab", "up", "--build", "debian-mpich", *words]) == 2
    said = capsys.readouterr().err
    assert "a rate is like 20mbit" in said
    assert "The RDMA laboratory needs 200000512 MB of memory" in said
    assert not built


def test_three_nodes_are_one_too_many() -> None:
    from harness.sites.systems import BUILTIN  # noqa: PLC0415

    with pytest.raises(UsageError, match="has 2 machines, not 3"), BUILTIN["rdma-lab"].open(3):
        pass


def test_qemu_is_told_everything_and_each_machine_its_own(state: State, tmp_path: Path) -> None:
    shares = {"/project/results": True, "/project": False, "/x,y": False}
    wanted = Settings.make("20mbit", 1536, shares)
    commands = [qemu.command(state, wanted, qemu.Machine(index, 4000 + index, tmp_path)) for index in (0, 1)]
    first, second = (" ".join(command) for command in commands)
    assert "lab.node=1 lab.rate=20mbit" in first
    assert "hostfwd=tcp:127.0.0.1:4000-10.0.2.15:22" in first
    assert "restrict=on" in first  # the guests reach nothing outside
    assert f"local.path={tmp_path}/data1,remote.type=unix,remote.path={tmp_path}/data2" in first
    assert f"local.path={tmp_path}/data2,remote.type=unix,remote.path={tmp_path}/data1" in second
    assert "mac=52:54:00:00:02:01" in first and "mac=52:54:00:00:02:02" in second
    assert "path=/x,,y,mount_tag=share2,security_model=none,multidevs=remap,readonly=on" in first
    assert "path=/project/results,mount_tag=share1,security_model=none,multidevs=remap " in first
    assert "snapshot=on" in first and "-accel tcg" in first
    assert "lab.rate" not in " ".join(qemu.command(state, _settings(), qemu.Machine(0, 1, tmp_path)))


def test_what_a_guest_reads_when_it_boots(state: State) -> None:
    state.vm.mkdir()
    (state.vm / "left").touch()
    keeper.prepare(state, Settings.make(None, 1536, {"/p/results": True, "/p": False}))
    assert not (state.vm / "left").exists()
    assert (state.shown / "shares").read_text() == "share0 ro /p\nshare1 rw /p/results\n"
    assert {"init", "attended", "sshd_config", "known_hosts"} <= {path.name for path in state.shown.iterdir()}
    assert os.access(state.shown / "attended", os.X_OK)


def test_the_guests_first_programs_are_shell_and_name_what_the_rest_relies_on() -> None:
    texts = {name: (image.GUEST_FILES / name).read_text() for name in ("init", "initrd-init", "attended")}
    for name in texts:
        subprocess.run(["bash", "-n", str(image.GUEST_FILES / name)], check=True)
    assert keeper.LAST_WORDS in texts["init"]
    for word in (settings.DEVICE, settings.DATA_INTERFACE, settings.CONTROL_INTERFACE, *settings.NODES):
        assert word in texts["init"]


def test_modules_are_loaded_after_what_they_need() -> None:
    dependencies = "a/rdma_rxe.ko.xz: b/udp.ko.xz c/core.ko.xz\nb/udp.ko.xz: c/core.ko.xz\nc/core.ko.xz:\n"
    assert image.load_order(dependencies, ["rdma_rxe"]) == ["c/core.ko.xz", "b/udp.ko.xz", "a/rdma_rxe.ko.xz"]
    assert image.load_order(dependencies, ["ext4"], "kernel/fs/ext4.ko") == []
    with pytest.raises(Failure, match="has no module siw"):
        image.load_order(dependencies, ["siw"])


def test_a_command_on_a_guest_keeps_its_words(state: State, tmp_path: Path) -> None:
    words = shell.remote(["sh", "-c", "echo $1 'a b'", "x;y"], {"UCX_TLS": "ud"}, "/p", attended=True)
    stub = tmp_path / "attended"
    stub.write_text('#!/bin/sh\nprintf \'%s\\n\' "$UCX_TLS" "$@"\n')
    stub.chmod(0o755)
    done = subprocess.run(["sh", "-c", words.replace("/lab/attended", str(stub)).replace("-C /p", "-C /")],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.splitlines() == ["ud", "sh", "-c", "echo $1 'a b'", "x;y"]
    with pytest.raises(UsageError, match="no emulated machine 'lab3'"):
        lab.Lab(state, _settings(), {}, 1.0).command("lab3", ["true"])


def test_what_is_attended_ends_with_who_asked_for_it() -> None:
    script = str(image.GUEST_FILES / "attended")
    with subprocess.Popen([script, "sh", "-c", "exit 7"], stdin=subprocess.PIPE) as done:
        assert done.wait(120) == 7
    with subprocess.Popen([script, "sh", "-c", "echo $$; sleep 1000"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as asked:  # fmt: skip
        assert asked.stdin and asked.stdout
        pid = int(asked.stdout.readline())
        asked.stdin.close()
        asked.wait(120)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


LIKE_SSH = "import os; os.closerange(3, 256); os.execvp('timeout', ['timeout', '1', 'cat'])"
JOB = """
import sys
from harness.base import process
from harness.rdma_lab import attend
attend.hold_stdin()
sys.exit(process.attended([sys.executable, "-c", sys.argv[1]]))
"""


def test_a_job_without_stdin_holds_one_for_the_guest() -> None:
    """ssh closes what it has inherited."""
    done = subprocess.run([sys.executable, "-c", JOB, LIKE_SSH], stdin=subprocess.DEVNULL, cwd=ROOT, check=False)
    assert done.returncode == 124, "cat has read to the end: the guest would take the job for gone"


def test_the_job_passes_on_what_concerns_the_ranks_and_the_guests_own_python() -> None:
    environment = {"UCX_RNDV_SCHEME": "put_zcopy", "OVERLAP_BENCH_LAUNCH": "x", "LD_LIBRARY_PATH": "/x", "PATH": "/y"}
    assert set(attend.passed_on(environment)) == {"UCX_RNDV_SCHEME", "OVERLAP_BENCH_LAUNCH"}
    assert attend.translated(["env", "/venv/python", "-m", "x"], "/venv/python") == [
        "env",
        "/usr/bin/python3",
        "-m",
        "x",
    ]


def test_programs_are_built_in_the_guests_root(state: State) -> None:
    words = build.within(state, "/build/debian-mpich", ["ninja"])
    assert words[words.index("sh", words.index("-ec")) + 1 :][:3] == [
        str(state.guest),
        str(ROOT),
        "/build/debian-mpich",
    ]
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    assert set(settings.MPIS) <= {preset["name"] for preset in presets["configurePresets"]}


def test_another_list_of_packages_is_fetched_anew() -> None:
    before = fetch.stamp_text(settings.GUEST_RELEASE, ("bash",))
    assert before != fetch.stamp_text(settings.GUEST_RELEASE, ("bash", "mpich"))
    assert before != fetch.stamp_text(settings.HOST_RELEASE, ("bash",))


def _fetched(state: State, version: str = "1") -> None:
    for job in fetch.jobs(state):
        fetch.stamp(job.root).write_text(fetch.stamp_text(job.release, job.packages))
        fetch.files_of(job.root).write_text(f"libucx0_{version}_amd64.deb\n")


def _made_by_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Image and initrd are files without anything in them."""
    monkeypatch.setattr(image, "_make_keys", lambda state: state.keys.mkdir(exist_ok=True))
    monkeypatch.setattr(image, "_make_initrd", lambda state: state.initrd.write_text(""))
    monkeypatch.setattr(image, "_make_image", lambda state: state.image.write_text(""))


def test_an_image_that_was_interrupted_is_made_anew(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    _fetched(state)
    _made_by_nobody(monkeypatch)
    image.ensure(state)
    assert image.done(state)
    state.image.unlink()  # for its room

    def interrupted(state: State) -> None:
        state.image.write_text("half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(image, "_make_image", interrupted)
    with pytest.raises(KeyboardInterrupt):
        image.ensure(state)
    assert not image.done(state)


def test_other_versions_of_the_same_packages_make_another_image(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    _fetched(state)
    _made_by_nobody(monkeypatch)
    image.ensure(state)
    _fetched(state, "2")
    assert not image.done(state)


def test_a_folder_that_was_not_finished_is_fetched_anew(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    _fetched(state)
    shutil.rmtree(state.guest)

    def unpacked(_release: object, _packages: object, _cache: Path, root: Path) -> list[str]:
        root.mkdir()
        return []

    def interrupted(_root: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(debian, "unpack", unpacked)
    monkeypatch.setattr(fetch, "_finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch.ensure(state)
    assert not fetch.done(state)


def test_a_program_of_an_unpacked_folder_runs_by_its_own_loader(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/tool-1").touch()
    (tmp_path / "usr/bin/tool").symlink_to("/usr/bin/tool-1")
    command = debian.program(tmp_path, "usr/bin/tool")
    assert command[0] == str(tmp_path / debian.LIBRARIES / "ld-linux-x86-64.so.2")
    assert command[-1] == str(tmp_path / "usr/bin/tool-1")
    (tmp_path / "usr/bin/circle").symlink_to("circle")
    with pytest.raises(Failure, match="a link in a circle"):
        debian.program(tmp_path, "usr/bin/circle")


PLAIN = json.dumps({"rate": None, "memory_mb": 1536, "shares": {}})
OWNER = """
import sys
from harness.rdma_lab import keeper, qemu
if sys.argv[1] == "keeper":
    qemu.command = lambda state, settings, machine: ["sleep", "1000"]
    sys.exit(keeper.main(sys.argv[2:]))
"""


def _sleepers(keeper_pid: int) -> list[int]:
    """Only who sleeps already: before that, a child has not yet asked the kernel to end it with its parent."""
    children = Path(f"/proc/{keeper_pid}/task/{keeper_pid}/children").read_text().split()
    return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("how", ["owner gone", "keeper killed", "told to end"])
def test_no_machine_outlives_who_wanted_it(how: str, state: State) -> None:
    """Programs that sleep stand for QEMU: what ends them is the same."""
    words = [sys.executable, "-c", OWNER, "keeper", str(state.folder), PLAIN]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT, start_new_session=True
    ) as kept:
        assert kept.stdin
        assert eventually(lambda: len(_sleepers(kept.pid)) == 2)
        machines = _sleepers(kept.pid)
        assert state.keeper() == kept.pid
        if how == "owner gone":
            kept.stdin.close()
        elif how == "keeper killed":
            kept.kill()
        else:
            kept.stdin.write(keeper.KEEP)
            kept.stdin.close()
            time.sleep(1)
            assert kept.poll() is None, "who was told KEEP stays"
            kept.send_signal(signal.SIGTERM)
        kept.wait(120)
        assert eventually(lambda: not any(map(_alive, machines)))
    assert state.keeper() is None
    if how != "keeper killed":
        assert (state.folder / "running").read_text() == "", "its number may be another program's"
    left = state.sockets.resolve()
    assert left.exists() is (how == "keeper killed"), "only who is killed leaves the folder of its sockets"
    keeper.prepare(state, _settings())
    assert not left.exists(), "and the next one removes it"


def test_a_second_keeper_says_that_there_is_one(state: State) -> None:
    lock = state.lock()
    assert lock is not None
    with lock:
        words = [sys.executable, "-m", keeper.__name__, str(state.folder), PLAIN]
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (1, "others of this checkout run already\n")


def test_who_only_asks_is_taken_for_no_keeper(state: State) -> None:
    """What stands in the file is of a keeper that was killed, whose number another program may have by now."""
    state.folder.mkdir(exist_ok=True)
    (state.folder / "running").write_text(str(os.getpid()))
    with (state.folder / "running").open() as asking:
        fcntl.flock(asking, fcntl.LOCK_SH)
        assert state.keeper() is None


def test_a_keeper_waits_for_who_only_asks(state: State) -> None:
    asking = (state.folder / "running").open("a")
    fcntl.flock(asking, fcntl.LOCK_SH)
    threading.Timer(0.1, asking.close).start()
    lock = state.lock()
    assert lock is not None
    lock.close()
