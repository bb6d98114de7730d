# SPDX-License-Identifier: BSD-3-Clause
"""The page of the records: the schema that every record file is checked against, as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from docs.generate.page import code, page, plain, table
from harness.base.paths import SCHEMA

Node = dict[str, Any]


def pages() -> dict[str, str]:
    schema = json.loads(SCHEMA.read_text())
    parts = [plain(schema["description"])]
    for name, node in schema["$defs"].items():
        rows = list(fields(node))
        if not rows:
            parts += [f"## {name}", f"{kind(node)}."]
            continue
        parts += [f"## {name}", plain(node.get("description", "")), table(("field", "kind", "meaning"), rows)]
    return {"records.md": page("Records: every field of a sample file", "results/schema/record.schema.json", *parts)}


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
