# SPDX-License-Identifier: BSD-3-Clause
"""Files that people and other versions have written, read into models: what is wrong in one is a sentence.

A model is a dataclass (with `__pydantic_config__ = MODEL`) or a pydantic model. pydantic alone knows how to hold one
against what was read, and to publish it as JSON Schema; importing it takes 0.2 s, so that is left to those who read.

And words of a call: lists, and sizes as people write them: 64KB, 4 MB, 1.5M, 1GiB, in powers of two.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from harness.base.errors import UsageError

if TYPE_CHECKING:
    from pydantic import ConfigDict, TypeAdapter, ValidationError


T = TypeVar("T")
# No field that is not known, and no value that would have to be turned into another: "3" is no number.
MODEL: ConfigDict = {"extra": "forbid", "strict": True}
LONGEST = 60
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def read(model: type[T], path: Path, of_today: Callable[[bytes], bytes] = bytes) -> T:
    """The JSON file at `path` as a `model`; UsageError if it cannot be read or is none. `of_today`: makes of an older
    file what it would be today."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    return parse(model, of_today(text), str(path))


def parse(model: type[T], text: str | bytes, where: str) -> T:
    """What is JSON as a `model`; UsageError, which begins with `where`, if it is none."""
    from pydantic import ValidationError  # noqa: PLC0415 - 0.2 s of imports

    try:
        return _adapter(model).validate_json(text)
    except ValidationError as error:
        raise UsageError(f"{where}: {_sentence(error)}") from error


def check(model: type[T], found: object, where: str) -> T:
    """`found` as a `model`; UsageError, which begins with `where`, if it is none."""
    from pydantic import ValidationError  # noqa: PLC0415 - 0.2 s of imports

    try:
        return _adapter(model).validate_python(found)
    except ValidationError as error:
        raise UsageError(f"{where}: {_sentence(error)}") from error


def schema(model: type[Any]) -> dict[str, Any]:
    """The model as JSON Schema."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_adapter(model).json_schema()}


def _adapter(model: type[T]) -> TypeAdapter[T]:
    """Made once for a model: of many fields that takes 0.1 s."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - 0.2 s of imports

    if model not in _ADAPTERS:
        _ADAPTERS[model] = TypeAdapter(model)
    return cast("TypeAdapter[T]", _ADAPTERS[model])


def _sentence(error: ValidationError) -> str:
    """The first thing that is wrong: where, and what would be right there."""
    first = error.errors(include_url=False)[0]
    place, told = _place(first["loc"]), str(first["msg"])
    if first["type"] == "missing":
        return f"{place} is missing."
    if first["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"there is no field {place}."
    if first["type"] == "json_invalid":
        return f"no JSON: {told.removeprefix('Invalid JSON: ')}."
    if first["type"] == "value_error":
        return ": ".join(filter(None, [place, told.removeprefix("Value error, ")])) + "."
    wanted = told.removeprefix("Input should be ")
    given = repr(first["input"])
    short = given if len(given) <= LONGEST else f"{given[:LONGEST]}..."
    return f"{place}: {wanted} is wanted, not {short}." if place else f"{wanted} is wanted, not {short}."


def _place(steps: Iterable[int | str]) -> str:
    """As one would write it in Python: launches[3].variant."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SIZE = re.compile(r"(\d+(?:\.\d+(?= ?[KMG]))?) ?([KMG]?)(?:i?B)?", re.IGNORECASE)


def size_of(text: str) -> int | None:
    """In bytes; None of what is no size."""
    found = _SIZE.fullmatch(text.strip())
    return round(float(found[1]) * UNITS.get(found[2].upper(), 1)) if found else None


def in_bytes(name: str, text: str) -> str:
    """The value of what is a size by its name as a number, 64KB as 65536; any other as it is."""
    size = size_of(text) if name.endswith("_bytes") and not text.isdecimal() else None
    return text if size is None else str(size)


def bytes_text(size: float) -> str:
    """4194304 -> '4 MB': powers of two, as message sizes are."""
    for power, unit in ((30, "GB"), (20, "MB"), (10, "KB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.4g} {unit}"
    return f"{size:g} B"


def parse_list(text: str | None) -> list[str]:
    """ "a,b" as ["a", "b"]; nothing as []."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def parse_settings(pairs: list[str]) -> dict[str, str]:
    """--set name=value pairs as a dictionary, or UsageError."""
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not (equals and name and text):
            raise UsageError(f"--set {pair}: name=value is wanted, as in --set size_bytes=65536,4194304.")
        settings[name] = text
    return settings
