# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the claims, the metrics and the records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from analysis.metrics.formulas import METRICS
from analysis.subject import Claim, Subject, subjects
from docs.generate.page import code, page, plain, table
from harness.base.paths import SCHEMA


def pages() -> dict[str, str]:
    return {"records.md": records(), "metrics.md": metrics(), "claims.md": claims()}


def claims() -> str:
    """What the papers say, and the number it is held against."""
    found = [one for one in subjects() if one.claims or one.note]
    return page(
        "Claims",
        "the study's file in analysis/studies",
        "What the papers claim of each study, as `./bench claims` decides it. The measured number is held against "
        "the bound, relaxed by the margin, on every point (of a claim of *up to*: on the best). "
        "[Statistics](../explanation/statistics.md) says how it is decided; each paper is in `CITATION.cff`.",
        *(part for subject in found for part in described(subject)),
    )


def described(subject: Subject) -> list[str]:
    source = "; ".join(filter(None, [subject.paper, f"studies: {', '.join(subject.studies)}."]))
    return [
        f"## {subject.id}: {subject.title}",
        plain(f"{source} {subject.note}".strip()),
        table(("claim", "number", "bound", "margin", "against", "source"), map(row, subject.claims)),
    ]


def row(claim: Claim) -> tuple[str, ...]:
    sign = {"<=": "at most", ">=": "at least", "<": "below", ">": "above", "=": "about"}[claim.operator]
    only = f" (only {', '.join(claim.mpis)})" if claim.mpis else ""
    more = " *up to*" if claim.up_to else ""
    return (
        plain(claim.statement + only) + more,
        plain(claim.number),
        f"{sign} {claim.threshold:g}",
        f"{claim.margin:g}",
        plain(claim.comparator),
        plain(claim.source),
    )


TIMES = (
    ("comm", "the communication alone, under `bare`"),
    ("comp", "the computation alone, under `bare`"),
    (
        "total",
        "both together, from the first call to the end of the wait. Where a rank waits for an acknowledgement, what "
        "that takes by itself is left out, but total is never less than the rank's own start, computation and wait",
    ),
    ("comp_in", "the computation while the message is under way"),
    ("wait", "from the end of the computation to the end of the wait"),
    ("cpu", "CPU time of a rank's process during total, all of its threads"),
    ("own comm, own comp", "as comm and comp, but under the variant itself"),
)


def metrics() -> str:
    """From their formulas' table."""
    rows = [
        (one.title, code(one.name), code(one.formula), code(one.ideal_text), one.better, plain(one.source))
        for one in METRICS.values()
    ]
    return page(
        "Metrics",
        "analysis/metrics/formulas.py",
        "Workloads measure times; the analysis makes these numbers of them. The times comm and comp are always those "
        "of `bare` of the same MPI, point and session. A thread that spins would otherwise slow its own reference and "
        "look harmless. [A page of its own](../explanation/overlap-numbers.md) says what each number hides.",
        "## Times",
        table(("time", "what it is"), TIMES),
        "## Numbers made of them",
        table(("metric", "name in tables", "formula", "perfect overlap", "better", "where it comes from"), rows),
    )


Node = dict[str, Any]


def records() -> str:
    """The schema that every record file is checked against, as tables."""
    schema = json.loads(SCHEMA.read_text())
    parts = [plain(schema["description"])]
    for name, node in schema["$defs"].items():
        rows = list(fields(node))
        if not rows:
            parts += [f"## {name}", f"{kind(node)}."]
            continue
        parts += [f"## {name}", plain(node.get("description", "")), table(("field", "kind", "meaning"), rows)]
    return page("Records: every field of a sample file", "results/schema/record.schema.json", *parts)


def fields(node: Node, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """The fields of an object, those of an object within it with their path; what must be there is marked."""
    for name, field in node.get("properties", {}).items():
        needed = " (needed)" if name in node.get("required", ()) else ""
        yield code(prefix + name), kind(field) + needed, plain(field.get("description", ""))
        yield from fields(field, f"{prefix}{name}.")


def kind(node: Node) -> str:
    """What a value may be, in words."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "enum" in node or "const" in node:
        words = node.get("enum", [node.get("const")])
        return " or ".join(code(json.dumps(word).strip('"')) for word in words)
    if "items" in node:
        return f"list of {kind(node['items'])}"
    if isinstance(node.get("additionalProperties"), dict) and "properties" not in node:
        return f"name to {kind(node['additionalProperties'])}"
    kinds = node.get("type", "any")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
