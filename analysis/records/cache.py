# SPDX-License-Identifier: BSD-3-Clause
"""Parquet beside the JSON Lines, so that a second load of a large record file is fast.

`records/.cache/<launch>.parquet` holds the samples (one row a series) and, as metadata, everything else of the file.
It counts only if it was made by this version of the analysis from this very file: same size and same time of change,
or, where only the time differs (a copied session), the same SHA-256. Parquet's page checksums are verified, and what
cannot be read is made anew from the JSON Lines, which stay the truth.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.records.read import LaunchFile, PointLine, Problem
from analysis.records.read import read as parse
from analysis.records.schema import CURRENT, SCHEMA_FILE, Shapes

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["cache_file", "parse", "read"]

LAYOUT = 1
WORTH_IT_BYTES = 1 << 20  # below that, parsing is as fast as opening a Parquet file


def cache_file(path: Path) -> Path:
    return path.parent / ".cache" / f"{path.stem}.parquet"


def read(path: Path, shapes: Shapes) -> LaunchFile:
    """The parsed record file, from its cache where that is sound; makes the cache where the folder is writable."""
    if path.stat().st_size < WORTH_IT_BYTES:
        return parse(path, shapes)
    cached = _from_cache(path)
    if cached is None:
        before = path.stat()
        cached = parse(path, shapes)
        after = path.stat()
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):  # nobody is writing it
            with contextlib.suppress(OSError):
                _write(cached)
    return cached


def _maker() -> str:
    """What else the cached result depends on: the layout here and the schema that the lines were checked against."""
    return f"{LAYOUT}.{CURRENT}.{hashlib.sha256(SCHEMA_FILE.read_bytes()).hexdigest()[:16]}"


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _from_cache(path: Path) -> LaunchFile | None:
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    target = cache_file(path)
    try:
        file = parquet.ParquetFile(target, page_checksum_verification=True)
        facts = json.loads(file.schema_arrow.metadata[b"overlap_bench"])
        stat = path.stat()
        if facts["maker"] != _maker() or facts["size"] != stat.st_size:
            return None
        if facts["mtime_ns"] != stat.st_mtime_ns and facts["sha256"] != _hash(path):
            return None
        return _unpack(path, facts, file.read())
    except (OSError, KeyError, ValueError, TypeError, IndexError, pa.ArrowException):
        return None


def _unpack(path: Path, facts: dict[str, Any], table: pa.Table) -> LaunchFile:
    if facts["series"] != table.num_rows:
        raise ValueError("rows are missing")
    points = [PointLine(line, fields, {}) for line, fields in facts["points"]]
    values = table.column("values").combine_chunks()
    if not len(values) and table.num_rows:
        raise ValueError("rows are missing")
    flat = values.flatten().to_numpy()
    offsets = values.offsets.to_numpy()
    for row, (index, quantity) in enumerate(
        zip(table["point"].to_pylist(), table["quantity"].to_pylist(), strict=True)
    ):
        points[index].samples[quantity] = flat[offsets[row] - offsets[0] : offsets[row + 1] - offsets[0]]
    problems = [Problem(str(path), line, text) for line, text in facts["problems"]]
    return LaunchFile(path, facts["header"], points, facts["end"], problems)


def _write(launch: LaunchFile) -> None:
    import numpy as np  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    series = [(i, name, values) for i, point in enumerate(launch.points) for name, values in point.samples.items()]
    offsets = np.concatenate([[0], np.cumsum([len(values) for _, _, values in series], dtype=np.int64)])
    flat = np.concatenate([values for _, _, values in series]) if series else np.empty(0)
    stat = launch.path.stat()
    facts = {
        "maker": _maker(),
        "size": stat.st_size,
        "mtime_ns": stat.st_mtime_ns,
        "sha256": _hash(launch.path),
        "header": launch.header,
        "end": launch.end,
        "points": [(point.line, point.fields) for point in launch.points],
        "problems": [(problem.line, problem.text) for problem in launch.problems],
        "series": len(series),
    }
    table = pa.table(
        {
            "point": pa.array([i for i, _, _ in series], pa.int32()),
            "quantity": pa.array([name for _, name, _ in series], pa.string()),
            "values": pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), pa.array(flat, pa.float64())),
        }
    ).replace_schema_metadata({"overlap_bench": json.dumps(facts)})
    target = cache_file(launch.path)
    target.parent.mkdir(exist_ok=True)
    temporary = target.with_suffix(f".{os.getpid()}.tmp")
    try:
        parquet.write_table(table, temporary, write_page_checksum=True, compression="zstd", use_dictionary=["quantity"])
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
