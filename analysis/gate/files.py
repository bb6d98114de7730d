# SPDX-License-Identifier: BSD-3-Clause
"""Files that are whole when they are there, and whether a folder takes any."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def partial_file(folder: Path, content: bytes) -> Iterator[Path]:
    """A hidden file in this folder with this content, which is taken away again. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def trial(folder: Path) -> contextlib.AbstractContextManager[Path]:
    """A file that is tried where this folder is, or would be made. Raises OSError if none can be."""
    here = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    return partial_file(here, b"")
