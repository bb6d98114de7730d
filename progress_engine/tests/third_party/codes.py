# SPDX-License-Identifier: BSD-3-Clause
"""Other people's codes again and again under every preset: are their results those of bare, does none of them hang?

    python -m progress_engine.tests.third_party.codes [CASE...] [--variant adaptive,offload] [--trial-factor N]
        [--stop-after SECONDS]

Each case runs on two virtual nodes, OFTEN times under the presets that are most used and SELDOM times under the others
and bare, as ./bench run launches it: a trial of bare says what its result is, a launch that takes much longer is given
up (`--trial-factor`: how much longer, for a preset that is known to be slow). A line of codes.jsonl is one launch. What
was launched before with this engine is not launched again. The status is 1 if a launch hung, failed or had another
result.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.base import process
from harness.base.mpis import MPIS
from harness.base.paths import ROOT, STATE_DIR
from harness.job import records
from harness.job.plan import TIMEOUT_FACTOR
from harness.job.records import NOT_RUN
from progress_engine.tests.third_party.runs import VARIANTS, engine_commit, put_between, today
from workloads.apps.find import find
from workloads.apps.table import CASES

DATA = Path(__file__).with_name("codes.jsonl")
DOCUMENT = ROOT / "docs" / "measured" / "third-party-codes.md"
MOST_USED, OFTEN, SELDOM = ("adaptive", "offload"), 20, 5
GIVEN_UP_S = 180  # at the latest; sooner where the trial was short (harness.job.foreign.Trial)
SETTING_UP_S = 300
WORDS = {"ok": "same", "timeout": "hung", "failed": "**wrong**"}

# Debian links each code to one of its MPIs.
ON = {
    "scalapack-lu": "debian-mpich",
    "lammps-melt": "debian-openmpi",
    "dolfinx-poisson-cg": "debian-openmpi",
    "openfoam-cavity": "debian-openmpi",
    "nwchem-water": "debian-mpich",
    "scalapack-cholesky": "debian-mpich",
    "scalapack-qr": "debian-mpich",
    "dolfinx-poisson-pipecg": "debian-openmpi",
}


@dataclass(frozen=True)
class Launch:
    """One launch. `status`: a key of WORDS, for `reason` if not ok; `commit` names the engine, if there is one."""

    date: str
    commit: str
    case: str
    mpi: str
    variant: str
    status: str
    seconds: float
    reason: str = ""

    @property
    def cell(self) -> tuple[str, str, str]:
        return self.case, self.mpi, self.variant


def load() -> list[Launch]:
    return [Launch(**json.loads(line)) for line in DATA.read_text().splitlines()] if DATA.exists() else []


def save(more: Iterable[Launch]) -> None:
    """Keep these launches, in place of those of the same cell with another engine, and write the table anew."""
    with DATA.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one writer at a time
        every = [*load(), *more]
        newest = {launch.cell: launch.commit for launch in every}
        kept = [launch for launch in every if newest[launch.cell] == launch.commit]
        kept.sort(key=lambda one: (list(ON).index(one.case), VARIANTS.index(one.variant)))
        DATA.write_text("".join(json.dumps(asdict(one)) + "\n" for one in kept))
        put_between(DOCUMENT, table(kept))


def table(launches: Iterable[Launch]) -> str:
    """A row a case, a column a variant; below it what was not as it should be, and what engines ran."""
    cells: dict[tuple[str, str], dict[str, list[Launch]]] = {}
    for one in launches:
        cells.setdefault((one.case, one.mpi), {}).setdefault(one.variant, []).append(one)
    text = f"\n| case | MPI | {' | '.join(VARIANTS)} |\n|---|---|{'---|' * len(VARIANTS)}\n"
    for (case, mpi), found in cells.items():
        words = [_counted(found.get(variant, [])) for variant in VARIANTS]
        text += f"| {case} | {MPIS[mpi].title} | {' | '.join(words)} |\n"
    every = [one for found in cells.values() for several in found.values() for one in several]
    wrong = [f"- {one.case}, {one.variant}: {one.reason}\n" for one in every if one.status != "ok"]
    said = f"What was not the same:\n\n{''.join(dict.fromkeys(wrong))}\n" if wrong else ""
    return f"{text}\n{said}{_provenance(every)}"


def _counted(launches: Sequence[Launch]) -> str:
    counts = {words: sum(one.status == status for one in launches) for status, words in WORDS.items()}
    return ", ".join(f"{count} {words}" for words, count in counts.items() if count) or "not run"


def _provenance(launches: Sequence[Launch]) -> str:
    commits = sorted({one.commit for one in launches} - {""})
    dates = sorted({one.date for one in launches})
    return f"{len(launches)} launches, {', '.join(dates)}; engine: {', '.join(commits)}.\n\n" if launches else ""


def missing(case: str, variants: Iterable[str], done: Iterable[Launch]) -> dict[int, list[str]]:
    """How many launches of which variants are still to be made with this engine."""
    had = [one.variant for one in done if one.case == case and one.commit == _engine(one.variant)]
    found: dict[int, list[str]] = {}
    for variant in variants:
        lacking = (OFTEN if variant in MOST_USED else SELDOM) - had.count(variant)
        if lacking > 0:
            found.setdefault(lacking, []).append(variant)
    return found


def _engine(variant: str) -> str:
    return "" if variant == "bare" else engine_commit()


def launch(case: str, variants: Sequence[str], number: int, trial_factor: float) -> list[Launch]:
    """So many launches of each of these variants, in turn. What was finished is kept, however this ends."""
    place = STATE_DIR / "third_party" / "codes"
    place.mkdir(parents=True, exist_ok=True)
    results = Path(tempfile.mkdtemp(prefix=f"{case}.", dir=place))
    bench = [str(ROOT / "bench"), "run", case, "--mpi", ON[case], "--scale", "test", "--variant", ",".join(variants)]
    limits = {"launches": number, "timeout_s": GIVEN_UP_S, "trial_factor": trial_factor}
    settings = [word for name, value in limits.items() for word in ("--set", f"{name}={value}")]
    limit_s = SETTING_UP_S + GIVEN_UP_S * (1 + number * len(variants))
    found: list[Launch] = []
    try:
        process.run([*bench, *settings], {"OVERLAP_BENCH_RESULTS": str(results)}, results / "log", limit_s)
    finally:
        found += collect(case, results)
        save(found)
    if not found:
        raise SystemExit(f"codes: {case}: nothing was launched: {process.last_line(results / 'log')}; see {results}")
    return found


def collect(case: str, results: Path) -> list[Launch]:
    """The launches of all sessions in a results folder, each once: `latest` there is a link to one of them."""
    sessions = [path for path in sorted(results.iterdir()) if path.is_dir() and not path.is_symlink()]
    files = [path for session in sessions for path in sorted((session / "records").glob("*.jsonl"))]
    return [one for path in files if (one := from_record(case, path))]


def from_record(case: str, path: Path) -> Launch | None:
    """What a record says of its launch; None of what was not launched, or cut off."""
    record = records.read(path)
    if record.header is None or record.end is None or record.end["status"] == "skipped":
        return None
    context: Mapping[str, str] = record.header["context"]
    bad = next((line for line in record.points if line["status"] != "ok"), None)
    status, reason = (bad["status"], bad["reason"]) if bad else (record.end["status"], record.end.get("reason", ""))
    if reason.startswith(NOT_RUN):  # the job was stopped before, by whoever
        return None
    seconds, variant = round(record.end["elapsed_s"], 2), context["variant"]
    return Launch(today(), _engine(variant), case, context["mpi"], variant, status, seconds, reason)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(ON))
    parser.add_argument("--variant", default=",".join(VARIANTS))
    parser.add_argument("--trial-factor", type=float, default=TIMEOUT_FACTOR, help="as of ./bench run --set")
    parser.add_argument("--stop-after", type=float, default=1e9, help="seconds, after which no other session begins")
    options = parser.parse_args()
    variants = options.variant.split(",")
    if wrong := [*({*options.cases} - {*ON}), *({*variants} - {*VARIANTS})]:
        print(
            f"codes: there is no {wrong[0]}; cases: {', '.join(ON)}; variants: {', '.join(VARIANTS)}", file=sys.stderr
        )
        return 2
    end = time.monotonic() + options.stop_after
    bad = 0
    for case in options.cases or ON:
        code, row = CASES[case]
        if find(code, row.programs()) is None:
            print(f"{case}: {code.absent()}", flush=True)
            continue
        for number, names in sorted(missing(case, variants, load()).items(), reverse=True):
            if time.monotonic() > end:
                print("out of time: what is missing goes on with the next run")
                return 1 if bad else 0
            found = launch(case, names, number, options.trial_factor)
            bad += sum(one.status != "ok" for one in found)
            for name in names:
                print(f"{case}, {name}: {_counted([one for one in found if one.variant == name])}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
