# SPDX-License-Identifier: BSD-3-Clause
"""Publishes the models as JSON Schema: `python -m harness.sessions.schemas` writes results/schema.

record.schema.json is not among them: the workloads, in C++, write records, and that schema itself is the source.
"""

from __future__ import annotations

import json
from typing import Any

from harness.base import validate
from harness.base.paths import SCHEMA
from harness.job.plan import Plan
from harness.job.session import Facts
from harness.simulated.model_file import ModelFile
from reframe_checks.systems.extras import SiteExtras

FOLDER = SCHEMA.parent
MODELS: dict[str, type[Any]] = {"session": Facts, "plan": Plan, "site": SiteExtras, "model": ModelFile}


def text(model: type[Any]) -> str:
    """The schema as it stands in its file."""
    return json.dumps(validate.schema(model), indent=1) + "\n"


if __name__ == "__main__":
    for name, model in MODELS.items():
        (FOLDER / f"{name}.schema.json").write_text(text(model))
