# SPDX-License-Identifier: BSD-3-Clause
"""Runs on every rank: `mpi4py_ranks.py TESTS REPORTS [OPTION...]` runs mpi4py's own main.py of the folder TESTS.

Writes REPORTS/RANK.jsonl, one line a test: `["start", name]` before it, `[status, name]` after it, so that a test that
crashes or hangs is known by its name. The options are main.py's.
"""

from __future__ import annotations

import json
import sys
import unittest
from pathlib import Path
from typing import Any


def main(tests: Path, reports: Path, options: list[str]) -> None:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(tests))
    suite: Any = __import__("main")
    from mpi4py import MPI  # noqa: PLC0415 (after main.py's own rules for finding it)

    stream = (reports / f"{MPI.COMM_WORLD.Get_rank()}.jsonl").open("w", buffering=1)

    def note(status: str, test: unittest.TestCase) -> None:
        stream.write(json.dumps([status, test.id()]) + "\n")

    class Result(unittest.TextTestResult):
        """unittest's own result, whose outcomes go to the report as well."""

        def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
            note("start", test)
            super().startTest(test)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
            if err is not None:
                note("failed", test)
            super().addSubTest(test, subtest, err)

    def noted(method: str, status: str) -> Any:
        original = getattr(unittest.TextTestResult, method)

        def add(self: Result, test: unittest.TestCase, *more: Any) -> None:
            note(status, test)
            original(self, test, *more)

        return add

    for method, status in STATUSES.items():
        setattr(Result, method, noted(method, status))
    sys.argv = [str(tests / "main.py"), *options]
    runner = unittest.TextTestRunner(resultclass=Result)  # type: ignore[arg-type]  # it is given unittest's own stream
    suite.main(module=None, testRunner=runner)


STATUSES = {
    "addSuccess": "passed",
    "addError": "failed",
    "addFailure": "failed",
    "addSkip": "skipped",
    "addExpectedFailure": "passed",
    "addUnexpectedSuccess": "failed",
}

if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
