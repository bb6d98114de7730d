# SPDX-License-Identifier: BSD-3-Clause
"""The file of an MPI in a model: what ./bench calibrate-model writes and the simulator reads (simulator)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from harness.base import validate
from harness.base.errors import UsageError


@dataclass(frozen=True)
class Number:
    """`low`, `high`: in which 95 % of the launches were; `from`, which is no name in Python: where it comes from."""

    __pydantic_config__ = validate.MODEL | {"extra": "allow"}

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Protocol:
    __pydantic_config__ = validate.MODEL

    eager_bytes: float | Number
    handshake: bool
    zero_copy: bool
    send_buffer_bytes: float | Number
    receive_buffer_bytes: float | Number


@dataclass(frozen=True)
class Costs:
    __pydantic_config__ = validate.MODEL

    call_s: float | Number
    wake_s: float | Number
    managed_s: float | Number
    copy_s_per_byte: float | Number
    reduce_s_per_byte: float | Number


@dataclass(frozen=True)
class OwnThread:
    __pydantic_config__ = validate.MODEL

    exists: bool
    slice_s: float | Number
    hands_over: bool
    beside: list[float | Number]


@dataclass(frozen=True)
class Computation:
    """Of an application, None where the sessions had no record of it."""

    __pydantic_config__ = validate.MODEL

    unit_s: float | Number
    fft_s_per_operation: float | Number | None = None
    copied_s_per_byte: float | Number | None = None
    streamed_s_per_byte: float | Number | None = None


@dataclass(frozen=True)
class ModelFile:
    """What each number means stands in simulator/src/model.h. `async` is a word of Python, and allowed here as
    every other field beside these."""

    __pydantic_config__ = validate.MODEL | {"extra": "allow"}

    mpi: str
    schedules: Literal["mpich", "openmpi"]
    protocol: Protocol
    costs: Costs
    computation: Computation
    schema: Literal[1] = 1
    fitted_to: list[dict[str, Any]] = field(default_factory=list)


def read(path: Path) -> ModelFile:
    """The file at `path`; UsageError with what is wrong in it."""
    found = validate.read(ModelFile, path)
    if hasattr(found, "shaper"):
        raise UsageError(
            f"{path}: shaper: no line here has a token bucket. Fit the model again (./bench calibrate-model); where "
            "its burst_bytes is 0, take the group out."
        )
    return found
