# SPDX-License-Identifier: BSD-3-Clause
"""A stand-in for sacct where Slurm has no database: the controller's memory (scontrol), then the file of jobcomp.

In each node of a cluster with Slurm it is mounted over sacct. It knows what programs use, ReFrame among them:
`sacct -P [-n] [-X] [-S TIME] [-E TIME] [-j IDS] [-o FIELDS]`, one line a job, no steps; times are not filtered by.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

Job = dict[str, str]

TITLES = {
    "jobid": "JobID", "jobidraw": "JobIDRaw", "jobname": "JobName", "partition": "Partition", "state": "State",
    "exitcode": "ExitCode", "submit": "Submit", "start": "Start", "end": "End", "nodelist": "NodeList",
    "nnodes": "NNodes",
}  # fmt: skip
UNFINISHED = ("PENDING", "RUNNING", "COMPLETING", "SUSPENDED", "CONFIGURING")


def parse_jobs(text: str) -> Iterator[Job]:
    """Jobs in the lines of `scontrol -o show job` or of jobcomp/filetxt: words of Key=Value."""
    for line in text.splitlines():
        job = dict(re.findall(r"(\w+)=(\S*)", line))
        if "JobId" in job:
            yield job


def in_memory() -> str:
    """What the controller still knows: jobs that ended less than MinJobAge ago, and all others."""
    environment = {name: value for name, value in os.environ.items() if name != "SLURM_TIME_FORMAT"}
    return subprocess.run(
        ["scontrol", "-o", "show", "job"], capture_output=True, text=True, check=False, env=environment
    ).stdout


def on_disk(configuration: str) -> str:
    """The file that JobCompLoc names in a slurm.conf."""
    match = re.search(r"^JobCompLoc=(\S+)", configuration, re.MULTILINE)
    path = Path(match[1]) if match else None
    return path.read_text() if path and path.exists() else ""


def show_time(text: str) -> str:
    """A Slurm time in the format that SLURM_TIME_FORMAT asks for."""
    form = os.environ.get("SLURM_TIME_FORMAT", "standard")
    if form == "standard" or not re.fullmatch(r"\d+-\d+-\d+T\d+:\d+:\d+", text):
        return text
    return time.strftime(form, time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def fields(job: Job) -> dict[str, str]:
    """A job's values by sacct's names for them."""
    state = job.get("JobState", "")
    nodes = job.get("NodeList", "")
    return {
        "jobid": job["JobId"],
        "jobidraw": job["JobId"],
        "jobname": job.get("JobName") or job.get("Name", ""),
        "partition": job.get("Partition", ""),
        "state": state,
        "exitcode": job.get("ExitCode") or job.get("DerivedExitCode", "0:0"),
        "submit": show_time(job.get("SubmitTime", "Unknown")),
        "start": show_time(job.get("StartTime", "Unknown")),
        "end": "Unknown" if state in UNFINISHED else show_time(job.get("EndTime", "Unknown")),
        "nodelist": nodes if nodes not in ("", "(null)") else "None assigned",
        "nnodes": job.get("NumNodes") or job.get("NodeCnt", ""),
    }


def parser() -> argparse.ArgumentParser:
    """The options of sacct that are known here."""
    known = argparse.ArgumentParser(prog="sacct", description="Stand-in for sacct on a virtual cluster.")
    known.add_argument("-j", "--jobs", default="")
    known.add_argument("-o", "--format", default="jobid,jobname,partition,state,exitcode")
    known.add_argument("-n", "--noheader", action="store_true")
    for option in ("-P --parsable2", "-X --allocations", "-a --allusers"):
        known.add_argument(*option.split(), action="store_true", help="is always so")
    for option in ("-S --starttime", "-E --endtime"):
        known.add_argument(*option.split(), help="ignored")
    return known


def main() -> int:
    """Print the jobs asked for, in the order of their numbers; status 1 for a field that is not known."""
    options = parser().parse_args()
    names = [name.split("%")[0] for name in options.format.lower().split(",")]
    if unknown := [name for name in names if name not in TITLES]:
        print(f"sacct: no field {unknown[0]!r} here; there are {', '.join(TITLES)}", file=sys.stderr)
        return 1
    wanted = set(filter(None, options.jobs.split(",")))
    jobs: dict[str, Job] = {}
    for job in (*parse_jobs(on_disk(Path(os.environ["SLURM_CONF"]).read_text())), *parse_jobs(in_memory())):
        if not wanted or job["JobId"] in wanted:
            jobs[job["JobId"]] = job  # the controller's memory, which comes second, knows more
    if not options.noheader:
        print("|".join(TITLES[name] for name in names))
    for number in sorted(jobs, key=int):
        values = fields(jobs[number])
        print("|".join(values[name] for name in names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
